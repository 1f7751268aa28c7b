"""A panel for each system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.reporting.figures.findings import NOT_KNOWN
from shadowprobe.reporting.figures.style import (
    ABOVE,
    COLOURS,
    LEGEND,
    LINE_HEIGHT,
    LINES,
    TICKS,
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


def draw_panels(
    runs: Sequence[FinishedRun],
    findings: Sequence[Any],
    draw: Callable[[Axes, Any, Mapping[str, dict[str, Any]]], str],
    width: Width,
    lines: Mapping[str, str],
    across: str,
    ticks: Sequence[str],
    upwards: str,
) -> Figure:
    """A panel a system, with the same lines in each and their legend below all; `lines` are their names by key.

    `draw` gets the findings of a system and the style of each line, and returns what stands below the name. The axis
    `across` goes from 0 to 1, and has `ticks`.
    """
    styles = {
        key: {"color": colour, "linestyle": line} for key, colour, line in zip(lines, COLOURS, LINES, strict=False)
    }
    legend = Legend(lines.values(), LEGEND[width], styles.values())
    columns = min(len(runs), COLUMNS[width])

    def draw_lines(axes: Axes, _: str, one: Any) -> str:
        return draw(axes, one, styles)

    room = 0.3 + legend.height
    figure, panels = draw_systems(runs, findings, draw_lines, width, columns, panel=PANEL[columns], room=room)
    for place, axes in panels.items():
        axes.set_xlim(0, 1)
        axes.set_xticks(TICKS, ticks)
        if place + columns >= len(runs):
            # The lowest of its column.
            axes.set_xlabel(across)
    figure.supylabel(upwards)
    legend.draw(figure)
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
    rows = -(-len(runs) // columns)
    figure, panels = make_panels(width, room, nrows=rows, ncols=columns)
    drawn: dict[int, Axes] = {}
    lines = 0
    for place, (run, one) in enumerate(zip(runs, findings, strict=True)):
        axes, title = panels[place], wrap_label(run.label, ABOVE)
        if one:
            drawn[place] = axes
            note = draw(axes, run.label, one)
            title = f"{title}\n{wrap_label(note, BELOW_NAME)}" if note else title
        else:
            axes.text(0.5, 0.5, NOT_KNOWN, transform=axes.transAxes, ha="center", va="center")
            axes.set_axis_off()
        axes.set_title(title)
        lines = max(lines, count_lines(title))
    figure.set_figheight(room + rows * (panel + LINE_HEIGHT * lines))
    for axes in panels[len(runs) :]:
        axes.remove()
    return figure, drawn
