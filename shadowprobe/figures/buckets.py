"""Accuracy by how common the gold entity is, on each subset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.dataset import GOLD_SUBSETS
from shadowprobe.figures.findings import findings
from shadowprobe.figures.lines import Point, draw_lines
from shadowprobe.figures.style import ABOVE, LEGEND, Width, blank, compact, legend, legend_height, looks, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.runs import FinishedRun


def draw(runs: Sequence[FinishedRun], width: Width = "one") -> Figure:
    """One panel a subset: Tail entities are rare too, but their names have no other to be mistaken for."""
    found = {run.label: findings(run, "popularity")["buckets"] for run in runs}
    subsets = [subset for subset in GOLD_SUBSETS if any(one.get(subset) for one in found.values())]
    look = looks(found)
    names = [wrapped(label, ABOVE) for label in found]
    grid = {"nrows": len(subsets)} if width == "one" else {"ncols": len(subsets)}
    height = 0.2 + 1.3 * len(subsets) if width == "one" else 1.9
    figure, panels = blank(width, height + legend_height(names, LEGEND[width]), sharey=True, **grid)
    for axes, subset in zip(panels, subsets, strict=True):
        series = {
            label: {
                row["at_least"]: Point(row["accuracy"], row["accuracy_ci95"], row["n"]) for row in one.get(subset, ())
            }
            for label, one in found.items()
        }
        categories = sorted({category for points in series.values() for category in points})
        handles = draw_lines(axes, categories, series, look, compact)
        axes.set_title(subset.capitalize())
        axes.set_ylim(0, 100)
        axes.set_yticks([0, 25, 50, 75, 100])
    figure.supylabel("right answers, %, with 95% interval", fontsize=7)
    # Below the lowest panel, or the one in the middle.
    below = panels[-1] if width == "one" else panels[len(panels) // 2]
    below.set_xlabel("commonness of the gold entity, at least")
    legend(figure, handles, names, LEGEND[width])
    return figure
