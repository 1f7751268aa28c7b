"""Is it as often right as its score says? Reliability on Top and Shadow, with the expected calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.figures.findings import NOT_KNOWN, findings_of
from shadowprobe.figures.style import ABOVE, LEGEND, Look, Width, blank, legend, legend_height, looks, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """Below the diagonal a system is too sure of itself, above it not sure enough."""
    told = findings_of(runs, "calibration")
    found = {run.label: one["overall"] if one is not None else None for run, one in zip(runs, told, strict=True)}
    if all(overall is None for overall in found.values()):
        raise UsageError(f"no such figure of `{runs[0].label}` ({runs[0].path}): no score on Top, Shadow or All")
    look = looks(found)
    errors = [f"{one['ece']:.3f}" if one is not None else NOT_KNOWN for one in found.values()]
    names = [f"{wrapped(label, ABOVE)}\nECE {error}" for label, error in zip(found, errors, strict=True)]
    figure, (axes,) = blank(width, 2.7 + legend_height(names, LEGEND[width]))
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.6)
    handles = [_line(axes, one["bins"] if one is not None else [], look[label]) for label, one in found.items()]
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


def _line(axes: Axes, bins: Sequence[dict[str, Any]], look: Look) -> Any:
    """The line of a system through its bins, for the legend; without a bin it is in the legend alone."""
    drawn = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
    if not bins:
        from matplotlib.lines import Line2D

        # An empty line among the axes would count as one without bounds when the room is shared out.
        return Line2D([], [], **drawn)
    return axes.errorbar(
        [row["mean_score"] for row in bins],
        [row["accuracy"] for row in bins],
        yerr=list(zip(*map(_errors, bins), strict=True)),
        **drawn,
        elinewidth=0.7,
        capsize=1.5,
        clip_on=False,
    )


def _errors(row: dict[str, Any]) -> tuple[float, float]:
    low, high = row["accuracy_ci95"]
    return max(0.0, row["accuracy"] - low), max(0.0, high - row["accuracy"])
