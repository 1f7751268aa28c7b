"""Right and wrong answers that repeat the prior or differ from it, on Top and on Shadow (Table 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.figures.bars import BAR, frame
from shadowprobe.figures.findings import NOT_KNOWN, findings_of
from shadowprobe.figures.style import Width, legend, legend_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun

# Right answers stand together at the left, so that they can be added up by eye.
SEGMENTS = {
    "prior_correct": ("right, the prior", "#0072B2", "////"),
    "context_correct": ("right, not the prior", "#56B4E9", ""),
    "context_wrong": ("wrong, not the prior", "#F5C77E", ""),
    "prior_wrong": ("wrong, the prior", "#D55E00", "\\\\\\\\"),
    "nil": ("NIL or skipped", "#BDBDBD", "----"),
}
SUBSETS = ("top", "shadow")
# A segment that is shorter, in per cent, has no room for its number.
ROOM: dict[Width, int] = {"one": 16, "two": 8}


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """The five shares of each system as stacked bars."""
    found = findings_of(runs, "prior")
    subsets = [subset for subset in SUBSETS if all(subset in one for one in found if one is not None)]
    if not subsets:
        raise UsageError("no such figure: the runs share neither Top nor Shadow snippets")
    words = [words for words, _, _ in SEGMENTS.values()]
    columns = 2 if width == "one" else len(words)
    room = 0.65 + legend_height(words, columns)
    titles = [subset.capitalize() for subset in subsets]
    figure, panels, places = frame([run.label for run in runs], titles, width, room)
    handles: list[Any] = []
    for axes, subset in zip(panels, subsets, strict=True):
        lefts = [0.0] * len(runs)
        handles.clear()
        for key, (_, colour, hatch) in SEGMENTS.items():
            lengths = [100 * one[subset][key] if one is not None else 0.0 for one in found]
            handles.append(axes.barh(places, lengths, BAR, lefts, color=colour, hatch=hatch, edgecolor="white", lw=0.6))
            for place, left, length in zip(places, lefts, lengths, strict=True):
                if length >= ROOM[width]:
                    _write_inside(axes, left + length / 2, place, f"{length:.0f}")
            lefts = [left + length for left, length in zip(lefts, lengths, strict=True)]
        for place, one in zip(places, found, strict=True):
            if one is None:
                _write_inside(axes, 50, place, NOT_KNOWN)
        axes.set_xlabel(f"share of {subset.capitalize()}, %")
    legend(figure, handles, words, columns)
    return figure


def _write_inside(axes: Axes, x: float, y: float, text: str) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.text(x, y, text, ha="center", va="center", fontsize=6, bbox=box)
