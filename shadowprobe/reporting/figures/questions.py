"""The accuracy on each relation of EntityQuestions, a row of points a relation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.queries.question_files import relations
from shadowprobe.reporting.figures.dots import DotPanel, draw_dots
from shadowprobe.reporting.figures.findings import Rate, read_findings
from shadowprobe.reporting.figures.style import Width, wrap_label
from shadowprobe.reporting.retriever_summary import QUESTIONS, shared_depths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shadowprobe.measure.probe import Findings
    from shadowprobe.running.finished import FinishedRun

MEAN = "mean over the relations"
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
    panels = [DotPanel(title_of_depth(k), [_read_rates(one, order, k) for one in findings]) for k in ks]
    about = "answered, %,\nwith 95% interval"
    return draw_dots([run.label for run in runs], words, panels, about, width, has_mean=True)


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


def _read_rates(one: Findings, order: Sequence[str], k: str) -> list[Rate]:
    """The rate of each relation, and last their mean, which has no interval."""
    if not one:
        return [Rate()] * (len(order) + 1)
    rows = [one["relations"][relation] for relation in order]
    return [*(Rate(row["accuracy"][k], row["accuracy_ci95"][k]) for row in rows), Rate(one["macro"][k])]


def _sort_relations(findings: Sequence[Findings], k: str) -> list[str]:
    """The relations, best answered first over all systems."""
    rates: dict[str, list[float]] = {}
    for one in findings:
        for relation, row in one.get("relations", {}).items():
            rates.setdefault(relation, []).append(row["accuracy"][k])
    return sorted(rates, key=lambda relation: (-sum(rates[relation]) / len(rates[relation]), relation))


def _name_relation(relation: str, characters: int) -> str:
    known = relations().get(relation)
    return wrap_label(f"{known.label} ({relation})", characters) if known is not None else relation
