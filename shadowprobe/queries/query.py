"""The nouns of retrieval: documents, queries and rankings."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct


class Document(Struct, frozen=True, omit_defaults=True):
    """A text that can be found; the passages of one article are documents of one `page`."""

    id: str
    title: str
    text: str
    qid: str | None = None
    # The article that this is a passage of, where it is one; rankings are counted by article.
    page: str | None = None


class Query(Struct, frozen=True, omit_defaults=True):
    """What a retriever is asked; `name` is the ambiguous name in it, where it is known to have one."""

    id: str
    text: str
    name: str | None = None


class Hit(NamedTuple):
    """A document in a ranking."""

    document: str
    score: float


class Ranking(Struct, frozen=True, omit_defaults=True):
    """What a retriever found for a query, best first."""

    id: str
    documents: tuple[str, ...]
    scores: tuple[float, ...] = ()
