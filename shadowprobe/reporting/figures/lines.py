"""Lines over the same categories, a line a system."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.reporting.figures.style import Look, Width, assign_looks, error_lengths, make_panels, system_legend

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


# The points of each system, by its label and their categories.
Series = Mapping[str, Mapping[int, Point]]


class Panel(NamedTuple):
    """A panel of rates: what it shows, its lines, and what the categories below it are called."""

    title: str
    series: Series
    name: Callable[[int], str]


def draw_rates(panels: Sequence[Panel], about: str, width: Width, height: float) -> tuple[Figure, list[Axes]]:
    """Panels from 0 to 100% over the same categories, below one another on a narrow page.

    `height` is that of a panel with its title and the numbers below it, in inches.
    """
    legend = system_legend(panels[0].series, width)
    is_stacked = width == "one"
    grid = {"nrows": len(panels)} if is_stacked else {"ncols": len(panels)}
    rows = len(panels) if is_stacked else 1
    figure, drawn = make_panels(width, 0.35 + height * rows + legend.height, sharey=True, **grid)
    categories = _list_categories(*(panel.series for panel in panels))
    handles: list[Any] = []
    for axes, panel in zip(drawn, panels, strict=True):
        # The names of the categories stand once in each column, below its lowest panel.
        is_named = not is_stacked or axes is drawn[-1]
        handles = draw_lines(axes, panel.series, panel.name if is_named else None, categories)
        axes.set_title(panel.title)
        axes.set_ylim(0, 100)
        axes.set_yticks([0, 25, 50, 75, 100] if height > 1.2 else [0, 50, 100])
    figure.supylabel(about, fontsize=7)
    legend.draw(figure, handles)
    return figure, drawn


def draw_lines(
    axes: Axes, series: Series, name: Callable[[int], str] | None, categories: Sequence[int] | None = None
) -> list[Any]:
    """Points in per cent with intervals, side by side where systems share a category; returns the handles."""
    if categories is None:
        categories = _list_categories(series)
    look = assign_looks(series)
    for number, (label, points) in enumerate(series.items()):
        shift = (number - (len(series) - 1) / 2) * SPREAD / max(len(series), 2)
        kept = [(place, points[category]) for place, category in enumerate(categories) if category in points]
        draw_line(
            axes,
            [place + shift for place, _ in kept],
            [Point(100 * one.value, [100 * bound for bound in one.interval], one.n) for _, one in kept],
            look[label],
        )
    counts = _write_counts(categories, series)
    words = [name(one) if name is not None else "" for one in categories]
    axes.set_xticks(range(len(categories)), ["\n".join(filter(None, pair)) for pair in zip(words, counts, strict=True)])
    axes.set_xlim(-0.5, len(categories) - 0.5)
    return [make_handle(look[label]) for label in series]


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
    for one, other in itertools.pairwise(range(len(points))):
        width = THIN if min(points[one].n, points[other].n) < FEW else LINE
        ends = [places[one], places[other]], [values[one], values[other]]
        axes.plot(*ends, linestyle=look.line, linewidth=width, **style)


def make_handle(look: Look) -> Any:
    """The line of a system in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look.line_style)


def show_differences(axes: Axes) -> None:
    """Lets an axis of differences show at least LEAST points up and down, even where no system differs."""
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -LEAST), max(high, LEAST))


def _list_categories(*panels: Series) -> list[int]:
    return sorted({category for series in panels for points in series.values() for category in points})


def _write_counts(categories: Sequence[int], series: Series) -> list[str]:
    """How many items each category has, where it has some and as many for all systems."""
    found = [{points[one].n if one in points else 0 for points in series.values()} for one in categories]
    counts = [counts.pop() if len(counts) == 1 else 0 for counts in found]
    # Many categories have room for the numbers only: the first one says what they are.
    first = next((place for place, count in enumerate(counts) if count), 0)
    named = categories if len(categories) <= MANY else categories[first : first + 1]
    return [
        f"{'n=' if one in named else ''}{count}" if count else "" for one, count in zip(categories, counts, strict=True)
    ]
