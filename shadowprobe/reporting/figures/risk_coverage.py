"""Wrong answers against the share of answers that are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.reporting.figures.findings import read_findings
from shadowprobe.reporting.figures.style import PERCENT, Width
from shadowprobe.reporting.figures.system_panels import draw_panels
from shadowprobe.reporting.tables.suspicion_table import SIGNALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun


def risk_coverage(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Which answers to doubt: wrong answers among those that are kept, if the most doubtful ones are dropped.

    The lower a line, the better its signal finds the wrong answers.
    """
    findings = read_findings(runs, "suspicion")
    shown = {key: words for key, words in SIGNALS.items() if any(one and key in one["signals"] for one in findings)}
    across, upwards = "answers that are kept, %", "wrong answers\namong them, %"
    return draw_panels(runs, findings, _draw, width, shown, across, PERCENT, upwards)


def _draw(axes: Axes, found: dict[str, Any], styles: Mapping[str, dict[str, Any]]) -> str:
    for key, style in styles.items():
        if key in found["signals"]:
            curve = found["signals"][key]["curve"]
            axes.plot([point["coverage"] for point in curve], [100 * point["risk"] for point in curve], **style)
    axes.set_ylim(bottom=0)
    auroc = found["signals"][found["signal"]]["auroc"]
    return f"AUROC {auroc:.2f} ({SIGNALS[found['signal']]})" if auroc is not None else ""
