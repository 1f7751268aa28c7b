"""Right and wrong answers that repeat the prior or differ from it, on Top and on Shadow (Table 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.figures.findings import findings_of
from shadowprobe.figures.stacks import Segment, Stack, draw_stacks
from shadowprobe.figures.style import Width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun

# Right answers stand together at the left, so that they can be added up by eye.
SEGMENTS = {
    "prior_correct": Segment("right, the prior", "#0072B2", "////"),
    "context_correct": Segment("right, not the prior", "#56B4E9", ""),
    "context_wrong": Segment("wrong, not the prior", "#F5C77E", ""),
    "prior_wrong": Segment("wrong, the prior", "#D55E00", "\\\\\\\\"),
    "nil": Segment("NIL or skipped", "#BDBDBD", "----"),
}
SUBSETS = ("top", "shadow")
COLUMNS: dict[Width, int] = {"one": 2, "two": 5}


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """The five shares of each system as stacked bars."""
    found = findings_of(runs, "prior")
    subsets = [subset for subset in SUBSETS if all(subset in one for one in found if one is not None)]
    if not subsets:
        raise UsageError("no such figure: the runs share neither Top nor Shadow snippets")
    stacks = [
        Stack(
            subset.capitalize(),
            f"share of {subset.capitalize()}, %",
            [one[subset] if one is not None else None for one in found],
        )
        for subset in subsets
    ]
    return draw_stacks([run.label for run in runs], stacks, SEGMENTS, width, COLUMNS[width])
