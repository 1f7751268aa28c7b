"""Rows of points with intervals, a point a system; a row has words beside it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.reporting.figures.findings import Rate
from shadowprobe.reporting.figures.style import (
    LINE_HEIGHT,
    Look,
    Width,
    assign_looks,
    count_lines,
    error_lengths,
    make_panels,
    show_percent,
    spread_out,
    system_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches of a row for each system, and around them; points.
ROW, AROUND, MARKER = 0.045, 0.06, 2.8


class DotPanel(NamedTuple):
    """A panel: what it shows, and for each system the rate of each row."""

    title: str
    rates: Sequence[Sequence[Rate]]


def draw_dots(
    labels: Sequence[str],
    words: Sequence[str],
    panels: Sequence[DotPanel],
    about: str,
    width: Width,
    *,
    has_mean: bool = False,
) -> Figure:
    """Panels that share their rows; with a mean of all in the last row, a black line is above it."""
    heights = (AROUND + max(ROW * len(labels), LINE_HEIGHT * count_lines(one)) for one in words)
    ends = [0.0, *itertools.accumulate(heights)]
    middles = [(above + below) / 2 for above, below in itertools.pairwise(ends)]
    look, legend = assign_looks(labels), system_legend(labels, width)
    above = LINE_HEIGHT * max(count_lines(panel.title) if panel.title else 0 for panel in panels)
    figure, drawn = make_panels(width, 0.59 + above + legend.height + ends[-1], ncols=len(panels), sharey=True)
    handles: list[Any] = []
    for axes, panel in zip(drawn, panels, strict=True):
        handles = [
            _draw_system(axes, [middle + shift for middle in middles], rates, look[label])
            for label, shift, rates in zip(labels, spread_out(len(labels), ROW), panel.rates, strict=True)
        ]
        axes.set_title(panel.title)
        show_percent(axes, width)
        axes.set_xlabel(about)
        for end in ends[1:-1]:
            colour = "black" if has_mean and end == ends[-2] else "#DDDDDD"
            axes.axhline(end, color=colour, linewidth=0.5, zorder=0)
    drawn[0].set_yticks(middles, words)
    drawn[0].set_ylim(ends[-1], 0)
    legend.draw(figure, handles)
    return figure


def _draw_system(axes: Axes, places: Sequence[float], rates: Sequence[Rate], look: Look) -> Any:
    known = [
        (place, value, interval or (value, value))
        for place, (value, interval) in zip(places, rates, strict=True)
        if value is not None
    ]
    errors = [error_lengths(value, interval) for _, value, interval in known]
    return axes.errorbar(
        [100 * value for _, value, _ in known],
        [place for place, _, _ in known],
        xerr=[[100 * length for length in lengths] for lengths in zip(*errors, strict=True)] or None,
        **{**look.line_style, "linestyle": ""},
        markersize=MARKER,
        elinewidth=0.6,
        capsize=0,
        clip_on=False,
    )
