"""The nouns of retrieval and reading: documents, queries, rankings and answers."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct


class Document(Struct, frozen=True, omit_defaults=True):
    """A text that a retriever can return; the passages of one article are documents with the same `page`."""

    id: str
    title: str
    text: str
    qid: str | None = None
    # The article of a passage. Rankings are evaluated by article.
    page: str | None = None


class Query(Struct, frozen=True, omit_defaults=True):
    """A query for a retriever; `name` is the ambiguous name in it, if known."""

    id: str
    text: str
    name: str | None = None


class ReaderQuery(Query, frozen=True, omit_defaults=True, kw_only=True):
    """A query for a reader, with the documents that it may read."""

    # A task of AmbER: fc (is the claim right?), sf (a name, [SEP] and a relation) or qa (a question).
    task: str
    # What an answer is chosen from; nothing if it is free text.
    labels: tuple[str, ...] = ()
    # All right answers and the ids of the right documents, if known: only a reader with `sees_gold` is shown them.
    answers: tuple[str, ...] = ()
    gold: frozenset[str] = frozenset()
    documents: tuple[Document, ...] = ()
    # True if a right document is among the documents, or for a query without `gold` one that has an answer.
    found: bool = False


class ReaderAnswer(Struct, frozen=True, omit_defaults=True):
    """The answer of a reader; `found` is that of its query, and None in files that do not say it."""

    id: str
    answer: str
    found: bool | None = None


class Hit(NamedTuple):
    """A document in a ranking."""

    document: str
    score: float


class Ranking(Struct, frozen=True, omit_defaults=True):
    """The documents that a retriever returned for a query, best first."""

    id: str
    documents: tuple[str, ...]
    scores: tuple[float, ...] = ()
