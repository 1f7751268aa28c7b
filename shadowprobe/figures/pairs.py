"""Head above tail: two horizontal bars a system, in panels of AmbER's collections and tasks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.figures.asked import Part
from shadowprobe.figures.bars import draw_interval, write_beside
from shadowprobe.figures.findings import NOT_KNOWN
from shadowprobe.figures.grid import Grid
from shadowprobe.figures.style import (
    BESIDE,
    LINE_HEIGHT,
    Look,
    Width,
    legend,
    legend_height,
    lines_of,
    looks,
    wrapped,
)
from shadowprobe.report.verdict import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUPS = {
    "head": "queries about the head, the\nmost popular of its name",
    "tail": "queries about the tail,\nits namesakes",
}
# Inches, in which the rows are laid out.
BAR, BETWEEN, GREY = 0.14, 0.12, "#555555"
# For each system: of the head and of the tail the rate with its 95% interval, or nothing.
Rates = Sequence[Mapping[str, Mapping[str, Any] | None]]


def draw_pairs(labels: Sequence[str], rates: Mapping[Part, Rates], about: str, width: Width) -> Figure:
    """A panel for each part; the tail is an outline in the colour of its system, so that both read without colour."""
    from matplotlib.patches import Patch

    names = [wrapped(label, BESIDE[width]) for label in labels]
    heights = [BETWEEN + max(2 * BAR, LINE_HEIGHT * lines_of(name)) for name in names]
    ends = list(itertools.accumulate(heights))
    places = [end - height / 2 for end, height in zip(ends, heights, strict=True)]
    words = list(GROUPS.values())
    grid = Grid(list(rates), width, panel=0.45 + ends[-1], room=0.4 + legend_height(words, 2))
    look = looks(labels)
    for part, axes in grid.panels.items():
        for label, place, both in zip(labels, places, rates[part], strict=True):
            for group, shift in (("head", -BAR / 2), ("tail", BAR / 2)):
                _draw_bar(axes, place + shift, both.get(group), look[label], filled=group == "head")
        axes.set_xlim(0, 100)
        axes.set_xticks([0, 50, 100] if width == "one" else [0, 25, 50, 75, 100])
        axes.tick_params(axis="y", length=0)
        axes.set_yticks(places, names)
        axes.set_ylim(ends[-1], 0)
    for axes in grid.lowest:
        axes.set_xlabel(about)
    handles = [Patch(facecolor=GREY, edgecolor=GREY), Patch(facecolor="white", edgecolor=GREY, linewidth=0.9)]
    legend(grid.figure, handles, words, 2)
    return grid.figure


def _draw_bar(axes: Axes, place: float, rate: Mapping[str, Any] | None, look: Look, *, filled: bool) -> None:
    if rate is None:
        write_beside(axes, place, NOT_KNOWN)
        return
    value = 100 * rate["rate"]
    write_beside(axes, place, percent(rate["rate"]))
    if filled:
        axes.barh(place, value, BAR, color=look.colour, hatch=look.hatch, edgecolor="white", linewidth=0)
    else:
        axes.barh(place, value, BAR, color="white", edgecolor=look.colour, linewidth=0.9)
    draw_interval(axes, place, value, [100 * bound for bound in rate["ci95"]])
