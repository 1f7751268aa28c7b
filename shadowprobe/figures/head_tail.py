"""How often the right document comes first, for the most popular of a name and for its namesakes (AmbER, Table 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.figures.asked import AMBER, depths, found_in, part, parts_of
from shadowprobe.figures.pairs import GROUPS, draw_pairs
from shadowprobe.figures.style import Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.retrieval.measured import MeasuredRun


def draw(runs: Sequence[MeasuredRun], width: Width = "one", collection: str | None = None) -> Figure:
    """A panel a task of each collection; where the tail falls short of the head, popularity decides."""
    found = found_in(runs, AMBER)
    k = depths(runs)[0]
    rates = {
        one: [
            {group: told["accuracy"][k][group] for group in GROUPS} if (told := part(each, *one)) else {}
            for each in found
        ]
        for one in parts_of(found, collection)
    }
    first = "first" if k == "1" else f"among the first {k}"
    return draw_pairs([run.label for run in runs], rates, f"right document {first},\n% of queries, 95% interval", width)
