"""Right answers with the name and without it, two bars a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.reporting.figures.findings import read_findings, read_rate
from shadowprobe.reporting.figures.style import Width, make_panels
from shadowprobe.reporting.figures.twins import Twins

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

GROUPS = ("with the name", "without it,\nwith 95% interval")


def masked_mention(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """What the context alone gives: right answers with the name, and with a word in its place that names nothing.

    A linker that reads loses little; one that repeats its prior has nothing left to repeat.
    """
    findings = read_findings(runs, "masked_mention")
    # The accuracy with the name is the recall of Table 3.
    with_name = [run.results.get("subsets", {}) for run in runs]
    subsets = [subset for subset in ("top", "shadow") if any(subset in one for one in findings)]
    twins = Twins([run.label for run in runs], GROUPS, width)
    figure, panels = make_panels(width, 0.6 + twins.height + twins.legend_height, ncols=len(subsets), sharey=True)
    for axes, subset in zip(panels, subsets, strict=True):
        recalls = [read_rate(one.get(subset, {}), "recall") for one in with_name]
        accuracies = [read_rate(one.get(subset, {}), "accuracy") for one in findings]
        twins.draw_on(axes, list(zip(recalls, accuracies, strict=True)))
        axes.set_title(subset.capitalize())
        axes.set_xlabel("right answers, %")
    twins.draw_legend(figure)
    return figure
