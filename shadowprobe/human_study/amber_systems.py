"""What stored runs say of the questions of AmbER's user study: which of three documents, and which answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from shadowprobe.base.jsonl import read_lines
from shadowprobe.errors import InputError, UsageError
from shadowprobe.human_study.amber_sample import AmberItem, AmberKey
from shadowprobe.human_study.amber_score import SystemAnswers
from shadowprobe.queries.query import ReaderAnswer
from shadowprobe.running.directory import ANSWERS
from shadowprobe.running.document_source import ORACLE
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.kinds import NOUNS
from shadowprobe.running.questions import read_stored_rankings
from shadowprobe.running.reading import UNKNOWN


def read_systems(paths: Sequence[Path], key: AmberKey) -> list[SystemAnswers]:
    """Reads runs of retrievers, and of readers that were given the right documents."""
    return [_read_system(run, key) for run in read_runs(paths, is_mixed=True)]


def _read_system(run: FinishedRun, key: AmberKey) -> SystemAnswers:
    if run.kind not in {"retriever", "reader"}:
        raise UsageError(
            f"--run {run.path}: is a run of a {NOUNS[run.kind]}; this study compares retrievers and readers"
        )
    if run.data["digest"] != key.digest:
        raise UsageError(
            f"--run {run.path}: is over other documents than the sample: `{run.data['name']}` with the digest"
            f" {run.data['digest'][:12]}..., not `{key.collection}` with {key.digest[:12]}..."
        )
    system = _read_retriever(run, key.items) if run.kind == "retriever" else _read_reader(run)
    known = system.choices if system.choices is not None else system.answers or {}
    if not any(item.id in known for item in key.items):
        raise UsageError(f"--run {run.path}: has nothing about any of the {len(key.items)} questions of the sample")
    return system


def _read_retriever(run: FinishedRun, items: Iterable[AmberItem]) -> SystemAnswers:
    rankings = {ranking.id: ranking.documents for ranking in read_stored_rankings(run)}
    choices = {item.id: find_first(item, rankings.get(item.id, ())) for item in items}
    return SystemAnswers(run.label, {query: choice for query, choice in choices.items() if choice is not None})


def find_first(item: AmberItem, ranking: Iterable[str]) -> int | None:
    """The number of the document that a ranking has first among the three; None if it has none of them.

    A document that is not in the ranking is below all that are, so one of the three is enough. The retriever is not
    asked again: over three documents alone, word statistics would be others than those of the collection.
    """
    numbers = {
        one: number for number, document in enumerate(item.documents, 1) for one in (document.id, *document.passages)
    }
    return next((numbers[one] for one in ranking if one in numbers), None)


def _read_reader(run: FinishedRun) -> SystemAnswers:
    source = run.results["documents"]["source"]
    # Of stored answers, it is not known what was read for them.
    if source not in {ORACLE, UNKNOWN}:
        raise UsageError(
            f"--run {run.path}: the reader was given documents of `{source}`; `read --documents {ORACLE}` gives it the"
            " right ones, as in the paper"
        )
    if not (run.path / ANSWERS).exists():
        raise InputError(run.path, f"has no {ANSWERS}")
    name = run.label if source == ORACLE else f"{run.label} (documents {UNKNOWN})"
    return SystemAnswers(name, answers={one.id: one.answer for _, one in read_lines(run.path / ANSWERS, ReaderAnswer)})
