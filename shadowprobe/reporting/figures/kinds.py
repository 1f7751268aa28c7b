"""Overshadowing by the kinds of the two entities of a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.reporting.figures.findings import read_all_findings, refusal
from shadowprobe.reporting.figures.style import ABOVE, WIDTHS, Width, make_panels, wrap_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

# Inches beside and above the squares of a panel, and below those of the last one.
BESIDE, OVER, BELOW = 1.8, 0.3, 0.8
LARGEST_SQUARE = 0.35
# The names of the axis and of the colours beside a panel need so much height, even if it has few squares.
LEAST_HEIGHT = 1.3
# No square of a pair is as white as a pair that does not occur.
LIGHTEST = 0.1
# Above this rate a square is so dark that its number is white.
DARK = 0.55


def kinds(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """Which kinds of entities are overshadowed, and by which? Share of names with one answer in both contexts."""
    findings = read_all_findings(runs, "kinds")
    for run, found in zip(runs, findings, strict=True):
        if not found["pairs"]:
            raise refusal(run, "no name has a kind for its Top and for its Shadow entity")
    names = sorted({pair[side] for found in findings for pair in found["pairs"] for side in ("shadow", "top")})
    square = min(LARGEST_SQUARE, (WIDTHS[width] - BESIDE) / len(names))
    height = len(runs) * (max(square * len(names), LEAST_HEIGHT) + OVER) + BELOW
    figure, panels = make_panels(width, height, nrows=len(runs), sharex=True)
    for axes, run, found in zip(panels, runs, findings, strict=True):
        axes.set_title(wrap_label(run.label, ABOVE))
        _draw_squares(axes, found, names)
    panels[-1].set_xlabel("kind of the Top entity")
    return figure


def _draw_squares(axes: Axes, found: Findings, names: Sequence[str]) -> None:
    """A square for each pair of kinds: the darker, the more names are overshadowed; its number is that of the names."""
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    rates = np.full((len(names), len(names)), np.nan)
    for pair in found["pairs"]:
        row, column = names.index(pair["shadow"]), names.index(pair["top"])
        rates[row, column] = pair["overshadowed"]
        colour = "white" if pair["overshadowed"] > DARK else "black"
        axes.text(column, row, str(pair["n"]), ha="center", va="center", color=colour, fontsize=5.5)
    shades = ListedColormap(colormaps["Greys"](np.linspace(LIGHTEST, 1, 256)))
    image = axes.imshow(rates, cmap=shades, vmin=0, vmax=1)
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylabel("kind of the Shadow entity")
    bar = axes.figure.colorbar(image, ax=axes, shrink=0.6)
    bar.set_label("same answer in both\ncontexts, %; number: names", fontsize=6)
    bar.set_ticks([0, 0.5, 1], labels=["0", "50", "100"])
