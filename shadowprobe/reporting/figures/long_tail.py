"""The long tail of popularity: how popular entities are, by their rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.queries.amber_sets import COLLECTION_NAMES
from shadowprobe.reporting.figures.amber_panels import read_parts
from shadowprobe.reporting.figures.findings import refusal
from shadowprobe.reporting.figures.style import Legend, Width, scatter, shorten_number, stack_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun

GROUPS = {"head": "head, the most popular of its name", "tail": "tail, its namesakes"}
HEIGHTS: dict[Width, float] = {"one": 1.5, "two": 2.0}


def long_tail(runs: Sequence[FinishedRun], width: Width, collection: str | None = None) -> Figure:
    """How popular the entities of AmbER sets are, by their rank (AmbER, Fig. 2); where the sets have page views.

    A point an entity, or one of many at higher ranks. It shows the sets and not the systems.
    """
    curves: dict[str, list[dict[str, Any]]] = {}
    for (name, _), findings in read_parts(runs, collection).items():
        found = next((one["long_tail"] for one in findings if one.get("long_tail")), None)
        if found is not None:
            # All tasks of a collection are about the same entities.
            curves.setdefault(name, found)
    if not curves:
        raise refusal(runs[0], "its AmbER sets do not say how popular entities are")
    legend = Legend(GROUPS.values(), 1 if width == "one" else 2)
    figure, panels, lowest = stack_panels(width, len(curves), HEIGHTS[width], 0.3 + legend.height, sharey=True)
    handles: list[Any] = []
    for axes, (name, points) in zip(panels, curves.items(), strict=True):
        handles = _draw_curve(axes, points)
        axes.set_title(COLLECTION_NAMES[name].capitalize())
    # All panels share the axis, so that none may choose its own end.
    panels[0].set_ylim(0, 1.05 * max(1.0, *(points[0]["popularity"] for points in curves.values())))
    for axes in lowest:
        axes.set_xlabel("rank of the entity by its popularity")
    figure.supylabel("popularity (logarithm of page views)")
    legend.draw(figure, handles)
    return figure


def _draw_curve(axes: Axes, points: Sequence[dict[str, Any]]) -> list[Any]:
    axes.plot([one["rank"] for one in points], [one["popularity"] for one in points], color="#999999", linewidth=0.5)
    handles = []
    for number, group in enumerate(GROUPS):
        members = [(one["rank"], one["popularity"]) for one in points if one["group"] == group]
        handles.append(scatter(axes, members, number, s=6, zorder=2))
    axes.set_xscale("log")
    last = points[-1]["rank"]
    ticks = [10**power for power in range(len(str(last)))]
    axes.set_xticks(ticks, [shorten_number(tick) for tick in ticks])
    return handles
