"""Lines over the same categories, a line a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.figures.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How much of the way to the next category the points of all systems take.
SPREAD = 0.5


class Point(NamedTuple):
    """A value over a category, with its 95% interval and the number of items behind it."""

    value: float
    interval: Sequence[float]
    n: int


def draw_lines(
    axes: Axes,
    categories: Sequence[int],
    series: Mapping[str, Mapping[int, Point]],
    look: Mapping[str, Look],
    named: Callable[[int], str],
) -> list[Any]:
    """Points in per cent with intervals, side by side where systems share a category; gives the handles."""
    handles = []
    for number, (label, points) in enumerate(series.items()):
        shift = (number - (len(series) - 1) / 2) * SPREAD / max(len(series), 2)
        kept = [(place, points[category]) for place, category in enumerate(categories) if category in points]
        values = [100 * point.value for _, point in kept]
        below = [max(0.0, value - 100 * point.interval[0]) for value, (_, point) in zip(values, kept, strict=True)]
        above = [max(0.0, 100 * point.interval[1] - value) for value, (_, point) in zip(values, kept, strict=True)]
        mine = look[label]
        handles.append(
            axes.errorbar(
                [place + shift for place, _ in kept],
                values,
                yerr=[below, above],
                color=mine.colour,
                marker=mine.marker,
                linestyle=mine.line,
                elinewidth=0.7,
                capsize=1.5,
                clip_on=False,
            )
        )
    axes.set_xticks(range(len(categories)), [named(category) + _count(category, series) for category in categories])
    axes.set_xlim(-0.5, len(categories) - 0.5)
    return handles


def _count(category: int, series: Mapping[str, Mapping[int, Point]]) -> str:
    """How many items a category has, where that is the same for all systems."""
    counts = {points[category].n if category in points else 0 for points in series.values()}
    return f"\nn={next(iter(counts))}" if len(counts) == 1 else ""
