"""How often the first documents hold the answer, by how frequent the subject is (EntityQuestions, Fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.figures.asked import QUESTIONS, depths, found_in, of_documents
from shadowprobe.figures.lines import Point, draw_lines
from shadowprobe.figures.style import ABOVE, LEGEND, Width, blank, compact, legend, legend_height, looks, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.retrieval.measured import MeasuredRun


def draw(runs: Sequence[MeasuredRun], width: Width = "one") -> Figure:
    """A panel for the least and the most documents; the rarest subjects stand at the left."""
    found = [(one or {}).get("buckets") or [] for one in found_in(runs, QUESTIONS)]
    if not any(found):
        raise UsageError(
            f"no such figure of `{runs[0].label}` ({runs[0].path}): its questions do not say how frequent subjects are"
        )
    ks = depths(runs)
    bounds = {row["bucket"]: row["lowest_frequency"] for rows in found for row in rows}
    told = all(low is not None for low in bounds.values())
    names = [wrapped(run.label, ABOVE) for run in runs]
    look = looks(run.label for run in runs)
    grid: dict[str, Any] = {"nrows": len(ks)} if width == "one" else {"ncols": len(ks)}
    height = 0.3 + 1.4 * len(ks) if width == "one" else 2.0
    figure, panels = blank(width, height + legend_height(names, LEGEND[width]), sharey=True, **grid)
    for axes, k in zip(panels, ks, strict=True):
        series = {
            run.label: {row["bucket"]: Point(row["accuracy"][k], row["accuracy_ci95"][k], row["n"]) for row in rows}
            for run, rows in zip(runs, found, strict=True)
        }
        handles = draw_lines(
            axes, sorted(bounds), series, look, lambda bucket: _least(bounds[bucket]) if told else str(bucket + 1)
        )
        axes.set_title(of_documents(k).replace("\n", " "))
        axes.set_ylim(0, 100)
        axes.set_yticks([0, 25, 50, 75, 100])
        axes.set_xlabel("frequency of the subject, at least" if told else "bucket of the subject, 1 the least frequent")
    figure.supylabel("answered, %, with 95% interval", fontsize=7)
    legend(figure, handles, names, LEGEND[width])
    return figure


def _least(frequency: int) -> str:
    """A frequency by its first two digits, and never above it: there is no room for more."""
    unit = 10 ** max(0, len(str(frequency)) - 2)
    return compact(frequency // unit * unit)
