"""Finished runs of retrievers and of language models over small worlds, whose every figure is worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import namesake_sets
from namesake_sets import AVON, AVON_SAID, BERG, BERG_SAID, COMO, COMO_SAID

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.document_order import DocumentOrder
from shadowprobe.queries.query import Ranking
from shadowprobe.running.answering import AnsweringTask
from shadowprobe.running.retrieving import RetrievalSettings, RetrievingTask
from shadowprobe.running.stored import score_stored

# Beside retrieval_world.FOUND: a retriever that finds the tail too. a1 has a stranger's document first, and d2 nothing,
# as its document is not in the collection; every other query has its gold document first.
READ: dict[str, tuple[str, ...]] = {
    "a1": ("elbe", "avon-river-1"),
    "a2": ("avon-ship", "avon-river-1"),
    "a3": ("avon-ship",),
    "b1": ("berg-river", "berg-song"),
    "b2": ("berg-song", "berg-river"),
    "c1": ("como-lake-a",),
    "c2": ("como-ship",),
    "d1": ("dale-river",),
    "d2": (),
}
# Partial, merged and complete, as tests/probes/test_ambigdocs.py works out.
SAID = {AVON.id: AVON_SAID, BERG.id: BERG_SAID, COMO.id: COMO_SAID}


def write_retrieval(
    directory: Path,
    collection: Path,
    found: Mapping[str, Sequence[str]],
    ks: tuple[int, ...] = (1, 2),
    probes: Sequence[str] = (),
) -> Path:
    """The rankings of a retriever that is called as its directory, as a finished run."""
    directory.mkdir(parents=True)
    rankings = [Ranking(query, tuple(documents)) for query, documents in found.items()]
    (directory / "rankings.jsonl").write_bytes(encode_lines(rankings))
    task = RetrievingTask(str(collection), probes=probes, settings=RetrievalSettings(ks=ks))
    score_stored(task, directory, name=directory.name, out=directory)
    return directory


def write_answers(directory: Path, queries: Path, said: Mapping[str, str], order: DocumentOrder | None = None) -> Path:
    """The answers of a model that is called as its directory, as a finished run; it may say the documents' order."""
    directory.mkdir(parents=True)
    (directory / "answers.jsonl").write_bytes(encode_lines({"id": one, "answer": text} for one, text in said.items()))
    score_stored(AnsweringTask(str(queries), order=order), directory, name=directory.name, out=directory)
    return directory


def write_questions_about_namesakes(directory: Path) -> Path:
    """The three sets of documents on namesakes as a file."""
    directory.mkdir(parents=True, exist_ok=True)
    return namesake_sets.write_sets(directory / "sets.json")
