"""Panels of AmbER's collections and tasks in a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.figures.asked import Part, title_of
from shadowprobe.figures.style import Width, blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Grid:
    """A figure with one panel for each part; the panels of a task stand beside one another on a narrow page."""

    def __init__(
        self,
        parts: Sequence[Part],
        width: Width,
        panel: float,
        room: float,
        columns: int | None = None,
        sharex: bool = True,
    ) -> None:
        """`panel` and `room` are the heights of a panel, and of all that is none, in inches."""
        collections = list(dict.fromkeys(collection for collection, _ in parts))
        tasks = list(dict.fromkeys(task for _, task in parts))
        wide = [[(collection, task) for task in tasks] for collection in collections]
        lines = wide if width == "two" else [list(column) for column in zip(*wide, strict=True)]
        if columns is not None:
            flat = [one for line in wide for one in line]
            lines = [flat[start : start + columns] for start in range(0, len(flat), columns)]
        self.columns = len(lines[0])
        figure, panels = blank(
            width, room + panel * len(lines), nrows=len(lines), ncols=self.columns, sharex=sharex, sharey=True
        )
        self.figure: Figure = figure
        self.panels: dict[Part, Axes] = {}
        for axes, one in zip(panels, (one for line in lines for one in line), strict=True):
            if one in parts:
                self.panels[one] = axes
                axes.set_title(title_of(*one))
            else:
                axes.set_axis_off()

    @property
    def lowest(self) -> list[Axes]:
        """The panels of the last line, below which the axis is named."""
        return list(self.panels.values())[-self.columns :]
