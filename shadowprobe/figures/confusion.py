"""How often a namesake's document stands above the right one, for the head and for the tail (AmbER, Table 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.figures.asked import AMBER, found_in, part, parts_of
from shadowprobe.figures.pairs import GROUPS, draw_pairs
from shadowprobe.figures.style import Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.retrieval.measured import MeasuredRun


def draw(runs: Sequence[MeasuredRun], width: Width = "one", collection: str | None = None) -> Figure:
    """A panel a task of each collection."""
    found = found_in(runs, AMBER)
    rates = {
        one: [
            {group: told["confusion"][group] for group in GROUPS} if (told := part(each, *one)) else {}
            for each in found
        ]
        for one in parts_of(found, collection)
    }
    return draw_pairs([run.label for run in runs], rates, "a namesake above it,\n% of queries, 95% interval", width)
