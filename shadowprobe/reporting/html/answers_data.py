"""What the browser of answers shows: questions, documents, and the answer of each model with its kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadowprobe.reporting.html.strings import Passages, Strings
from shadowprobe.reporting.model_summary import AMBIGDOCS as PROBE
from shadowprobe.reporting.model_summary import CATEGORIES, RECALLS
from shadowprobe.running.answering import AnsweringTask
from shadowprobe.running.directory import read_failures
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.questions import open_sets_of, read_answers_of


def pack_answers(runs: Sequence[FinishedRun], queries: Path | None = None) -> dict[str, Any]:
    """The sets and the answers of runs over them, in columns of numbers and two tables of texts.

    Refuses sets that are missing or different.
    """
    task = open_sets_of(runs[0], PROBE, queries)
    strings, passages = Strings(), Passages()
    columns: dict[str, list[Any]] = {
        "id": [strings.number(one.id) for one in task.sets],
        "name": [strings.number(one.name) for one in task.sets],
        "question": [passages.number(one.question) for one in task.sets],
        "documents": [
            [
                [
                    strings.number(document.title),
                    passages.number(document.text),
                    strings.number("; ".join(document.answers)),
                ]
                for document in one.documents
            ]
            for one in task.sets
        ],
    }
    return {
        "categories": [[kind.replace("_", " "), meaning] for kind, meaning in CATEGORIES.items()],
        "sets": columns,
        "systems": [_system(run, task, passages) for run in runs],
        "strings": strings.all(),
        "passages": passages,
    }


def _system(run: FinishedRun, task: AnsweringTask, passages: Passages) -> dict[str, Any]:
    """The answers of one run in columns, with their kinds and recalls as the probe has them."""
    answers = read_answers_of(run, task)
    (probe,) = task.probes
    rows = list(probe.rows(task.sets, answers))
    kinds = list(CATEGORIES)
    place = {one.id: number for number, one in enumerate(task.sets)}
    return {
        "label": run.label,
        "answer": [passages.number(answers.get(one.id)) for one in task.sets],
        "category": [kinds.index(row["category"]) for row in rows],
        "recalls": [[round(100 * row[name]) for name in RECALLS] for row in rows],
        "errors": {
            place[failure.id]: failure.error
            for failure in read_failures(run.path)
            if failure.id in place.keys() - answers
        },
    }
