"""How figures look: sizes, fonts, and the colour, hatch, marker and line of each system."""

from __future__ import annotations

import hashlib
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Width = Literal["one", "two"]
# One and two columns of a page, in inches.
WIDTHS: dict[Width, float] = {"one": 3.4, "two": 7.0}
# Characters of a system's name on one line beside its bars, and in a legend or title.
BESIDE: dict[Width, int] = {"one": 14, "two": 30}
ABOVE = 22
LINE_HEIGHT = 0.13
# Columns of a legend of systems.
LEGEND: dict[Width, int] = {"one": 2, "two": 4}

# Okabe and Ito's colours, which colour-blind readers can tell apart; but indigo for their black, on which no interval
# shows, and grey for their yellow, which is too pale for a line.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#332288", "#999999")
# These tell the systems apart where there is no colour. Hatches are lines only: dots make an SVG ten times as large.
HATCHES = ("", "////", "----", "\\\\\\\\", "xxxx", "||||", "++++", "//")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)), (0, (3, 1)))

STYLE: dict[str, Any] = {
    # Comes with matplotlib, so that a figure is the same everywhere.
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "hatch.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    # The dollar in the name of a system is a dollar.
    "text.parse_math": False,
    # TrueType: publishers refuse the Type 3 fonts that matplotlib embeds by default.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # Without it every SVG has other identifiers.
    "svg.hashsalt": "shadowprobe",
}
# White space breaks lines and is none of them; a file with one of the others is no XML, and so no SVG.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")


class Look(NamedTuple):
    """What tells a system from the others, with colour and without."""

    colour: str
    hatch: str
    marker: str
    line: Any


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """The look of each system: chosen by its label, so that it is the same in every figure.

    Where two labels fall on the same colour, the one that sorts later takes the next that is free.
    """
    taken: dict[int, str] = {}
    colours = len(COLOURS)
    for label in sorted(set(labels)):
        digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).digest()
        wanted = int.from_bytes(digest[:4], "big") % colours
        places = (colours * turn + (wanted + step) % colours for turn in itertools.count() for step in range(colours))
        taken[next(place for place in places if place not in taken)] = label
    return {label: _look(place) for place, label in taken.items()}


def _look(place: int) -> Look:
    # The ninth system has the colour of the first, and the hatch of the second.
    shape = (place + place // len(COLOURS)) % len(HATCHES)
    return Look(COLOURS[place % len(COLOURS)], HATCHES[shape], MARKERS[shape], LINES[shape])


@contextmanager
def styled() -> Iterator[None]:
    """Draws and saves in this style, whatever the user's own settings of matplotlib say."""
    from matplotlib import style

    with style.context(STYLE, after_reset=True):
        yield


def blank(width: Width, height: float, **layout: Any) -> tuple[Figure, list[Axes]]:
    """An empty figure with its panels, row by row; it belongs to no window and no notebook."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTHS[width], height), layout="constrained")
    panels = figure.subplots(squeeze=False, **layout)
    return figure, list(panels.flat)


def wrapped(label: str, characters: int) -> str:
    """A label on as many lines as it needs."""
    # An argument that is not UTF-8 has characters that no font can be asked for.
    printable = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", label.encode("utf-8", "replace").decode())
    return "\n".join(textwrap.wrap(printable, characters)) or "(no name)"


def lines_of(label: str) -> int:
    """How many lines a wrapped label has."""
    return label.count("\n") + 1


def legend_height(labels: Sequence[str], columns: int) -> float:
    """How much room a legend takes, in inches."""
    rows = -(-len(labels) // min(columns, len(labels)))
    return 0.1 + rows * LINE_HEIGHT * (max(map(lines_of, labels)) + 0.3)


def legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], columns: int) -> None:
    """Puts a legend below the panels."""
    # The texts are set afterwards: matplotlib leaves out a label that begins with an underscore.
    numbers = [str(place) for place in range(len(labels))]
    drawn = figure.legend(handles, numbers, loc="outside lower center", ncols=min(columns, len(labels)))
    for text, label in zip(drawn.get_texts(), labels, strict=True):
        text.set_text(label)


def compact(number: float) -> str:
    """A large number in few characters: 1k, 10k, 1M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
