"""What the browser of answers shows: questions, documents, what each model made of them, and of which kind it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shadowprobe.errors import InputError, UsageError
from shadowprobe.jsonl import read_json
from shadowprobe.report.answers_table import CATEGORIES, PROBE, RECALLS
from shadowprobe.report.html.data import Strings
from shadowprobe.retrieval.answer_session import ANSWERS, AnswerCard
from shadowprobe.retrieval.answer_sets import BUILTIN, BUILTIN_NAME, Sets
from shadowprobe.retrieval.measured import MeasuredRun
from shadowprobe.retrieval.stored_answers import read_answers
from shadowprobe.run_directory import RUN, read_failures


def open_sets(run: MeasuredRun, queries: Path | None = None) -> Sets:
    """The sets that a model was asked about; refuses where they are not, or are others."""
    asked = run.results["queries"]
    if PROBE not in run.results["probes"]:
        raise UsageError(f"{run.path} was not asked `{PROBE}`")
    place = BUILTIN if queries is None else str(queries)
    if queries is None and asked["name"] != BUILTIN_NAME:
        place = read_json(run.path / RUN, AnswerCard).location if (run.path / RUN).exists() else ""
        if not Path(place).is_file():
            raise UsageError(
                f"the questions `{asked['name']}` are not where the run had them; --queries says where they are"
            )
    # Each set is measured by itself, so that there is nothing to draw from.
    sets = Sets(place, documents=asked["documents"], limit=asked["limit"], probes=(PROBE,), rounds=1)
    if sets.digest != asked["digest"]:
        raise InputError(
            sets.path, f"is not what {run.path} was asked ({sets.digest[:12]}..., not {asked['digest'][:12]}...)"
        )
    return sets


def packed(runs: Sequence[MeasuredRun], sets: Sets) -> dict[str, Any]:
    """The sets and the answers of runs over them, in columns of numbers and one table of texts."""
    strings = Strings()
    columns: dict[str, list[Any]] = {
        "id": [strings.number(one.id) for one in sets.sets],
        "name": [strings.number(one.name) for one in sets.sets],
        "question": [strings.number(one.question) for one in sets.sets],
        "documents": [
            [
                [strings.number(text) for text in (document.title, document.text, "; ".join(document.answers))]
                for document in one.documents
            ]
            for one in sets.sets
        ],
    }
    return {
        "categories": [[kind.replace("_", " "), meaning] for kind, meaning in CATEGORIES.items()],
        "sets": columns,
        "systems": [_system(run, sets, strings) for run in runs],
        "strings": strings.all(),
    }


def _system(run: MeasuredRun, sets: Sets, strings: Strings) -> dict[str, Any]:
    """The answers of one run in columns; the probe itself says of which kind each is."""
    if not (run.path / ANSWERS).exists():
        raise InputError(run.path, f"has no {ANSWERS}")
    answers = read_answers(run.path / ANSWERS, sets.known)
    (probe,) = sets.probes
    kinds = list(CATEGORIES)
    category, recalls = [], []
    for one in sets.sets:
        found = probe.measure([one], {one.id: answers[one.id]} if one.id in answers else {})
        category.append(next(kinds.index(kind) for kind, row in found["categories"].items() if row["n"]))
        recalls.append([round(100 * found[name]) for name in RECALLS])
    row = {one.id: number for number, one in enumerate(sets.sets)}
    return {
        "label": run.label,
        "answer": [strings.number(answers.get(one.id)) for one in sets.sets],
        "category": category,
        "recalls": recalls,
        "errors": {
            row[failure.id]: failure.error for failure in read_failures(run.path) if failure.id in row.keys() - answers
        },
    }
