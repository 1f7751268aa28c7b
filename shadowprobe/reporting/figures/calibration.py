"""The reliability of scores: right answers against mean scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.reporting.figures.findings import NOT_KNOWN, read_findings, refusal
from shadowprobe.reporting.figures.lines import Point, draw_line, make_handle
from shadowprobe.reporting.figures.style import Look, Width, assign_looks, make_panels, system_legend

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
    overall = {run.label: one["overall"] if one is not None else None for run, one in zip(runs, findings, strict=True)}
    if all(one is None for one in overall.values()):
        raise refusal(runs[0], "no score on Top, Shadow or All")
    look = assign_looks(overall)
    errors = [f"ECE {one['ece']:.3f}" if one is not None else f"ECE {NOT_KNOWN}" for one in overall.values()]
    legend = system_legend(overall, width, errors)
    figure, (axes,) = make_panels(width, 2.6 + legend.height)
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.6)
    bins = {label: one["bins"] if one is not None else [] for label, one in overall.items()}
    most = max(row["n"] for rows in bins.values() for row in rows)
    for label, rows in bins.items():
        _draw_bins(axes, rows, look[label], most)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xticks(ticks, ["0", "25", "50", "75", "100"])
    axes.set_yticks(ticks, ["0", "25", "50", "75", "100"])
    axes.set_xlabel("mean score of a bin, %; marker: its answers")
    axes.set_ylabel("right answers in it, %,\nwith 95% interval")
    legend.draw(figure, [make_handle(look[label]) for label in overall])
    return figure


def _draw_bins(axes: Axes, bins: Sequence[dict[str, Any]], look: Look, most: int) -> None:
    """The line of a system through its bins; the area of a marker is the number of answers in its bin."""
    points = [Point(row["accuracy"], row["accuracy_ci95"], row["n"]) for row in bins]
    sizes = [max(SMALLEST, LARGEST * row["n"] / most) for row in bins]
    draw_line(axes, [row["mean_score"] for row in bins], points, look, sizes)
