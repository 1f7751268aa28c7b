"""How figures look: sizes, fonts, and the colour, hatch, marker and line of each system."""

from __future__ import annotations

import hashlib
import itertools
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from shadowprobe.errors import UsageError

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
# Where shares from 0 to 1 have a tick, and what it says in per cent.
TICKS = (0, 0.25, 0.5, 0.75, 1)
PERCENT = [f"{100 * tick:g}" for tick in TICKS]
# Columns of a legend of systems.
LEGEND: dict[Width, int] = {"one": 2, "two": 4}

# Systems that many figures show: each has a colour of its own, by its place here.
NAMED = ("blend", "prior", "bm25", "tfidf", "dense", "llm", "lm", "random")

# Okabe and Ito's colours, which colour-blind readers can distinguish; but indigo for their black, on which no
# interval shows, and grey for their yellow, which is too pale for a line.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#332288", "#999999")
# These distinguish the systems where there is no colour. Hatches are lines only: dots make an SVG ten times as large.
HATCHES = ("", "////", "----", "\\\\\\\\", "xxxx", "||||", "++++", "//")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)), (0, (3, 1)))

STYLE: dict[str, Any] = {
    # Comes with matplotlib, so that a figure is the same everywhere.
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7,
    "axes.labelsize": 7,
    "figure.labelsize": 7,
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
# Comes with matplotlib too, and looks like the Times of most papers; its letters are smaller.
SERIF: dict[str, Any] = {"font.family": ["STIXGeneral", "DejaVu Sans"]}
# The colours that the user chose, by the labels of their systems.
_chosen: ContextVar[Mapping[str, str]] = ContextVar("chosen", default=MappingProxyType({}))
# Control characters other than white space: a file that has one of them is not valid XML, and so not valid SVG.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ufffe\uffff]")


class Look(NamedTuple):
    """What distinguishes a system from the others, with colour and without."""

    colour: str
    hatch: str
    marker: str
    line: Any

    @property
    def line_style(self) -> dict[str, Any]:
        """How its line is drawn."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.line}


def assign_looks(labels: Iterable[str]) -> dict[str, Look]:
    """The look of each system: chosen by its label alone, so that it is the same in every figure.

    Where two labels fall on the same colour, the later one takes the next that is free. The first are those for which
    the user chose one of COLOURS, then the systems of NAMED, then the others as they sort.
    """
    chosen = _chosen.get()
    taken: dict[int, str] = {}
    colours = len(COLOURS)

    def rank(label: str) -> tuple[bool, bool, bool, str]:
        """Who comes first; a system with a colour of its own takes none of the others'."""
        is_own = label in chosen and chosen[label] not in COLOURS
        return is_own, label not in chosen, label not in NAMED, label

    for label in sorted(set(labels), key=rank):
        wanted = _choose_place(label, chosen.get(label))
        places = (colours * turn + (wanted + step) % colours for turn in itertools.count() for step in range(colours))
        taken[next(place for place in places if place not in taken)] = label
    looks = {label: _make_look(place) for place, label in taken.items()}
    return {label: look._replace(colour=chosen.get(label, look.colour)) for label, look in looks.items()}


def _choose_place(label: str, colour: str | None) -> int:
    """The place of a label among the colours, if nobody else wants it."""
    if colour in COLOURS:
        return COLOURS.index(colour)
    if label in NAMED:
        return NAMED.index(label)
    digest = hashlib.sha256(label.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") % len(COLOURS)


def _make_look(place: int) -> Look:
    # The ninth system has the colour of the first, and the hatch of the second.
    shape = (place + place // len(COLOURS)) % len(HATCHES)
    return Look(COLOURS[place % len(COLOURS)], HATCHES[shape], MARKERS[shape], LINES[shape])


@contextmanager
def use_style(*, serif: bool = False, colours: Mapping[str, str] | None = None) -> Iterator[None]:
    """Draws and saves in this style, whatever the user's own settings of matplotlib say.

    `colours` are those that the user chose, by the labels of the systems.
    """
    from matplotlib import style

    token = _chosen.set({label: check_colour(colour) for label, colour in (colours or {}).items()})
    try:
        with style.context({**STYLE, **(SERIF if serif else {})}, after_reset=True):
            yield
    finally:
        _chosen.reset(token)


def check_colour(colour: str) -> str:
    """A colour as `#RRGGBB`; refuses what matplotlib does not know as one."""
    from matplotlib.colors import is_color_like, to_hex

    # A number is a shade of grey to matplotlib, and `C0` the first colour of a style that is not ours.
    if colour == "none" or not is_color_like(colour) or not re.fullmatch(r"#[0-9a-fA-F]{6}|[a-z:]+( [a-z]+)*", colour):
        raise UsageError(f"{colour!r} is no colour: give #RRGGBB, or a name such as teal")
    return to_hex(colour).upper()


def make_panels(width: Width, height: float, **layout: Any) -> tuple[Figure, list[Axes]]:
    """An empty figure with its panels, row by row; no window and no notebook shows it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTHS[width], height), layout="constrained")
    panels = figure.subplots(squeeze=False, **layout)
    return figure, list(panels.flat)


def stack_panels(
    width: Width, count: int, panel: float, room: float, **layout: Any
) -> tuple[Figure, list[Axes], list[Axes]]:
    """Panels below one another on a narrow page, and side by side on a wide one; and those at the bottom.

    `panel` is the height of a panel, and `room` that of everything else, in inches.
    """
    rows, columns = (count, 1) if width == "one" else (1, count)
    figure, panels = make_panels(width, room + panel * rows, nrows=rows, ncols=columns, **layout)
    return figure, panels, panels[-columns:]


def spread_out(count: int, step: float) -> list[float]:
    """How far each of some marks is from the middle of all."""
    return [step * (number - (count - 1) / 2) for number in range(count)]


def wrap_label(label: str, characters: int) -> str:
    """A label on as many lines as it needs."""
    # An argument that is not UTF-8 has characters that no font has.
    printable = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", label.encode("utf-8", "replace").decode())
    return "\n".join(textwrap.wrap(printable, characters)) or "(no name)"


def count_lines(label: str) -> int:
    """How many lines a wrapped label has."""
    return label.count("\n") + 1


class Legend:
    """A legend below the panels of a figure; `styles` are those of lines."""

    def __init__(self, labels: Iterable[str], columns: int, styles: Iterable[dict[str, Any]] = ()) -> None:
        self._labels, self._styles = list(labels), styles
        self._columns = min(columns, len(self._labels))

    @property
    def height(self) -> float:
        """How much room it takes, in inches."""
        rows = -(-len(self._labels) // self._columns)
        return 0.1 + rows * LINE_HEIGHT * (max(map(count_lines, self._labels)) + 0.3)

    def draw(self, figure: Figure, handles: Sequence[Any] = ()) -> None:
        """Draws it, with a handle or a line for each label."""
        from matplotlib.lines import Line2D

        shown = handles or [Line2D([], [], **style) for style in self._styles]
        # The texts are set afterwards: matplotlib leaves out a label that begins with an underscore.
        numbers = [str(place) for place in range(len(self._labels))]
        drawn = figure.legend(shown, numbers, loc="outside lower center", ncols=self._columns)
        for text, label in zip(drawn.get_texts(), self._labels, strict=True):
            text.set_text(label)


def scatter(axes: Axes, points: Sequence[Sequence[float]], number: int, **style: Any) -> Any:
    """Points, across and upwards, in the colour and with the marker of a number; returns their handle."""
    across, upwards = ([point[axis] for point in points] for axis in (0, 1))
    return axes.scatter(
        across, upwards, **{"color": COLOURS[number], "marker": MARKERS[number], "linewidths": 0, **style}
    )


def system_legend(labels: Collection[str], width: Width, notes: Iterable[str] = ()) -> Legend:
    """The legend of a figure's systems; a note may stand below each name."""
    pairs = itertools.zip_longest((wrap_label(label, ABOVE) for label in labels), notes)
    look = assign_looks(labels)
    texts = ("\n".join(filter(None, pair)) for pair in pairs)
    return Legend(texts, LEGEND[width], [look[label].line_style for label in labels])


def show_percent(axes: Axes, width: Width) -> None:
    """Lets a panel of horizontal rows run from 0 to 100%."""
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100] if width == "one" else [0, 25, 50, 75, 100])
    axes.tick_params(axis="y", length=0)


def error_lengths(value: float, interval: Sequence[float]) -> tuple[float, float]:
    """How far an interval reaches below a value and above it; never to the other side."""
    return max(0.0, value - interval[0]), max(0.0, interval[1] - value)


def shorten_number(number: float) -> str:
    """A large number in few characters: 1k, 10k, 1M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"
