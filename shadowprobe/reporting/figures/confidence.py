"""The boxes of scores, a panel a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.dataset.dataset import SUBSETS
from shadowprobe.reporting.figures.findings import read_findings
from shadowprobe.reporting.figures.style import Width, assign_looks
from shadowprobe.reporting.figures.system_panels import draw_systems

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

COLUMNS: dict[Width, int] = {"one": 2, "two": 4}
BOX = {"whislo": "q05", "q1": "q25", "med": "q50", "q3": "q75", "whishi": "q95"}


def confidence(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """The scores of each system on each subset: does it know when a context says nothing (Fig. 5 of the paper)?

    One panel a system, since each score has a scale of its own; only the AUROC can be compared.
    """
    findings = read_findings(runs, "confidence")
    look = assign_looks(run.label for run in runs)

    def draw(axes: Axes, label: str, one: Findings) -> str:
        return _draw_boxes(axes, one, look[label].colour)

    columns = min(len(runs), COLUMNS[width])
    figure, _ = draw_systems(runs, findings, draw, width, columns, panel=1.0, room=0.35)
    scale = "score, each system\non a scale of its own" if len(runs) > 1 else "score, on its own scale"
    figure.supylabel(scale)
    explanation = "box: quartiles, line: median, whiskers: 5% to 95%"
    if any(one and one["auroc_real_against_neutral"] is not None for one in findings):
        explanation += "\nAUROC: Top and Shadow against Neutral, 0.5 is a coin"
    figure.supxlabel(explanation, fontsize=6.5)
    return figure


def _draw_boxes(axes: Axes, findings: Findings, colour: str) -> str:
    subsets = [subset for subset in SUBSETS if subset in findings["subsets"]]
    boxes = [{key: findings["subsets"][subset][level] for key, level in BOX.items()} for subset in subsets]
    axes.bxp(
        boxes,
        positions=range(len(subsets)),
        widths=0.6,
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": colour, "alpha": 0.55, "linewidth": 0.7},
        medianprops={"color": "black", "linewidth": 1.4},
        whiskerprops={"linewidth": 0.7},
        capprops={"linewidth": 0.7},
    )
    # Scores that hardly differ are written in full: a reader would overlook an offset in the corner.
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.set_xticks(range(len(subsets)), [subset.capitalize() for subset in subsets], fontsize=6)
    auroc = findings["auroc_real_against_neutral"]
    return "" if auroc is None else f"AUROC {auroc:.2f}"
