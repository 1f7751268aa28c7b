"""How often the first documents hold the answer to a simple question, by relation (EntityQuestions, Table 5)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.figures.asked import QUESTIONS, depths, found_in, of_documents
from shadowprobe.figures.style import (
    ABOVE,
    LEGEND,
    LINE_HEIGHT,
    Look,
    Width,
    blank,
    legend,
    legend_height,
    lines_of,
    looks,
    wrapped,
)
from shadowprobe.retrieval.entity_questions import relations

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.probe import Findings
    from shadowprobe.retrieval.measured import MeasuredRun

MEAN = "mean over the relations"
# Inches of a row for each system, and around them; points.
ROW, AROUND, MARKER = 0.045, 0.06, 2.8
# Characters of the name of a relation on one line.
LABEL: dict[Width, int] = {"one": 26, "two": 44}


def draw(runs: Sequence[MeasuredRun], width: Width = "one") -> Figure:
    """A row a relation, those that are answered most often at the top; a panel for the least and the most documents."""
    found = found_in(runs, QUESTIONS)
    ks = depths(runs)
    order = _sorted(found, ks[0])
    words = [*(_named(relation, LABEL[width]) for relation in order), MEAN]
    ends = [0.0, *itertools.accumulate(AROUND + max(ROW * len(runs), LINE_HEIGHT * lines_of(one)) for one in words)]
    middles = [(above + below) / 2 for above, below in itertools.pairwise(ends)]
    names = [wrapped(run.label, ABOVE) for run in runs]
    look = looks(run.label for run in runs)
    figure, panels = blank(width, 0.85 + legend_height(names, LEGEND[width]) + ends[-1], ncols=len(ks), sharey=True)
    for axes, k in zip(panels, ks, strict=True):
        handles = []
        for number, (run, one) in enumerate(zip(runs, found, strict=True)):
            shift = ROW * (number - (len(runs) - 1) / 2)
            handles.append(_draw_dots(axes, [middle + shift for middle in middles], one, order, k, look[run.label]))
        axes.set_title(of_documents(k))
        axes.set_xlim(0, 100)
        axes.set_xticks([0, 50, 100] if width == "one" else [0, 25, 50, 75, 100])
        axes.set_xlabel("answered, %,\nwith 95% interval")
        axes.tick_params(axis="y", length=0)
        for end in ends[1:-1]:
            # The mean of all stands apart from what it is the mean of.
            axes.axhline(end, color="black" if end == ends[-2] else "#DDDDDD", linewidth=0.5, zorder=0)
    panels[0].set_yticks(middles, words)
    panels[0].set_ylim(ends[-1], 0)
    legend(figure, handles, names, LEGEND[width])
    return figure


def _draw_dots(
    axes: Axes, places: Sequence[float], one: Findings | None, order: Sequence[str], k: str, look: Look
) -> Any:
    """The rate of each relation, and last their mean, which has no interval."""
    rows: list[dict[str, Any]] = [one["relations"][relation] for relation in order] if one is not None else []
    rates = [row["accuracy"][k] for row in rows]
    reach = [
        (max(0.0, 100 * (rate - low)), max(0.0, 100 * (high - rate)))
        for rate, (low, high) in zip(rates, (row["accuracy_ci95"][k] for row in rows), strict=True)
    ]
    if one is not None:
        rates, reach = [*rates, one["macro"][k]], [*reach, (0.0, 0.0)]
    return axes.errorbar(
        [100 * rate for rate in rates],
        places[: len(rates)],
        xerr=list(zip(*reach, strict=True)) or None,
        color=look.colour,
        marker=look.marker,
        markersize=MARKER,
        linestyle="",
        elinewidth=0.6,
        capsize=0,
        clip_on=False,
    )


def _sorted(found: Sequence[Findings | None], k: str) -> list[str]:
    """The relations, best answered first over all systems."""
    rates: dict[str, list[float]] = {}
    for one in found:
        for relation, row in (one or {}).get("relations", {}).items():
            rates.setdefault(relation, []).append(row["accuracy"][k])
    return sorted(rates, key=lambda relation: (-sum(rates[relation]) / len(rates[relation]), relation))


def _named(relation: str, characters: int) -> str:
    known = relations().get(relation)
    return wrapped(f"{known.label} ({relation})", characters) if known is not None else relation
