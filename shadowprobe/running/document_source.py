"""The documents that a reader is given: the right ones, or the first k of a stored run of a retriever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from shadowprobe.base.files import file_digest
from shadowprobe.errors import InputError, UsageError
from shadowprobe.measure.answer_matching import dpr_words, holds_any
from shadowprobe.measure.rankings import read_rankings
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Document, ReaderQuery
from shadowprobe.running.directory import RANKINGS, RunCard, find_answers, read_stored_card

ORACLE = "oracle"
# As many as in the paper on AmbER.
K = 20


class DocumentSource(Struct, frozen=True):
    """Where documents come from; `ranked` has the ids for each query, and is None if the right ones are given."""

    described: dict[str, Any]
    ranked: Mapping[str, tuple[str, ...]] | None = None
    # The card of the retriever's run, if it has one.
    card: RunCard | None = None

    @property
    def name(self) -> str:
        """`oracle`, or the name of the retriever."""
        return str(self.described["source"])

    @property
    def label(self) -> str:
        """The name, with the number of documents."""
        return self.name if self.ranked is None else f"{self.name}@{self.described['k']}"

    def hand_out(self, queries: Iterable[ReaderQuery], collection: Collection) -> tuple[dict[str, ReaderQuery], int]:
        """The queries with their documents by id, and how many documents the collection does not have."""
        queries = list(queries)
        wanted = {one for query in queries for one in self._wanted(query)}
        known: dict[str, list[Document]] = {}
        for document in collection.documents():
            # An article is right with all of its passages; a ranking names passages.
            for key in {document.id, *([document.page] if self.ranked is None and document.page else [])}:
                if key in wanted:
                    known.setdefault(key, []).append(document)
        given = {query.id: self._give(query, known) for query in queries}
        return given, len(wanted - known.keys())

    def _wanted(self, query: ReaderQuery) -> Iterable[str]:
        return sorted(query.gold) if self.ranked is None else self.ranked.get(query.id, ())

    def _give(self, query: ReaderQuery, known: Mapping[str, list[Document]]) -> ReaderQuery:
        documents = [document for one in self._wanted(query) for document in known.get(one, ())]
        unique = tuple({document.id: document for document in documents}.values())
        return structs.replace(query, documents=unique, found=is_found(query, unique))


def is_found(query: ReaderQuery, documents: Iterable[Document]) -> bool:
    """True if a right document is there; if none is known, a document that has an answer."""
    if query.gold:
        return any(document.id in query.gold or document.page in query.gold for document in documents)
    answers = [dpr_words(answer) for answer in query.answers]
    return any(holds_any(dpr_words(f"{one.title} {one.text}"), answers) for one in documents)


def open_source(documents: str, k: int = K) -> DocumentSource:
    """The right documents for `oracle`, or the first k of a run directory or a file of rankings."""
    if documents == ORACLE:
        return DocumentSource({"source": ORACLE})
    if not documents or not Path(documents).exists():
        raise UsageError(
            f"--documents {documents}: is neither `{ORACLE}` nor a run; `shadowprobe retrieve` makes runs of retrievers"
        )
    path = find_answers(Path(documents), RANKINGS)
    if not path.exists():
        raise InputError(path.parent, f"has no {RANKINGS}: --documents is `{ORACLE}` or a run of a retriever")
    card = read_stored_card(path, RANKINGS)
    if card is not None and card.depth is not None and card.depth < k:
        raise UsageError(f"--k {k}: {documents} has only {card.depth} documents for each query (`retrieve --depth`)")
    rankings = read_rankings(path)
    if not rankings:
        raise InputError(path, "has no ranking")
    name = str(card.system["name"]) if card is not None else path.stem
    described = {"source": name, "digest": file_digest(path), "k": k}
    return DocumentSource(described, {one.id: one.documents[:k] for one in rankings}, card)
