"""The reliability of scores: right answers against mean scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.reporting.figures.findings import NOT_KNOWN, read_findings, refusal
from shadowprobe.reporting.figures.style import Look, Width, assign_looks, error_lengths, make_panels, system_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun


def calibration(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Is it as often right as its score says? Reliability on Top and Shadow, with the expected calibration error.

    Below the diagonal a system is too sure of itself, above it not sure enough.
    """
    findings = read_findings(runs, "calibration")
    overall = {run.label: one["overall"] if one is not None else None for run, one in zip(runs, findings, strict=True)}
    if all(one is None for one in overall.values()):
        raise refusal(runs[0], "no score on Top, Shadow or All")
    look = assign_looks(overall)
    errors = [f"ECE {one['ece']:.3f}" if one is not None else f"ECE {NOT_KNOWN}" for one in overall.values()]
    legend = system_legend(overall, width, errors)
    figure, (axes,) = make_panels(width, 2.7 + legend.height)
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.6)
    handles = [_draw_line(axes, one["bins"] if one is not None else [], look[label]) for label, one in overall.items()]
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xticks(ticks, ["0", "25", "50", "75", "100"])
    axes.set_yticks(ticks, ["0", "25", "50", "75", "100"])
    axes.set_xlabel("mean score of a bin, %")
    axes.set_ylabel("right answers in it, %,\nwith 95% interval")
    legend.draw(figure, handles)
    return figure


def _draw_line(axes: Axes, bins: Sequence[dict[str, Any]], look: Look) -> Any:
    """The line of a system through its bins, for the legend; without a bin it is in the legend alone."""
    if not bins:
        from matplotlib.lines import Line2D

        # As a part of the axes, an empty line has no bounds, and the layout of the figure would fail.
        return Line2D([], [], **look.line_style)
    return axes.errorbar(
        [row["mean_score"] for row in bins],
        [row["accuracy"] for row in bins],
        yerr=list(zip(*(error_lengths(row["accuracy"], row["accuracy_ci95"]) for row in bins), strict=True)),
        **look.line_style,
        elinewidth=0.7,
        capsize=1.5,
        clip_on=False,
    )
