"""Is it as often right as its score says? Reliability on Top and Shadow, with the expected calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.figures.findings import findings
from shadowprobe.figures.style import ABOVE, LEGEND, Width, blank, legend, legend_height, looks, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """Below the diagonal a system is too sure of itself, above it not sure enough."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        overall = findings(run, "calibration")["overall"]
        if overall is None:
            raise UsageError(f"no such figure of `{run.label}` ({run.path}): no score on Top, Shadow or All")
        found[run.label] = overall
    look = looks(found)
    names = [f"{wrapped(label, ABOVE)}\nECE {one['ece']:.3f}" for label, one in found.items()]
    figure, (axes,) = blank(width, 2.7 + legend_height(names, LEGEND[width]))
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.6)
    handles = [
        axes.errorbar(
            [row["mean_score"] for row in one["bins"]],
            [row["accuracy"] for row in one["bins"]],
            yerr=list(zip(*map(_errors, one["bins"]), strict=True)),
            color=look[label].colour,
            marker=look[label].marker,
            linestyle=look[label].line,
            elinewidth=0.7,
            capsize=1.5,
            clip_on=False,
        )
        for label, one in found.items()
    ]
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xticks(ticks, ["0", "25", "50", "75", "100"])
    axes.set_yticks(ticks, ["0", "25", "50", "75", "100"])
    axes.set_xlabel("mean score of a bin, %")
    axes.set_ylabel("right answers in it, %,\nwith 95% interval")
    legend(figure, handles, names, LEGEND[width])
    return figure


def _errors(row: dict[str, Any]) -> tuple[float, float]:
    low, high = row["accuracy_ci95"]
    return max(0.0, row["accuracy"] - low), max(0.0, high - row["accuracy"])
