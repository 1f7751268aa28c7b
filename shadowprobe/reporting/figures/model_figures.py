"""The figures of language models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.reporting.figures.findings import read_findings
from shadowprobe.reporting.figures.lines import Panel, Point, draw_rates
from shadowprobe.reporting.figures.stacks import Stack, draw_stacks
from shadowprobe.reporting.figures.style import Width
from shadowprobe.reporting.model_summary import AMBIGDOCS, CATEGORIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

# From the best at the left to the one that says nothing.
ORDER = ("complete", "partial", "ambiguous", "merged", "no_answer")


def answer_categories(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """What kind of answers a language model gives about documents on namesakes (AmbigDocs)."""
    findings = read_findings(runs, AMBIGDOCS)
    shares = [{kind: row["share"] for kind, row in one["categories"].items()} if one else None for one in findings]
    count = next(one["n"] for one in findings if one)
    stack = Stack("Does every namesake get its own answer?", f"share of the {count} questions, %", shares)
    segments = {kind: f"{kind.replace('_', ' ')}:\n{CATEGORIES[kind]}" for kind in ORDER}
    return draw_stacks([run.label for run in runs], [stack], segments, width)


def answer_positions(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How often the answer of the document at each position is given: is the first one favoured? (AmbigDocs)"""
    findings = read_findings(runs, AMBIGDOCS)
    positions = [one.get("positions", {}) for one in findings]
    panels = [
        Panel(title, {run.label: _read_points(one.get(key, {})) for run, one in zip(runs, positions, strict=True)}, str)
        for key, title in (("given", "Its answer is given"), ("with_entity", "Its answer is given with its entity"))
    ]
    if not any(points for panel in panels for points in panel.series.values()):
        raise UsageError("no run knows in which order its model saw the documents: `answer --order` says it")
    figure, lowest = draw_rates(panels, "documents, %, with 95% interval", width, 1.5)
    for axes in lowest:
        axes.set_xlabel("position of the document")
    return figure


def _read_points(shares: Findings) -> dict[int, Point]:
    return {int(position): Point(share["rate"], share["ci95"], share["n"]) for position, share in shares.items()}
