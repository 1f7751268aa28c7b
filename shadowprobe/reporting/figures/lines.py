"""Lines over the same categories, a line a system."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.reporting.figures.style import (
    Look,
    Width,
    assign_looks,
    error_lengths,
    spread_out,
    stack_panels,
    system_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How much of the way to the next category the points of all systems take.
SPREAD = 0.5
# Fewer items than this are few: their line and interval are thin. The widths of lines, in points.
FEW = 20
LINE, USUAL, THIN = 1.1, 0.8, 0.35
# With more categories than this, only the first number has "n=" before it.
MANY = 5
# Points up and down from 0 that an axis of differences shows at least.
LEAST = 10


class Point(NamedTuple):
    """A value over a category, with its 95% interval and the number of items behind it."""

    value: float
    interval: Sequence[float]
    n: int


def read_point(row: Mapping[str, Any], key: str = "accuracy") -> Point:
    """The value of a row of findings under a key."""
    return Point(row[key], row[f"{key}_ci95"], row["n"])


# The points of each system, by its label and their categories.
Series = Mapping[str, Mapping[int, Point]]


class Panel(NamedTuple):
    """A panel of rates: what it shows, its lines, and what the categories below it are called."""

    title: str
    series: Series
    name: Callable[[int], str]


def draw_rates(panels: Sequence[Panel], about: str, width: Width, height: float) -> tuple[Figure, list[Axes]]:
    """Panels from 0 to 100% over the same categories, below one another on a narrow page; returns the lowest, too.

    `height` is that of a panel with its title and the numbers below it, in inches.
    """
    legend = system_legend(panels[0].series, width)
    figure, drawn, lowest = stack_panels(width, len(panels), height, 0.35 + legend.height, sharey=True)
    for axes, panel in zip(drawn, panels, strict=True):
        # The names of the categories stand once in each column.
        name = panel.name if axes in lowest else lambda _: ""
        draw_lines(axes, panel.series, name, [panel.series for panel in panels])
        axes.set_title(panel.title)
        axes.set_ylim(0, 100)
        axes.set_yticks([0, 25, 50, 75, 100] if height > 1.2 else [0, 50, 100])
    figure.supylabel(about)
    legend.draw(figure)
    return figure, lowest


def draw_lines(axes: Axes, series: Series, name: Callable[[int], str], others: Sequence[Series] = ()) -> None:
    """Points in per cent with intervals, side by side where systems share a category; `others` have categories too."""
    categories = sorted({category for one in (series, *others) for points in one.values() for category in points})
    look = assign_looks(series)
    shifts = spread_out(len(series), SPREAD / len(series))
    for shift, (label, points) in zip(shifts, series.items(), strict=True):
        kept = [(place, points[category]) for place, category in enumerate(categories) if category in points]
        draw_line(
            axes,
            [place + shift for place, _ in kept],
            [Point(100 * one.value, [100 * bound for bound in one.interval], one.n) for _, one in kept],
            look[label],
        )
    counts = _write_counts(categories, series)
    words = ["\n".join(filter(None, (name(one), counts.get(one)))) for one in categories]
    axes.set_xticks(range(len(categories)), words)
    axes.set_xlim(-0.5, len(categories) - 0.5)


def draw_line(
    axes: Axes, places: Sequence[float], points: Sequence[Point], look: Look, sizes: Sequence[float] | None = None
) -> None:
    """A line through points with intervals, thin beside points with few items; `sizes` are those of the markers."""
    if not points:
        # As a part of the axes, an empty line has no bounds, and the layout of the figure would fail.
        return
    style: dict[str, Any] = {"color": look.colour, "clip_on": False}
    values = [point.value for point in points]
    errors = [error_lengths(point.value, point.interval) for point in points]
    drawn = axes.errorbar(
        places,
        values,
        yerr=list(zip(*errors, strict=True)),
        marker=look.marker if sizes is None else "",
        linestyle="",
        capsize=1.5,
        capthick=THIN,
        **style,
    )
    for bars in drawn.lines[2]:
        bars.set_linewidth([THIN if point.n < FEW else USUAL for point in points])
    if sizes is not None:
        axes.scatter(places, values, sizes, marker=look.marker, zorder=3, **style)
    for (left, one), (right, other) in itertools.pairwise(zip(places, points, strict=True)):
        width = THIN if min(one.n, other.n) < FEW else LINE
        axes.plot([left, right], [one.value, other.value], linestyle=look.line, linewidth=width, **style)


def show_differences(axes: Axes) -> None:
    """Lets an axis of differences show at least LEAST points up and down, even where no system differs."""
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -LEAST), max(high, LEAST))


def _write_counts(categories: Sequence[int], series: Series) -> dict[int, str]:
    """How many items each category has, where it has some and as many for all systems."""
    found = {one: {points[one].n if one in points else 0 for points in series.values()} for one in categories}
    counts = {one: of_systems.pop() for one, of_systems in found.items() if len(of_systems) == 1 and any(of_systems)}
    # Many categories have room for the numbers only: the first one says what they are.
    named = list(counts)[: len(counts) if len(categories) <= MANY else 1]
    return {one: f"n={count}" if one in named else str(count) for one, count in counts.items()}
