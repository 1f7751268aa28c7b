"""Accuracy on the head minus accuracy on the tail, by how much more popular the head is (AmbER, Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.figures.asked import AMBER, found_in, part, parts_of
from shadowprobe.figures.grid import Grid
from shadowprobe.figures.popularity_gap import LEAST
from shadowprobe.figures.style import ABOVE, LEGEND, Look, Width, legend, legend_height, looks, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.retrieval.measured import MeasuredRun


def draw(runs: Sequence[MeasuredRun], width: Width = "one", collection: str | None = None) -> Figure:
    """A retriever that reads the query stays near 0 however wide the gap; the number of queries is below each bin."""
    found = found_in(runs, AMBER)
    rows = {
        one: [(part(each, *one) or {}).get("popularity") or [] for each in found] for one in parts_of(found, collection)
    }
    rows = {one: bins for one, bins in rows.items() if any(bins)}
    if not rows:
        raise UsageError(
            f"no such figure of `{runs[0].label}` ({runs[0].path}): its AmbER sets do not say how popular entities are"
        )
    names = [wrapped(run.label, ABOVE) for run in runs]
    look = looks(run.label for run in runs)
    # Each bin has its own number of queries in every panel, so that no axis is shared; on a narrow page they stack.
    grid = Grid(
        list(rows),
        width,
        panel=1.35,
        room=0.45 + legend_height(names, LEGEND[width]),
        columns=1 if width == "one" else None,
        sharex=False,
    )
    edges = sorted({row["at_least"] for bins in rows.values() for each in bins for row in each})
    for one, axes in grid.panels.items():
        axes.axhline(0, color="black", linewidth=0.6)
        handles = [_draw_line(axes, bins, edges, look[run.label]) for run, bins in zip(runs, rows[one], strict=True)]
        counts = {row["at_least"]: row["head"]["n"] + row["tail"]["n"] for bins in rows[one] for row in bins}
        axes.set_xticks(range(len(edges)), [f"{100 * low:.0f}\n{counts.get(low, 0)}" for low in edges])
        axes.set_xlim(-0.5, len(edges) - 0.5)
    grid.figure.supylabel("right on head minus on tail, points", fontsize=7)
    below = grid.lowest[len(grid.lowest) // 2]
    below.set_xlabel("head more popular by, % of the tail, at least;\nbelow it the number of queries")
    # Where no system differs, the axis would zoom in on nothing.
    low, high = below.get_ylim()
    below.set_ylim(min(low, -LEAST), max(high, LEAST))
    legend(grid.figure, handles, names, LEGEND[width])
    return grid.figure


def _draw_line(axes: Axes, bins: Sequence[dict[str, Any]], edges: Sequence[float], look: Look) -> Any:
    (line,) = axes.plot(
        [edges.index(row["at_least"]) for row in bins],
        [100 * row["difference"] for row in bins],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line,
        clip_on=False,
    )
    return line
