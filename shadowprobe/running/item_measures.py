"""What is compared between runs: for each measure, whether it holds for each item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shadowprobe.measure.answer_columns import Booleans, Ints
from shadowprobe.measure.answers import Answers
from shadowprobe.measure.pairs import both_right, has_prior, overshadowed, prior_biased
from shadowprobe.running.finished import FinishedRun

# In the order of the columns of Table 3.
SUBSETS = ("shadow", "top", "tail", "all")
OVERSHADOWED, PRIOR_BIAS, BOTH_RIGHT = "overshadowed", "prior_bias", "both_right"
AMBER, QUESTIONS, AMBIGDOCS = "amber", "entity_questions", "ambigdocs"
AMBER_READING, QUESTIONS_READING = "amber_reading", "entity_questions_reading"
Row = dict[str, Any]


class Measure(NamedTuple):
    """A question about every item of a run that is answered by yes or no."""

    name: str
    unit: str
    holds: Booleans
    # True where a system does better if it does not hold.
    is_fault: bool = False
    # The items that depend on each other have the same number: a bootstrap draws these groups. None: no two do.
    groups: Ints | None = None
    # What a group is.
    group_unit: str = ""


def measure_runs(
    runs: Sequence[FinishedRun], collection: str | None = None, queries: Path | None = None
) -> dict[str, dict[str, Measure]]:
    """The measures of every run by its label; their items are the same in all runs, in the same order.

    `collection` and `queries` say where the data of retrievers and language models is, if not where it was.
    """
    if runs[0].kind == "linker":
        measures: Iterable[Iterable[Measure]] = (_measure_linker(run.answers) for run in runs)
    elif runs[0].kind == "retriever":
        measures = _measure_retrievers(runs, collection, queries)
    elif runs[0].kind == "reader":
        measures = _measure_readers(runs, collection, queries)
    else:
        measures = _measure_models(runs, queries)
    return {
        run.label: {measure.name: measure for measure in of_run} for run, of_run in zip(runs, measures, strict=True)
    }


def _measure_linker(answers: Answers) -> Iterator[Measure]:
    """Right or not on each subset, and whether the name decided."""
    rows = dict(answers.gold_subsets())
    for subset in SUBSETS:
        if subset in rows:
            groups = answers.groups[rows[subset]]
            unit = "documents" if subset == "all" else "names"
            yield Measure(subset, "snippets", answers.correct[rows[subset]], groups=groups, group_unit=unit)
    if len(answers.pairs):
        yield Measure(OVERSHADOWED, "names", overshadowed(answers), is_fault=True)
        if has_prior(answers).any():
            yield Measure(PRIOR_BIAS, "names", prior_biased(answers), is_fault=True)
        yield Measure(BOTH_RIGHT, "names", both_right(answers))


def _measure_retrievers(
    runs: Sequence[FinishedRun], location: str | None, queries: Path | None
) -> Iterator[Iterator[Measure]]:
    """For each run the measures of the probes that all runs have."""
    from shadowprobe.running.questions import open_collection_of, open_ranking_probe, read_rankings_of

    collection = open_collection_of(runs[0], location)
    ks = [set(run.results["settings"]["k"]) for run in runs]
    shared = tuple(sorted(set.intersection(*ks)))
    probes = [
        open_ranking_probe(runs[0], name, collection, queries)
        for name in (AMBER, QUESTIONS)
        if all(name in run.results["queries"] for run in runs)
    ]
    for rankings in read_rankings_of(runs, collection, shared or (1,)):
        rows = {probe.name: list(probe.rows(rankings)) for probe in probes}
        yield _measure_retriever(rows, shared)


def _measure_retriever(rows: dict[str, list[Row]], ks: Sequence[int]) -> Iterator[Measure]:
    """Whether a gold document, or one with an answer, is among the first k."""
    parts = _split_parts(rows.get(AMBER, ()))
    for k in ks:
        for name, of_part in parts.items():
            yield _measure_sets(f"{name}@{k}", "queries", of_part, is_among(of_part, k))
    for k in ks:
        if QUESTIONS in rows:
            yield Measure(f"questions@{k}", "questions", is_among(rows[QUESTIONS], k))


def _split_parts(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of AmbER by collection, task and group."""
    parts: dict[str, list[Row]] = {}
    for row in rows:
        parts.setdefault(f"{row['collection']}/{row['task']}/{row['group']}", []).append(row)
    return parts


def _measure_sets(name: str, unit: str, rows: Sequence[Row], holds: Booleans) -> Measure:
    groups = np.array([row["set"] for row in rows], dtype=np.int32)
    return Measure(name, unit, holds, groups=groups, group_unit="sets")


def _measure_readers(
    runs: Sequence[FinishedRun], location: str | None, queries: Path | None
) -> Iterator[Iterator[Measure]]:
    """For each run whether its answers are exactly right, for the probes that all runs have."""
    from shadowprobe.running.questions import read_reading_rows

    rows = [read_reading_rows(run, location, queries) for run in runs]
    shared = [name for name in (AMBER_READING, QUESTIONS_READING) if all(name in of_run for of_run in rows)]
    for of_run in rows:
        yield _measure_reader({name: of_run[name] for name in shared})


def _measure_reader(rows: dict[str, list[Row]]) -> Iterator[Measure]:
    for name, of_part in _split_parts(rows.get(AMBER_READING, ())).items():
        yield _measure_sets(name, "answers", of_part, _is_exact(of_part))
    if QUESTIONS_READING in rows:
        yield Measure("questions", "answers", _is_exact(rows[QUESTIONS_READING]))


def _is_exact(rows: Iterable[Row]) -> Booleans:
    return np.array([row["exact"] for row in rows], dtype=np.bool_)


def is_among(rows: Iterable[Row], k: int) -> Booleans:
    """For each query whether what it asks for is among the first k."""
    return np.array([row["rank"] is not None and row["rank"] <= k for row in rows], dtype=np.bool_)


def _measure_models(runs: Sequence[FinishedRun], queries: Path | None) -> Iterator[list[Measure]]:
    """For each run whether its answers are complete, and whether nothing is missing in them."""
    from shadowprobe.running.questions import open_sets_of, read_answers_of

    sets = open_sets_of(runs[0], AMBIGDOCS, queries)
    (probe,) = sets.probes
    for run in runs:
        rows = list(probe.rows(sets.sets, read_answers_of(run, sets)))
        is_complete = np.array([row["category"] == "complete" for row in rows], dtype=np.bool_)
        is_whole = np.array([row["entity_answer_recall"] >= 1 for row in rows], dtype=np.bool_)
        yield [Measure("complete", "sets", is_complete), Measure("entity_answer", "sets", is_whole)]
