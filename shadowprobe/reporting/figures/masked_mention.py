"""Right answers with the name and without it, two bars a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.reporting.figures.findings import read_findings
from shadowprobe.reporting.figures.style import Width, make_panels
from shadowprobe.reporting.figures.twins import Rate, Twins

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

GROUPS = ("with the name", "without it,\nwith 95% interval")


def masked_mention(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """What the context alone gives: right answers with the name, and with a word in its place that names nothing.

    A linker that reads loses little; one that repeats its prior has nothing left to repeat.
    """
    findings = read_findings(runs, "masked_mention")
    subsets = [subset for subset in ("top", "shadow") if any(one is not None and subset in one for one in findings)]
    twins = Twins([run.label for run in runs], GROUPS, width)
    figure, panels = make_panels(width, 0.6 + twins.height + twins.legend_height, ncols=len(subsets), sharey=True)
    for axes, subset in zip(panels, subsets, strict=True):
        pairs = [_read_pair(run, one, subset) for run, one in zip(runs, findings, strict=True)]
        twins.draw_on(axes, pairs)
        axes.set_title(subset.capitalize())
        axes.set_xlabel("right answers, %")
    twins.draw_legend(figure)
    return figure


def _read_pair(run: FinishedRun, found: Findings | None, subset: str) -> tuple[Rate, Rate]:
    """The accuracy with the name, which is the recall of Table 3, and that without it."""
    known = run.results.get("subsets", {}).get(subset)
    row = (found or {}).get(subset)
    return (
        Rate(known["recall"]) if known is not None else Rate(),
        Rate(row["accuracy"], row["accuracy_ci95"]) if row is not None else Rate(),
    )
