"""What the probes of retrieval and of answers found in runs, for figures that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from shadowprobe.errors import UsageError
from shadowprobe.report.retrieval_table import COLLECTIONS
from shadowprobe.retrieval.amber_sets import TASKS
from shadowprobe.run_kinds import COMMANDS

if TYPE_CHECKING:
    from shadowprobe.probe import Findings
    from shadowprobe.retrieval.measured import MeasuredRun

AMBER, QUESTIONS, AMBIGDOCS = "amber", "entity_questions", "ambigdocs"
# A collection and a task.
Part = tuple[str, str]


def found_in(runs: Sequence[MeasuredRun], probe: str) -> list[Findings | None]:
    """The findings of every run, None where it has none; refuses runs none of which has any."""
    found: list[Findings | None] = []
    reasons = []
    for run in runs:
        told = run.results["probes"].get(probe)
        if told is None:
            reasons.append(f"it was not asked `{probe}`; `shadowprobe {COMMANDS[run.kind]} --probe {probe}` asks it")
        elif "not_measured" in told:
            reasons.append(told["not_measured"])
        found.append(told if told is not None and "not_measured" not in told else None)
    if not any(one is not None for one in found):
        raise UsageError(f"no such figure of `{runs[0].label}` ({runs[0].path}): {reasons[0]}")
    _refuse_other_queries([run for run, one in zip(runs, found, strict=True) if one is not None], probe)
    return found


def _refuse_other_queries(runs: Sequence[MeasuredRun], probe: str) -> None:
    """Refuses runs over different queries: no figure of them side by side would compare systems."""
    for run in runs[1:]:
        if _queries(run, probe) != _queries(runs[0], probe):
            raise UsageError(f"{run.path} is over other queries than {runs[0].path}: draw a figure of each")


def _queries(run: MeasuredRun, probe: str) -> object:
    queries = run.results["queries"]
    return queries.get(probe) if run.kind == "retriever" else queries


def parts_of(found: Sequence[Findings | None], chosen: str | None = None) -> list[Part]:
    """The collections and tasks of AmbER that there are, in the paper's order; of one collection if it is chosen."""
    told = [one for one in found if one is not None]
    held = [name for name in COLLECTIONS if any(name in one for one in told)]
    if chosen is not None and chosen not in held:
        raise UsageError(f"--collection {chosen}: the runs have {' and '.join(held)}")
    return [
        (collection, task)
        for collection in held
        if chosen in {None, collection}
        for task in (*TASKS, "queries")
        if any(task in one.get(collection, {}) for one in told)
    ]


def part(found: Findings | None, collection: str, task: str) -> Findings | None:
    """What was found of one collection and task, if anything."""
    told: Findings | None = (found or {}).get(collection, {}).get(task)
    return told


def title_of(collection: str, task: str) -> str:
    """A collection and a task as the title of a panel."""
    return f"{COLLECTIONS[collection].capitalize()},\n{TASKS.get(task, task)}"


def counted(runs: Sequence[MeasuredRun]) -> list[str]:
    """The numbers of documents that all runs count, as results.json has them, the smallest first."""
    common = set.intersection(*(set(run.results["settings"]["k"]) for run in runs))
    if not common:
        raise UsageError("the runs count other numbers of documents: give all of them the same -k")
    return [str(k) for k in sorted(common)]


def depths(runs: Sequence[MeasuredRun]) -> list[str]:
    """The smallest and the largest number of documents that all runs count."""
    ks = counted(runs)
    return ks if len(ks) == 1 else [ks[0], ks[-1]]


def of_documents(k: str) -> str:
    """A number of documents as the title of a panel."""
    return "in the first\ndocument" if k == "1" else f"in the first\n{k} documents"
