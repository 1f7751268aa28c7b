"""Panels of AmbER's collections and tasks, and the bars of head and tail in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.reporting.figures.findings import Rate, read_findings
from shadowprobe.reporting.figures.style import Width, make_panels
from shadowprobe.reporting.figures.twins import Twins
from shadowprobe.reporting.retriever_summary import AMBER, TASK_NAMES, Part, list_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

GROUPS = {
    "head": "queries about the head, the\nmost popular of its name",
    "tail": "queries about the tail,\nits namesakes",
}
# Of the head and of the tail the rate with its 95% interval, or nothing.
Rates = Mapping[str, Mapping[str, Any] | None]


def read_parts(runs: Sequence[FinishedRun], chosen: str | None) -> dict[Part, list[Findings]]:
    """The findings of every run by collection and task, empty where it has none; of one collection if it is chosen."""
    findings = read_findings(runs, AMBER)
    parts = list_parts(findings)
    collections = list(dict.fromkeys(collection for collection, _ in parts))
    if chosen is not None and chosen not in collections:
        raise UsageError(f"--collection {chosen}: the runs have {' and '.join(collections)}")
    return {
        (collection, task): [one.get(collection, {}).get(task, {}) for one in findings]
        for collection, task in parts
        if chosen in {None, collection}
    }


class Grid:
    """A figure with one panel for each part; the panels of a task are side by side on a narrow page."""

    def __init__(
        self, parts: Sequence[Part], width: Width, panel: float, room: float, *, own_axes: bool = False
    ) -> None:
        """`panel` is the height of a panel, and `room` that of everything else, in inches.

        With axes of their own, all panels stack on a narrow page.
        """
        collections = list(dict.fromkeys(collection for collection, _ in parts))
        tasks = list(dict.fromkeys(task for _, task in parts))
        if width == "two":
            lines = [[(collection, task) for task in tasks] for collection in collections]
        elif own_axes:
            lines = [[part] for part in parts]
        else:
            lines = [[(collection, task) for collection in collections] for task in tasks]
        rows, columns = len(lines), len(lines[0])
        self.figure, panels = make_panels(
            width, room + panel * rows, nrows=rows, ncols=columns, sharex=not own_axes, sharey=True
        )
        self.panels: dict[Part, Axes] = {}
        for axes, (collection, task) in zip(panels, (part for line in lines for part in line), strict=True):
            if (collection, task) in parts:
                self.panels[collection, task] = axes
                axes.set_title(f"{COLLECTION_NAMES[collection].capitalize()},\n{TASK_NAMES[task]}")
            else:
                axes.set_axis_off()
        # A shared axis has its numbers and names beside the first panel and below the last: these may be empty.
        for line in lines:
            next(self.panels[part] for part in line if part in self.panels).tick_params(labelleft=True)
        for column in zip(*lines, strict=True):
            next(self.panels[part] for part in reversed(column) if part in self.panels).tick_params(labelbottom=True)
        # Those of the last line, below which the axis is named.
        self.lowest = [self.panels[part] for part in lines[-1] if part in self.panels]


def draw_pairs(
    runs: Sequence[FinishedRun], rates_of: Callable[[Findings], Rates], about: str, width: Width, collection: str | None
) -> Figure:
    """Head above tail: two horizontal bars a system; `rates_of` gives the rates in the findings of a part."""
    findings = read_parts(runs, collection)
    twins = Twins([run.label for run in runs], GROUPS.values(), width)
    grid = Grid(list(findings), width, panel=0.45 + twins.height, room=0.4 + twins.legend_height)
    for part, axes in grid.panels.items():
        rates = [rates_of(row) if row else {} for row in findings[part]]
        twins.draw_on(axes, [(_make_rate(row.get("head")), _make_rate(row.get("tail"))) for row in rates])
    for axes in grid.lowest:
        axes.set_xlabel(about)
    twins.draw_legend(grid.figure)
    return grid.figure


def _make_rate(row: Mapping[str, Any] | None) -> Rate:
    return Rate(row["rate"], row["ci95"]) if row else Rate()
