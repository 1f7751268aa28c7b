"""The figures of retrievers but `questions`, which draws in a way of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.reporting.figures.amber_panels import Grid, draw_pairs, read_parts
from shadowprobe.reporting.figures.findings import read_findings, refusal
from shadowprobe.reporting.figures.lines import Panel, Point, draw_rates, show_differences
from shadowprobe.reporting.figures.questions import common_depths, least_and_most, title_of_depth
from shadowprobe.reporting.figures.style import Width, assign_looks, shorten_number, system_legend
from shadowprobe.reporting.retriever_summary import QUESTIONS, SEEN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.running.finished import FinishedRun


def head_tail(runs: Sequence[FinishedRun], width: Width, collection: str | None = None) -> Figure:
    """How often the right document comes first, for the most popular of a name and for its namesakes (AmbER, Table 5).

    A panel a task of each collection; where the tail falls short of the head, popularity decides.
    """
    k = common_depths(runs)[0]
    first = "first" if k == "1" else f"among the first {k}"
    about = f"right document {first},\n% of queries, 95% interval"
    return draw_pairs(runs, lambda row: row["accuracy"][k], about, width, collection)


def confusion(runs: Sequence[FinishedRun], width: Width, collection: str | None = None) -> Figure:
    """How often a namesake's document stands above the right one, for the head and for the tail (AmbER, Table 6)."""
    about = "a namesake above it,\n% of queries, 95% interval"
    return draw_pairs(runs, lambda row: row["confusion"], about, width, collection)


def retrieval_gap(runs: Sequence[FinishedRun], width: Width, collection: str | None = None) -> Figure:
    """Accuracy on the head minus accuracy on the tail, by how much more popular the head is (AmbER, Fig. 4).

    A retriever that reads the query stays near 0 however wide the gap; the number of queries is below each bin.
    """
    bins = {
        part: [one.get("popularity") or [] for one in findings]
        for part, findings in read_parts(runs, collection).items()
    }
    bins = {part: by_run for part, by_run in bins.items() if any(by_run)}
    if not bins:
        raise refusal(runs[0], "its AmbER sets do not say how popular entities are")
    labels = [run.label for run in runs]
    look, legend = assign_looks(labels), system_legend(labels, width)
    # Each bin has its own number of queries in every panel.
    grid = Grid(list(bins), width, panel=1.35, room=0.45 + legend.height, own_axes=True)
    edges = sorted({row["at_least"] for by_run in bins.values() for rows in by_run for row in rows})
    for part, axes in grid.panels.items():
        axes.axhline(0, color="black", linewidth=0.6)
        for label, rows in zip(labels, bins[part], strict=True):
            places = [edges.index(row["at_least"]) for row in rows]
            differences = [100 * row["difference"] for row in rows]
            axes.plot(places, differences, **look[label].line_style, clip_on=False)
        counts = {row["at_least"]: row["head"]["n"] + row["tail"]["n"] for rows in bins[part] for row in rows}
        axes.set_xticks(range(len(edges)), [f"{100 * low:.0f}\n{counts.get(low, 0)}" for low in edges])
        axes.set_xlim(-0.5, len(edges) - 0.5)
    grid.figure.supylabel("right on head minus on tail, points")
    below = grid.lowest[len(grid.lowest) // 2]
    below.set_xlabel("head more popular by, % of the tail, at least;\nbelow it the number of queries")
    show_differences(below)
    legend.draw(grid.figure)
    return grid.figure


def question_buckets(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How often the first documents hold the answer, by how frequent the subject is (EntityQuestions, Fig. 1).

    A panel for the least and the most documents; the rarest subjects stand at the left. Where a run marks entities that
    were seen in training (`retrieve --seen`), these and the others have a line each.
    """
    buckets = [one.get("buckets") or [] for one in read_findings(runs, QUESTIONS)]
    if not any(buckets):
        raise refusal(runs[0], "its questions do not say how frequent subjects are")
    bounds = {row["bucket"]: row["lowest_frequency"] for rows in buckets for row in rows}
    are_known = all(low is not None for low in bounds.values())
    panels = [
        Panel(
            title_of_depth(k).replace("\n", " "),
            {
                label: points
                for run, rows in zip(runs, buckets, strict=True)
                for label, points in _make_lines(run.label, rows, k).items()
            },
            lambda bucket: _write_least(bounds[bucket]) if are_known else str(bucket + 1),
        )
        for k in least_and_most(runs)
    ]
    height = 1.25 if width == "one" else 1.7
    figure, lowest = draw_rates(panels, "answered, %, with 95% interval", width, height)
    for axes in lowest:
        axes.set_xlabel(
            "frequency of the subject, at least" if are_known else "bucket of the subject, 1 the least frequent"
        )
    return figure


def _make_lines(label: str, rows: Sequence[dict[str, Any]], k: str) -> dict[str, dict[int, Point]]:
    """The points of a run, or of entities that were seen in training and of the others, by what a line is called."""
    if any(name in row for row in rows for name in SEEN):
        return {f"{label}, {name}": _make_points({row["bucket"]: row[name] for row in rows}, k) for name in SEEN}
    return {label: _make_points({row["bucket"]: row for row in rows}, k)}


def _make_points(rows: Mapping[int, dict[str, Any]], k: str) -> dict[int, Point]:
    """A point for each bucket that has questions."""
    return {
        bucket: Point(row["accuracy"][k], row["accuracy_ci95"][k], row["n"]) for bucket, row in rows.items() if row["n"]
    }


def _write_least(frequency: int) -> str:
    """A frequency by its first two digits, and never above it: there is no room for more."""
    unit = 10 ** max(0, len(str(frequency)) - 2)
    return shorten_number(frequency // unit * unit)
