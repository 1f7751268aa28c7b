"""The reliability of scores: right answers against mean scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.reporting.figures.findings import NOT_KNOWN, read_findings, refusal
from shadowprobe.reporting.figures.lines import draw_line, read_point
from shadowprobe.reporting.figures.style import PERCENT, TICKS, Look, Width, assign_looks, make_panels, system_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

# The areas of markers, in square points.
SMALLEST, LARGEST = 4, 60


def calibration(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Is it as often right as its score says? Reliability on Top and Shadow, with the expected calibration error.

    Below the diagonal a system is too sure of itself, above it not sure enough. The larger a marker, the more answers
    are in its bin.
    """
    findings = read_findings(runs, "calibration")
    overall = {run.label: one and one["overall"] for run, one in zip(runs, findings, strict=True)}
    if not any(overall.values()):
        raise refusal(runs[0], "no score on Top, Shadow or All")
    look = assign_looks(overall)
    errors = [f"ECE {one['ece']:.3f}" if one else f"ECE {NOT_KNOWN}" for one in overall.values()]
    legend = system_legend(overall, width, errors)
    figure, (axes,) = make_panels(width, 2.6 + legend.height)
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.6)
    bins = {label: one["bins"] if one else [] for label, one in overall.items()}
    most = max(row["n"] for rows in bins.values() for row in rows)
    for label, rows in bins.items():
        _draw_bins(axes, rows, look[label], most)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.set_xticks(TICKS, PERCENT)
    axes.set_yticks(TICKS, PERCENT)
    axes.set_xlabel("mean score of a bin, %; marker: its answers")
    axes.set_ylabel("right answers in it, %,\nwith 95% interval")
    legend.draw(figure)
    return figure


def _draw_bins(axes: Axes, bins: Sequence[dict[str, Any]], look: Look, most: int) -> None:
    """The line of a system through its bins; the area of a marker is the number of answers in its bin."""
    sizes = [max(SMALLEST, LARGEST * row["n"] / most) for row in bins]
    draw_line(axes, [row["mean_score"] for row in bins], list(map(read_point, bins)), look, sizes)
