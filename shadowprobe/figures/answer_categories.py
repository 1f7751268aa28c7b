"""What kind of answers a language model gives about documents on namesakes (AmbigDocs)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.figures.asked import AMBIGDOCS, found_in
from shadowprobe.figures.stacks import Segment, Stack, draw_stacks
from shadowprobe.figures.style import Width
from shadowprobe.report.answers_table import CATEGORIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.retrieval.measured import MeasuredRun

# From the best at the left to the one that says nothing.
LOOKS = {
    "complete": ("#0072B2", "////"),
    "partial": ("#56B4E9", ""),
    "ambiguous": ("#F5C77E", ""),
    "merged": ("#D55E00", "\\\\\\\\"),
    "no_answer": ("#BDBDBD", "----"),
}
COLUMNS: dict[Width, int] = {"one": 2, "two": 5}


def draw(runs: Sequence[MeasuredRun], width: Width = "one") -> Figure:
    """The five shares of each model as a stacked bar."""
    found = found_in(runs, AMBIGDOCS)
    shares = [
        {kind: row["share"] for kind, row in one["categories"].items()} if one is not None else None for one in found
    ]
    count = next(one["n"] for one in found if one is not None)
    stack = Stack("Does every namesake get its own answer?", f"share of the {count} questions, %", shares)
    segments = {kind: Segment(f"{kind.replace('_', ' ')}:\n{CATEGORIES[kind]}", *look) for kind, look in LOOKS.items()}
    return draw_stacks([run.label for run in runs], [stack], segments, width, COLUMNS[width])
