"""Shares that add up, as stacked horizontal bars in panels side by side, a row a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.reporting.figures.bars import BAR, make_frame
from shadowprobe.reporting.figures.findings import NOT_KNOWN
from shadowprobe.reporting.figures.style import Legend, Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A segment that is shorter, in per cent of a panel, has no room for its number.
ROOM = 8
# Columns of the legend.
COLUMNS: dict[Width, int] = {"one": 2, "two": 5}
# The colour and the hatch of five segments, from the best at the left to no answer at the right.
LOOKS = (("#0072B2", "////"), ("#56B4E9", ""), ("#F5C77E", ""), ("#D55E00", "\\\\\\\\"), ("#BDBDBD", "----"))


class Stack(NamedTuple):
    """A panel: what it shows, what its axis counts, and the shares of each system, None where they are not known."""

    title: str
    about: str
    shares: Sequence[Mapping[str, float] | None]


def draw_stacks(labels: Sequence[str], stacks: Sequence[Stack], words: Mapping[str, str], width: Width) -> Figure:
    """A bar a system in every panel; `words` are the names of the segments in the legend, by the keys of the shares."""
    legend = Legend(words.values(), COLUMNS[width])
    figure, panels, places = make_frame(labels, [one[:2] for one in stacks], width, 0.65 + legend.height)
    handles: list[Any] = []
    for axes, stack in zip(panels, stacks, strict=True):
        handles = _draw_stack(axes, stack, list(words), places)
    legend.draw(figure, handles)
    return figure


def _draw_stack(axes: Axes, stack: Stack, keys: Sequence[str], places: Sequence[float]) -> list[Any]:
    handles = []
    lefts = [0.0] * len(places)
    for key, (colour, hatch) in zip(keys, LOOKS, strict=True):
        lengths = [100 * shares[key] if shares is not None else 0.0 for shares in stack.shares]
        handles.append(axes.barh(places, lengths, BAR, lefts, color=colour, hatch=hatch, edgecolor="white", lw=0.6))
        for place, left, length in zip(places, lefts, lengths, strict=True):
            if length >= ROOM:
                _write_inside(axes, left + length / 2, place, f"{length:.0f}")
        lefts = [left + length for left, length in zip(lefts, lengths, strict=True)]
    for place, shares in zip(places, stack.shares, strict=True):
        if shares is None:
            _write_inside(axes, 50, place, NOT_KNOWN)
    return handles


def _write_inside(axes: Axes, x: float, y: float, text: str) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    axes.text(x, y, text, ha="center", va="center", fontsize=5.5, bbox=box)
