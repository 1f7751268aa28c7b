"""The figures of language models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.reporting.figures.findings import read_findings
from shadowprobe.reporting.figures.stacks import Stack, draw_stacks
from shadowprobe.reporting.figures.style import Width
from shadowprobe.reporting.model_summary import AMBIGDOCS, CATEGORIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

# From the best at the left to the one that says nothing.
ORDER = ("complete", "partial", "ambiguous", "merged", "no_answer")


def answer_categories(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """What kind of answers a language model gives about documents on namesakes (AmbigDocs)."""
    findings = read_findings(runs, AMBIGDOCS)
    shares = [
        {kind: row["share"] for kind, row in one["categories"].items()} if one is not None else None for one in findings
    ]
    count = next(one["n"] for one in findings if one is not None)
    stack = Stack("Does every namesake get its own answer?", f"share of the {count} questions, %", shares)
    segments = {kind: f"{kind.replace('_', ' ')}:\n{CATEGORIES[kind]}" for kind in ORDER}
    return draw_stacks([run.label for run in runs], [stack], segments, width)
