"""The nouns of retrieval: documents, queries and rankings."""

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


class Hit(NamedTuple):
    """A document in a ranking."""

    document: str
    score: float


class Ranking(Struct, frozen=True, omit_defaults=True):
    """The documents that a retriever returned for a query, best first."""

    id: str
    documents: tuple[str, ...]
    scores: tuple[float, ...] = ()
