"""How far the neutral contexts agree on a prior, and how often it is the Top entity."""

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
    "stability": ("Stability: neutral\ncontexts that agree\nwith the prior", "mean over the names, %"),
    "prior_is_top": ("Names whose prior\nis their Top entity", "share of the names, %,\nwith 95% interval"),
}


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """Agreement of the neutral contexts of each system; it is a mean of shares."""
    found = findings_of(runs, "prior")
    columns = [
        Column(title, about, [(one[key], one.get(f"{key}_ci95")) if one is not None else (None, None) for one in found])
        for key, (title, about) in PANELS.items()
    ]
    return draw_bars([run.label for run in runs], columns, width)
