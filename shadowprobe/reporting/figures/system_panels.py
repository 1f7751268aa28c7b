"""A panel for each system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.reporting.figures.findings import NOT_KNOWN
from shadowprobe.reporting.figures.style import (
    ABOVE,
    COLOURS,
    LEGEND,
    LINE_HEIGHT,
    LINES,
    Legend,
    Width,
    count_lines,
    make_panels,
    wrap_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

COLUMNS: dict[Width, int] = {"one": 2, "two": 3}
# The height of a panel by the number of columns, in inches.
PANEL = {1: 1.7, 2: 1.05, 3: 1.7}
# Characters of a note on one line below the name of its system.
BELOW_NAME = 26
TICKS = [0, 0.25, 0.5, 0.75, 1]


class Drawing(NamedTuple):
    """What the panels share: the lines by their keys with their names, the axes, and how a panel is drawn."""

    lines: Mapping[str, str]
    across: str
    # What stands below the ticks of that axis, from 0 to 1.
    ticks: Sequence[float]
    upwards: str
    # Draws the findings of a system, each line in the given style; returns what stands below its name.
    draw: Callable[[Axes, Any, Mapping[str, dict[str, Any]]], str]


def draw_panels(runs: Sequence[FinishedRun], findings: Sequence[Any], drawing: Drawing, width: Width) -> Figure:
    """A panel a system, with the same lines in each and their legend below all."""
    styles = {
        key: {"color": colour, "linestyle": line}
        for key, colour, line in zip(drawing.lines, COLOURS, LINES, strict=False)
    }
    legend = Legend(drawing.lines.values(), LEGEND[width])
    columns = min(len(runs), COLUMNS[width])

    def draw(axes: Axes, _: str, one: Any) -> str:
        return drawing.draw(axes, one, styles)

    figure, panels = draw_systems(runs, findings, draw, width, columns, panel=PANEL[columns], room=0.3 + legend.height)
    for place, axes in panels.items():
        axes.set_xlim(0, 1)
        axes.set_xticks(TICKS, [f"{tick:g}" for tick in drawing.ticks])
        if place + columns >= len(runs):
            # The lowest of its column.
            axes.set_xlabel(drawing.across)
    figure.supylabel(drawing.upwards, fontsize=7)
    legend.draw(figure, [_make_handle(style) for style in styles.values()])
    return figure


def draw_systems(
    runs: Sequence[FinishedRun],
    findings: Sequence[Any],
    draw: Callable[[Axes, str, Any], str],
    width: Width,
    columns: int,
    *,
    panel: float,
    room: float,
) -> tuple[Figure, dict[int, Axes]]:
    """A panel a system, and those with findings by their place; a system without any is shown as not known.

    `draw` gets a panel, the label of its system and its findings, and returns what stands below the name. `panel` is
    the height of a panel, and `room` that of everything else, in inches.
    """
    names = [wrap_label(run.label, ABOVE) for run in runs]
    rows = -(-len(runs) // columns)
    figure, panels = make_panels(width, room + rows * panel, nrows=rows, ncols=columns)
    titles = list(names)
    drawn: dict[int, Axes] = {}
    for place, (run, name, one) in enumerate(zip(runs, names, findings, strict=True)):
        axes = panels[place]
        if one is None:
            axes.set_title(name)
            axes.text(0.5, 0.5, NOT_KNOWN, transform=axes.transAxes, ha="center", va="center")
            axes.set_axis_off()
            continue
        note = draw(axes, run.label, one)
        titles[place] = f"{name}\n{wrap_label(note, BELOW_NAME)}" if note else name
        axes.set_title(titles[place])
        drawn[place] = axes
    figure.set_figheight(room + rows * (panel + LINE_HEIGHT * max(map(count_lines, titles))))
    for axes in panels[len(runs) :]:
        axes.remove()
    return figure, drawn


def _make_handle(style: dict[str, Any]) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **style)
