"""The correction at every weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.reporting.figures.findings import refusal
from shadowprobe.reporting.figures.style import TICKS, Width
from shadowprobe.reporting.figures.system_panels import draw_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

LINES = {"top": "Top", "shadow": "Shadow", "both_right": "both contexts"}


def debias(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """What a correction would change: right answers by its weight, with 95% bands and the chosen weight.

    It shows what `shadowprobe debias` has found, and works nothing out.
    """
    from shadowprobe.running.debias_file import WEIGHT, read_debias

    findings = [read_debias(run) for run in runs]
    if not any(findings):
        if WEIGHT in runs[0].system["options"]:
            raise refusal(runs[0], "it is corrected already; give the run that it was made from")
        raise refusal(runs[0], f"it has no debias.json of its answers; `shadowprobe debias {runs[0].path}` writes it")
    ticks, upwards = [f"{tick:g}" for tick in TICKS], "right answers, %,\nwith 95% band"
    return draw_panels(runs, findings, _draw, width, LINES, "weight of the prior", ticks, upwards)


def _draw(axes: Axes, found: dict[str, Any], styles: Mapping[str, dict[str, Any]]) -> str:
    weights = [point["weight"] for point in found["curve"]]
    for key, style in styles.items():
        if any(key not in point for point in found["curve"]):
            continue
        axes.plot(weights, [100 * point[key] for point in found["curve"]], **style)
        low, high = ([100 * point[f"{key}_ci95"][end] for point in found["curve"]] for end in (0, 1))
        axes.fill_between(weights, low, high, color=style["color"], alpha=0.15, linewidth=0)
    axes.axvline(found["weight"], color="black", linewidth=0.8)
    axes.set_ylim(0, 100)
    axes.set_yticks([0, 25, 50, 75, 100])
    return f"weight {found['weight']:g}: {found['verdict']}"
