"""The answers of a run as plain records, one for each mention, query or question."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from shadowprobe.measure.answer_columns import MISSING, NIL, SKIPPED
from shadowprobe.measure.outcomes import OUTCOMES, classify_answers
from shadowprobe.running.directory import Kind
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.headlines import list_headlines, name_verdict
from shadowprobe.running.item_measures import AMBER, AMBIGDOCS, QUESTIONS

Record = dict[str, Any]
STATUSES = {NIL: "nil", SKIPPED: "skipped", MISSING: "missing"}


def list_records(run: FinishedRun) -> Iterator[Record]:
    """What was asked and answered, item by item."""
    return _LISTS[run.kind](run)


def _list_mentions(run: FinishedRun) -> Iterator[Record]:
    """Every snippet with its gold entity, the answer, the prior of its name and the outcome."""
    answers = run.answers
    outcomes, names = classify_answers(answers), answers.names
    for snippet in answers.dataset.snippets():
        row = answers.row[snippet.id]
        entity, score = int(answers.entity[row]), float(answers.score[row])
        prior = int(answers.prior[answers.space[row]]) if answers.space[row] >= 0 else -1
        yield {
            "id": snippet.id,
            "subset": snippet.subset,
            "name": snippet.space,
            "mention": snippet.mention,
            "text": snippet.text,
            "start": snippet.start,
            "end": snippet.end,
            "gold": snippet.gold,
            "status": STATUSES.get(entity, "linked"),
            "answer": names[entity] if entity >= 0 else None,
            "score": None if math.isnan(score) else score,
            "prior": names[prior] if prior >= 0 else None,
            "correct": bool(answers.correct[row]) if answers.has_gold[row] else None,
            "outcome": OUTCOMES[outcomes[row]],
        }


def _list_queries(run: FinishedRun) -> Iterator[Record]:
    """Every query with the rank of its gold document, or of the first document that has an answer."""
    from shadowprobe.running.questions import open_collection_of, open_ranking_probe, read_rankings_of

    collection = open_collection_of(run)
    (rankings,) = read_rankings_of([run], collection, tuple(run.results["settings"]["k"]))
    for name in (AMBER, QUESTIONS):
        if name in run.results["queries"]:
            for row in open_ranking_probe(run, name, collection).rows(rankings):
                yield {"probe": name, **row}


def _list_read_queries(run: FinishedRun) -> Iterator[Record]:
    """Every query with the answer of a reader and its scores."""
    from shadowprobe.running.questions import read_reading_rows

    for name, rows in read_reading_rows(run).items():
        yield from ({"probe": name, **row} for row in rows)


def _list_questions(run: FinishedRun) -> Iterator[Record]:
    """Every question with the kind of its answer and its recalls."""
    from shadowprobe.running.questions import open_sets_of, read_answers_of

    sets = open_sets_of(run, AMBIGDOCS)
    (probe,) = sets.probes
    yield from probe.rows(sets.sets, read_answers_of(run, sets))


_LISTS: dict[Kind, Callable[[FinishedRun], Iterator[Record]]] = {
    "linker": _list_mentions,
    "retriever": _list_queries,
    "reader": _list_read_queries,
    "model": _list_questions,
}


def make_summary(run: FinishedRun) -> Record:
    """The headline figures of a run in one record, as fractions of 1 with their 95% intervals."""
    summary: Record = {"kind": run.kind, "system": run.label, "data": run.data["name"], "path": str(run.path)}
    for one in list_headlines(run.results):
        low, high = one.interval
        summary |= {one.key: one.value, f"{one.key}_low": low, f"{one.key}_high": high}
    return {**summary, "verdict": name_verdict(run.results) or None}
