"""Horizontal bars in panels side by side, a row a system."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from shadowprobe.reporting.figures.findings import NOT_KNOWN, Rate, read_rate
from shadowprobe.reporting.figures.style import (
    BESIDE,
    LINE_HEIGHT,
    Look,
    Width,
    assign_looks,
    count_lines,
    error_lengths,
    make_panels,
    show_percent,
    wrap_label,
)
from shadowprobe.reporting.tables.table import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings

# Inches, in which the rows are laid out.
BAR, BETWEEN = 0.19, 0.11


class Rows(NamedTuple):
    """The rows that the panels of a figure share: the names of the systems, where they are, and the height of all."""

    names: list[str]
    places: list[float]
    height: float

    def show_on(self, axes: Axes) -> None:
        """Writes the names beside a panel."""
        axes.set_yticks(self.places, self.names)
        axes.set_ylim(self.height, 0)


def lay_out_rows(labels: Sequence[str], width: Width, bars: float, between: float) -> Rows:
    """A row for each system, as high as its bars or its name."""
    names = [wrap_label(label, BESIDE[width]) for label in labels]
    heights = [between + max(bars, LINE_HEIGHT * count_lines(name)) for name in names]
    ends = list(itertools.accumulate(heights))
    return Rows(names, [end - height / 2 for end, height in zip(ends, heights, strict=True)], ends[-1])


def make_frame(
    labels: Sequence[str], titles: Sequence[tuple[str, str]], width: Width, room: float
) -> tuple[Figure, list[Axes], list[float]]:
    """Panels from 0 to 100% that share their rows, and where these are; `room` is the height of all that is no row.

    A panel has a title, and words about what its axis counts.
    """
    rows = lay_out_rows(labels, width, BAR, BETWEEN)
    figure, panels = make_panels(width, room + rows.height, ncols=len(titles), sharey=True)
    for axes, (title, about) in zip(panels, titles, strict=True):
        axes.set_title(title)
        axes.set_xlabel(about)
        show_percent(axes, width)
    rows.show_on(panels[0])
    return figure, panels, rows.places


def draw_bars(
    labels: Sequence[str], findings: Sequence[Findings], titles: Mapping[str, tuple[str, str]], width: Width
) -> Figure:
    """A panel for each rate that a system has, with its title and axis by its key; the number stands beside its bar."""
    look = assign_looks(labels)
    rates = {key: [read_rate(one, key) for one in findings] for key in titles}
    known = [key for key in titles if any(rate.value is not None for rate in rates[key])]
    figure, panels, places = make_frame(labels, [titles[key] for key in known], width, room=0.95)
    for axes, key in zip(panels, known, strict=True):
        for label, place, rate in zip(labels, places, rates[key], strict=True):
            draw_bar(axes, place, BAR, rate, look[label])
    return figure


def draw_bar(axes: Axes, place: float, height: float, rate: Rate, look: Look, *, filled: bool = True) -> None:
    """A bar with its interval, and its number at the right of the panel; only an outline where it is not filled."""
    text = NOT_KNOWN if rate.value is None else percent(rate.value)
    axes.annotate(text, (100, place), (5, 0), textcoords="offset points", va="center", fontsize=6.5)
    if rate.value is None:
        return
    if filled:
        axes.barh(place, 100 * rate.value, height, color=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0)
    else:
        axes.barh(place, 100 * rate.value, height, color="white", edgecolor=look.colour, linewidth=0.9)
    if rate.interval is None:
        return
    below, above = error_lengths(rate.value, rate.interval)
    # White below black: it shows on any colour.
    for colour, line in (("white", 2.2), ("black", 0.9)):
        axes.errorbar(
            100 * rate.value,
            place,
            xerr=[[100 * below], [100 * above]],
            ecolor=colour,
            elinewidth=line,
            capsize=2,
            capthick=line,
            fmt="none",
            clip_on=False,
        )
