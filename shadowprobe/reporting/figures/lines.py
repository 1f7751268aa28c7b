"""Lines over the same categories, a line a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.reporting.figures.style import Width, assign_looks, error_lengths, make_panels, system_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How much of the way to the next category the points of all systems take.
SPREAD = 0.5
# Points up and down from 0 that an axis of differences shows at least.
LEAST = 10


class Point(NamedTuple):
    """A value over a category, with its 95% interval and the number of items behind it."""

    value: float
    interval: Sequence[float]
    n: int


# The points of each system, by its label and their categories.
Series = Mapping[str, Mapping[int, Point]]


class Panel(NamedTuple):
    """A panel of rates: what it shows, its lines, and what the categories below it are called."""

    title: str
    series: Series
    name: Callable[[int], str]


def draw_rates(panels: Sequence[Panel], about: str, width: Width, height: float) -> tuple[Figure, list[Axes]]:
    """Panels from 0 to 100%, below one another on a narrow page; `height` is that of all of them, in inches."""
    legend = system_legend(panels[0].series, width)
    grid = {"nrows": len(panels)} if width == "one" else {"ncols": len(panels)}
    figure, drawn = make_panels(width, height + legend.height, sharey=True, **grid)
    handles: list[Any] = []
    for axes, panel in zip(drawn, panels, strict=True):
        handles = draw_lines(axes, panel.series, panel.name)
        axes.set_title(panel.title)
        axes.set_ylim(0, 100)
        axes.set_yticks([0, 25, 50, 75, 100])
    figure.supylabel(about, fontsize=7)
    legend.draw(figure, handles)
    return figure, drawn


def draw_lines(axes: Axes, series: Series, name: Callable[[int], str]) -> list[Any]:
    """Points in per cent with intervals, side by side where systems share a category; returns the handles."""
    categories = sorted({category for points in series.values() for category in points})
    look = assign_looks(series)
    handles = []
    for number, (label, points) in enumerate(series.items()):
        shift = (number - (len(series) - 1) / 2) * SPREAD / max(len(series), 2)
        kept = [(place, points[category]) for place, category in enumerate(categories) if category in points]
        errors = [error_lengths(100 * point.value, [100 * bound for bound in point.interval]) for _, point in kept]
        handles.append(
            axes.errorbar(
                [place + shift for place, _ in kept],
                [100 * point.value for _, point in kept],
                yerr=[[below for below, _ in errors], [above for _, above in errors]],
                **look[label].line_style,
                elinewidth=0.7,
                capsize=1.5,
                clip_on=False,
            )
        )
    axes.set_xticks(range(len(categories)), [name(category) + _count(category, series) for category in categories])
    axes.set_xlim(-0.5, len(categories) - 0.5)
    return handles


def show_differences(axes: Axes) -> None:
    """Lets an axis of differences show at least LEAST points up and down, even where no system differs."""
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -LEAST), max(high, LEAST))


def _count(category: int, series: Series) -> str:
    """How many items a category has, where that is the same for all systems."""
    counts = {points[category].n if category in points else 0 for points in series.values()}
    return f"\nn={next(iter(counts))}" if len(counts) == 1 else ""
