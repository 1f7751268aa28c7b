"""Shares that add up, as stacked horizontal bars in panels side by side, a row a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.figures.bars import BAR, frame
from shadowprobe.figures.findings import NOT_KNOWN
from shadowprobe.figures.style import Width, legend, legend_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A segment that is shorter, in per cent of a panel, has no room for its number.
ROOM: dict[Width, int] = {"one": 16, "two": 8}


class Segment(NamedTuple):
    """What a share is called, and how it looks with colour and without."""

    words: str
    colour: str
    hatch: str


class Stack(NamedTuple):
    """A panel: what it shows, what its axis counts, and the shares of each system, None where they are not known."""

    title: str
    about: str
    shares: Sequence[Mapping[str, float] | None]


def draw_stacks(
    labels: Sequence[str], stacks: Sequence[Stack], segments: Mapping[str, Segment], width: Width, columns: int
) -> Figure:
    """A bar a system in every panel, its segments in the order in which they are given; `columns` are the legend's."""
    words = [segment.words for segment in segments.values()]
    room = 0.65 + legend_height(words, columns)
    figure, panels, places = frame(labels, [stack.title for stack in stacks], width, room)
    handles: list[Any] = []
    for axes, stack in zip(panels, stacks, strict=True):
        handles = _draw_stack(axes, stack, segments, places, ROOM[width] * len(stacks) / 2)
        axes.set_xlabel(stack.about)
    legend(figure, handles, words, columns)
    return figure


def _draw_stack(
    axes: Axes, stack: Stack, segments: Mapping[str, Segment], places: Sequence[float], room: float
) -> list[Any]:
    handles = []
    lefts = [0.0] * len(places)
    for key, (_, colour, hatch) in segments.items():
        lengths = [100 * shares[key] if shares is not None else 0.0 for shares in stack.shares]
        handles.append(axes.barh(places, lengths, BAR, lefts, color=colour, hatch=hatch, edgecolor="white", lw=0.6))
        for place, left, length in zip(places, lefts, lengths, strict=True):
            if length >= room:
                _write_inside(axes, left + length / 2, place, f"{length:.0f}")
        lefts = [left + length for left, length in zip(lefts, lengths, strict=True)]
    for place, shares in zip(places, stack.shares, strict=True):
        if shares is None:
            _write_inside(axes, 50, place, NOT_KNOWN)
    return handles


def _write_inside(axes: Axes, x: float, y: float, text: str) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.text(x, y, text, ha="center", va="center", fontsize=6, bbox=box)
