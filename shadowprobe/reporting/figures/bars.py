"""Horizontal bars in panels side by side, a row a system."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from shadowprobe.reporting.figures.findings import NOT_KNOWN
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


class Column(NamedTuple):
    """A panel: what it shows, what its axis counts, and for each system a rate with its 95% interval."""

    title: str
    about: str
    rates: Sequence[tuple[float | None, Sequence[float] | None]]


def make_column(title: str, about: str, findings: Sequence[Findings | None], key: str) -> Column:
    """A panel of the rates that the findings of the systems have under a key."""
    return Column(
        title, about, [(one[key], one.get(f"{key}_ci95")) if one is not None else (None, None) for one in findings]
    )


def lay_out_rows(labels: Sequence[str], width: Width, bars: float, between: float) -> Rows:
    """A row for each system, as high as its bars or its name."""
    names = [wrap_label(label, BESIDE[width]) for label in labels]
    heights = [between + max(bars, LINE_HEIGHT * count_lines(name)) for name in names]
    ends = list(itertools.accumulate(heights))
    return Rows(names, [end - height / 2 for end, height in zip(ends, heights, strict=True)], ends[-1])


def make_frame(
    labels: Sequence[str], titles: Sequence[str], width: Width, room: float
) -> tuple[Figure, list[Axes], list[float]]:
    """Panels from 0 to 100% that share their rows, and where these are; `room` is the height of all that is no row."""
    rows = lay_out_rows(labels, width, BAR, BETWEEN)
    figure, panels = make_panels(width, room + rows.height, ncols=len(titles), sharey=True)
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title)
        show_percent(axes, width)
    rows.show_on(panels[0])
    return figure, panels, rows.places


def draw_bars(labels: Sequence[str], columns: Sequence[Column], width: Width) -> Figure:
    """A panel for each column of rates; the number stands beside its bar."""
    look = assign_looks(labels)
    figure, panels, places = make_frame(labels, [column.title for column in columns], width, room=0.95)
    for axes, column in zip(panels, columns, strict=True):
        axes.set_xlabel(column.about)
        for label, place, (rate, interval) in zip(labels, places, column.rates, strict=True):
            draw_bar(axes, place, BAR, rate, interval, look[label])
    return figure


def draw_bar(
    axes: Axes,
    place: float,
    height: float,
    rate: float | None,
    interval: Sequence[float] | None,
    look: Look,
    *,
    filled: bool = True,
) -> None:
    """A bar with its interval, and its number at the right of the panel; only an outline where it is not filled."""
    text = NOT_KNOWN if rate is None else percent(rate)
    axes.annotate(text, (100, place), (5, 0), textcoords="offset points", va="center", fontsize=6.5)
    if rate is None:
        return
    if filled:
        axes.barh(place, 100 * rate, height, color=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0)
    else:
        axes.barh(place, 100 * rate, height, color="white", edgecolor=look.colour, linewidth=0.9)
    if interval is not None:
        _draw_interval(axes, place, rate, interval)


def _draw_interval(axes: Axes, place: float, rate: float, interval: Sequence[float]) -> None:
    """Draws an interval around the end of a bar."""
    below, above = error_lengths(rate, interval)
    # White below black: it shows on any colour.
    for colour, line in (("white", 2.2), ("black", 0.9)):
        axes.errorbar(
            100 * rate,
            place,
            xerr=[[100 * below], [100 * above]],
            ecolor=colour,
            elinewidth=line,
            capsize=2,
            capthick=line,
            fmt="none",
            clip_on=False,
        )
