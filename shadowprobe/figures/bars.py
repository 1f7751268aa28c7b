"""Horizontal bars in panels side by side, a row a system."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from shadowprobe.figures.findings import NOT_KNOWN
from shadowprobe.figures.style import BESIDE, LINE_HEIGHT, Width, blank, lines_of, looks, wrapped
from shadowprobe.report.verdict import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches, in which the rows are laid out.
BAR, BETWEEN = 0.19, 0.11


class Column(NamedTuple):
    """A panel: what it shows, what its axis counts, and for each system a rate with its 95% interval."""

    title: str
    about: str
    rates: Sequence[tuple[float | None, Sequence[float] | None]]


def frame(
    labels: Sequence[str], titles: Sequence[str], width: Width, room: float
) -> tuple[Figure, list[Axes], list[float]]:
    """Panels from 0 to 100% that share their rows, and where these are; `room` is the height of all that is no row."""
    names = [wrapped(label, BESIDE[width]) for label in labels]
    heights = [BETWEEN + max(BAR, LINE_HEIGHT * lines_of(name)) for name in names]
    ends = list(itertools.accumulate(heights))
    places = [end - height / 2 for end, height in zip(ends, heights, strict=True)]
    figure, panels = blank(width, room + ends[-1], ncols=len(titles), sharey=True)
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title)
        axes.set_xlim(0, 100)
        axes.set_xticks([0, 50, 100] if width == "one" else [0, 25, 50, 75, 100])
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(places, names)
    panels[0].set_ylim(ends[-1], 0)
    return figure, panels, places


def draw_bars(labels: Sequence[str], columns: Sequence[Column], width: Width) -> Figure:
    """A panel for each column of rates; the number stands beside its bar."""
    look = looks(labels)
    figure, panels, places = frame(labels, [column.title for column in columns], width, room=0.95)
    for axes, column in zip(panels, columns, strict=True):
        axes.set_xlabel(column.about)
        for label, place, (rate, interval) in zip(labels, places, column.rates, strict=True):
            write_beside(axes, place, NOT_KNOWN if rate is None else percent(rate))
            if rate is None:
                continue
            mine = look[label]
            axes.barh(place, 100 * rate, BAR, color=mine.colour, hatch=mine.hatch, edgecolor="white", linewidth=0)
            if interval is not None:
                draw_interval(axes, place, 100 * rate, [100 * bound for bound in interval])
    return figure


def write_beside(axes: Axes, place: float, text: str) -> None:
    """Writes at the right of a panel, in the row of a bar."""
    axes.annotate(text, (100, place), (5, 0), textcoords="offset points", va="center", fontsize=6.5)


def draw_interval(axes: Axes, place: float, value: float, interval: Sequence[float]) -> None:
    """Draws an interval around the end of a bar."""
    errors = [[max(0.0, value - interval[0])], [max(0.0, interval[1] - value)]]
    # White below black: it shows on any colour.
    for colour, line in (("white", 2.2), ("black", 0.9)):
        axes.errorbar(
            value,
            place,
            xerr=errors,
            ecolor=colour,
            elinewidth=line,
            capsize=2,
            capthick=line,
            fmt="none",
            clip_on=False,
        )
