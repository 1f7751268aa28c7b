"""The passages of training questions: one that answers each, and others that only look like it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from shadowprobe import plugins
from shadowprobe.base.model import Failure
from shadowprobe.measure.answer_matching import dpr_words, holds_any
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Document, Query
from shadowprobe.systems.retriever import Retriever

# How many passages of BM25 are looked at for each question.
CANDIDATES = 50
_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")


class Asked(Struct, frozen=True):
    """A question that needs passages; without a subject, a passage with an answer is enough."""

    text: str
    answers: tuple[str, ...]
    subject: str | None = None


class Example(Struct, frozen=True):
    """A question with the ids of the passages that answer it, the best first, and of those that do not."""

    text: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


class PassageFinder:
    """Finds passages of a collection by title and by BM25."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        # All passages that a question was given, by their ids.
        self.documents: dict[str, Document] = {}
        self._bm25: Retriever | None = None

    def find(self, questions: Sequence[Asked], negatives: int) -> list[Example | None]:
        """The passages of each question; None for a question that no passage answers."""
        candidates = self._search(questions)
        titles: dict[str, list[Document]] = {}
        subjects = {_key(asked.subject) for asked in questions if asked.subject is not None}
        wanted = {candidate for found in candidates for candidate in found}
        known: dict[str, Document] = {}
        for document in self._collection.documents():
            key = _key(document.title)
            if key in subjects:
                titles.setdefault(key, []).append(document)
            if key in subjects or document.id in wanted:
                known[document.id] = document
        examples = [
            _make_example(asked, titles.get(_key(asked.subject), []), [known[one] for one in found], negatives)
            for asked, found in zip(questions, candidates, strict=True)
        ]
        used = {one for example in examples if example for one in (*example.positives, *example.negatives)}
        self.documents |= {one: known[one] for one in used}
        return examples

    def _search(self, questions: Sequence[Asked]) -> list[list[str]]:
        """The passages that BM25 finds for each question."""
        if self._bm25 is None:
            self._bm25 = plugins.make_retriever("bm25")
            self._bm25.open(self._collection.documents(), {})
        queries = [Query(str(number), asked.text) for number, asked in enumerate(questions)]
        hits = self._bm25.search(queries, CANDIDATES)
        return [[] if isinstance(found, Failure) else [hit.document for hit in found or ()] for found in hits]


def _make_example(
    asked: Asked, titled: Sequence[Document], found: Sequence[Document], negatives: int
) -> Example | None:
    answers = [dpr_words(answer) for answer in asked.answers]
    answering = {document.id: document for document in (*titled, *found) if holds_any(_words(document), answers)}
    positives = [document.id for document in _choose_about(asked.subject, answering)]
    if not positives:
        return None
    others = [document.id for document in found if document.id not in answering]
    return Example(asked.text, tuple(positives), tuple(others[:negatives]))


def _choose_about(subject: str | None, answering: Mapping[str, Document]) -> list[Document]:
    """The passages about the subject: those with its title, else those with its name, else none."""
    documents = list(answering.values())
    if subject is None:
        return documents
    words = dpr_words(subject)
    same_title = [document for document in documents if dpr_words(document.title) == words]
    same_name = [document for document in documents if _key(document.title) == _key(subject)]
    return same_title or same_name or [one for one in documents if holds_any(_words(one), [words])]


def _words(document: Document) -> list[str]:
    return dpr_words(f"{document.title} {document.text}")


def _key(title: str | None) -> str:
    """A title without its qualifier, as `Avon` of `Avon (river)`."""
    return " ".join(dpr_words(_QUALIFIER.sub("", title or "")))
