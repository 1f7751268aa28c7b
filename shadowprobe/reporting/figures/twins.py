"""Two horizontal bars a system: a filled one above an outline in the same colour, so that both read without colour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from shadowprobe.reporting.figures.bars import draw_bar, lay_out_rows
from shadowprobe.reporting.figures.findings import Rate
from shadowprobe.reporting.figures.style import Legend, Width, assign_looks, show_percent, spread_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches, in which the rows are laid out.
BAR, BETWEEN, GREY = 0.14, 0.12, "#555555"


class Twins:
    """The rows and the legend that the panels of a figure share."""

    def __init__(self, labels: Sequence[str], groups: Iterable[str], width: Width) -> None:
        """`groups` are the words for the filled bars and for the outlines."""
        self._labels, self._width = labels, width
        self._rows = lay_out_rows(labels, width, 2 * BAR, BETWEEN)
        self._legend = Legend(groups, 2)
        self.height, self.legend_height = self._rows.height, self._legend.height

    def draw_on(self, axes: Axes, rates: Sequence[tuple[Rate, Rate]]) -> None:
        """Draws the two bars of each system into a panel."""
        look = assign_looks(self._labels)
        for label, place, pair in zip(self._labels, self._rows.places, rates, strict=True):
            for shift, rate in zip(spread_out(2, BAR), pair, strict=True):
                draw_bar(axes, place + shift, BAR, rate, look[label], filled=shift < 0)
        show_percent(axes, self._width)
        self._rows.show_on(axes)

    def draw_legend(self, figure: Figure) -> None:
        """Draws the legend below all panels."""
        from matplotlib.patches import Patch

        handles = [Patch(facecolor=GREY, edgecolor=GREY), Patch(facecolor="white", edgecolor=GREY, linewidth=0.9)]
        self._legend.draw(figure, handles)
