"""How often the name alone decides, and how often by the prior (Fig. 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.figures.bars import Column, draw_bars
from shadowprobe.figures.findings import findings_of
from shadowprobe.figures.style import Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun

PANELS = {
    "overshadowed": "Overshadowed:\nTop and Shadow context\nget the same entity",
    "prior_bias": "Prior bias:\nthe same entity,\nand it is the prior",
}


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """Degree of overshadowing and prior bias of each system; without neutral contexts there is no prior bias."""
    found = findings_of(runs, "overshadowing")
    columns = [
        Column(
            title,
            "share of the names, %,\nwith 95% interval",
            [(one[key], one[f"{key}_ci95"]) if one is not None else (None, None) for one in found],
        )
        for key, title in PANELS.items()
        if any(one is not None and one[key] is not None for one in found)
    ]
    return draw_bars([run.label for run in runs], columns, width)
