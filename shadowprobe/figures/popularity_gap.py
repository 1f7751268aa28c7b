"""Accuracy on Top minus accuracy on Shadow, by how many times as common the Top entity is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.figures.findings import findings
from shadowprobe.figures.lines import Point, draw_lines
from shadowprobe.figures.style import ABOVE, LEGEND, Width, blank, legend, legend_height, looks, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun

# Points up and down from 0 that the axis shows at least.
LEAST = 10


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """A linker that reads stays near 0 however wide the gap; one that repeats its prior rises with it."""
    series: dict[str, dict[int, Point]] = {}
    below: dict[int, int | None] = {}
    for run in runs:
        gaps = findings(run, "popularity")["gaps"]
        if not gaps:
            raise UsageError(f"no such figure of `{run.label}` ({run.path}): no name has both snippets and commonness")
        series[run.label] = {
            row["at_least"]: Point(row["top_minus_shadow"], row["top_minus_shadow_ci95"], row["n"]) for row in gaps
        }
        below |= {row["at_least"]: row["below"] for row in gaps}
    categories = sorted({category for points in series.values() for category in points})
    names = [wrapped(label, ABOVE) for label in series]
    figure, (axes,) = blank(width, 2.3 + legend_height(names, LEGEND[width]))
    axes.axhline(0, color="black", linewidth=0.6)
    handles = draw_lines(axes, categories, series, looks(series), lambda low: _named(low, below[low]))
    # Where no system differs, the axis would zoom in on nothing.
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -LEAST), max(high, LEAST))
    axes.set_ylabel("right on Top minus on Shadow,\npoints, with 95% interval")
    axes.set_xlabel("how many times as common the Top entity is")
    legend(figure, handles, names, LEGEND[width])
    return figure


def _named(low: int, high: int | None) -> str:
    if high is None:
        return f"{low} or more"
    return f"{low} to {high}" if low else f"under {high}"
