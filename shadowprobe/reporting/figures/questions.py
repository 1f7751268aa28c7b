"""The accuracy on each relation of EntityQuestions, a row of points a relation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError
from shadowprobe.queries.question_files import relations
from shadowprobe.reporting.figures.findings import read_findings
from shadowprobe.reporting.figures.style import (
    LINE_HEIGHT,
    Look,
    Width,
    assign_looks,
    count_lines,
    error_lengths,
    make_panels,
    show_percent,
    system_legend,
    wrap_label,
)
from shadowprobe.reporting.retriever_summary import QUESTIONS, shared_depths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

MEAN = "mean over the relations"
# Inches of a row for each system, and around them; points.
ROW, AROUND, MARKER = 0.045, 0.06, 2.8
# Characters of the name of a relation on one line.
LABEL: dict[Width, int] = {"one": 26, "two": 44}


def questions(runs: Sequence[FinishedRun], width: Width) -> Figure:
    """How often the first documents hold the answer to a simple question, by relation (EntityQuestions, Table 5).

    A row a relation, those that are answered most often at the top; a panel for the least and the most documents.
    """
    findings = read_findings(runs, QUESTIONS)
    ks = least_and_most(runs)
    order = _sort_relations(findings, ks[0])
    words = [*(_name_relation(relation, LABEL[width]) for relation in order), MEAN]
    ends = [0.0, *itertools.accumulate(AROUND + max(ROW * len(runs), LINE_HEIGHT * count_lines(one)) for one in words)]
    middles = [(above + below) / 2 for above, below in itertools.pairwise(ends)]
    labels = [run.label for run in runs]
    look, legend = assign_looks(labels), system_legend(labels, width)
    figure, panels = make_panels(width, 0.85 + legend.height + ends[-1], ncols=len(ks), sharey=True)
    for axes, k in zip(panels, ks, strict=True):
        handles = []
        for number, (label, one) in enumerate(zip(labels, findings, strict=True)):
            shift = ROW * (number - (len(runs) - 1) / 2)
            handles.append(_draw_dots(axes, [middle + shift for middle in middles], one, order, k, look[label]))
        axes.set_title(title_of_depth(k))
        show_percent(axes, width)
        axes.set_xlabel("answered, %,\nwith 95% interval")
        for end in ends[1:-1]:
            # The mean of all stands apart from what it is the mean of.
            axes.axhline(end, color="black" if end == ends[-2] else "#DDDDDD", linewidth=0.5, zorder=0)
    panels[0].set_yticks(middles, words)
    panels[0].set_ylim(ends[-1], 0)
    legend.draw(figure, handles)
    return figure


def common_depths(runs: Sequence[FinishedRun]) -> list[str]:
    """The numbers of documents that all runs of retrievers count, smallest first; refuses runs that share none."""
    ks = shared_depths([run.results for run in runs])
    if not ks:
        raise UsageError("the runs count other numbers of documents: give all of them the same -k")
    return ks


def least_and_most(runs: Sequence[FinishedRun]) -> list[str]:
    """The smallest and the largest number of documents that all runs count."""
    ks = common_depths(runs)
    return ks if len(ks) == 1 else [ks[0], ks[-1]]


def title_of_depth(k: str) -> str:
    """A number of documents as the title of a panel."""
    return "in the first\ndocument" if k == "1" else f"in the first\n{k} documents"


def _draw_dots(
    axes: Axes, places: Sequence[float], one: Findings | None, order: Sequence[str], k: str, look: Look
) -> Any:
    """The rate of each relation, and last their mean, which has no interval."""
    rows: list[dict[str, Any]] = [one["relations"][relation] for relation in order] if one is not None else []
    rates = [row["accuracy"][k] for row in rows]
    errors = [error_lengths(row["accuracy"][k], row["accuracy_ci95"][k]) for row in rows]
    if one is not None:
        rates, errors = [*rates, one["macro"][k]], [*errors, (0.0, 0.0)]
    return axes.errorbar(
        [100 * rate for rate in rates],
        places[: len(rates)],
        xerr=[[100 * length for length in lengths] for lengths in zip(*errors, strict=True)] or None,
        **{**look.line_style, "linestyle": ""},
        markersize=MARKER,
        elinewidth=0.6,
        capsize=0,
        clip_on=False,
    )


def _sort_relations(findings: Sequence[Findings | None], k: str) -> list[str]:
    """The relations, best answered first over all systems."""
    rates: dict[str, list[float]] = {}
    for one in findings:
        for relation, row in (one or {}).get("relations", {}).items():
            rates.setdefault(relation, []).append(row["accuracy"][k])
    return sorted(rates, key=lambda relation: (-sum(rates[relation]) / len(rates[relation]), relation))


def _name_relation(relation: str, characters: int) -> str:
    known = relations().get(relation)
    return wrap_label(f"{known.label} ({relation})", characters) if known is not None else relation
