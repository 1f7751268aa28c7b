"""The base class that a retriever derives from."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from shadowprobe.base.model import Failure
from shadowprobe.errors import LinkerError
from shadowprobe.queries.query import Document, Hit, Query, Ranking
from shadowprobe.systems.linker import System


class Retriever(System):
    """A system under test: a query in, ranked documents out.

    A wrapper sets `name` and writes `index` and `search`. Its options are the keyword arguments of its constructor,
    with types and defaults, as those of a linker.
    """

    batch_size: ClassVar[int] = 256

    # The names that queries are about, each with the documents of its entities, most popular first: what a linker
    # chooses from. A retriever of another kind has no use for them.
    names: Mapping[str, Sequence[str]]

    def open(self, documents: Iterable[Document], names: Mapping[str, Sequence[str]]) -> None:
        """Gives the retriever the documents, and lets it index them."""
        self.names = names
        self.notes = []
        self.index(documents)

    def index(self, documents: Iterable[Document]) -> None:
        """Prepares the documents; they come once, and there may be millions."""
        raise NotImplementedError(f"{type(self).__name__} must define index()")

    def search(self, queries: Sequence[Query], k: int) -> Sequence[Sequence[Hit] | Failure | None]:
        """The best documents for each query, at most k, best first; a failure or None is repeated by the next run."""
        raise NotImplementedError(f"{type(self).__name__} must define search()")


def document_text(document: Document) -> str:
    """What a retriever reads of a document: its title and its text."""
    return f"{document.title}. {document.text}"


def random_order(query: Query, document: str) -> str:
    """Where a document stands in an order drawn for one query: among equal scores no document is always the first."""
    return hashlib.sha256(f"{query.text}\n{document}".encode()).hexdigest()


def make_rankings(
    retriever: Retriever, queries: Sequence[Query], hits: Sequence[Sequence[Hit] | Failure | None], depth: int
) -> Iterator[Ranking | Failure]:
    """The checked ranking of each query, or why the retriever has none."""
    if len(hits) != len(queries):
        raise LinkerError(f"retriever `{retriever.name}` gave {len(hits)} rankings for {len(queries)} queries")
    for query, own_hits in zip(queries, hits, strict=True):
        if own_hits is None or isinstance(own_hits, Failure):
            yield own_hits or Failure(query.id, "the retriever failed on it")
            continue
        try:
            yield _make_ranking(query, own_hits, depth)
        except (TypeError, ValueError) as error:
            raise LinkerError(f"retriever `{retriever.name}`, query {query.id!r}: {error}") from error


def _make_ranking(query: Query, hits: Sequence[Hit], depth: int) -> Ranking:
    for hit in hits:
        if not isinstance(hit, tuple | list) or len(hit) != 2:
            raise ValueError(f"search() gave {hit!r}, where Hit(ID OF THE DOCUMENT, SCORE) is called for")
        # JSON has no such numbers, and NaN has no place in an order.
        if not math.isfinite(hit[1]):
            raise ValueError(f"the document {hit[0]!r} has the score {float(hit[1])}, which is no number")
    ids = [str(hit[0]) for hit in hits]
    # Raises for an id that no file can hold.
    "".join(ids).encode()
    if len(ids) > depth or len(set(ids)) < len(ids):
        raise ValueError(
            f"search() gave {len(ids)} documents, {len(set(ids))} of them different, where at most {depth} different"
            " ones were asked for"
        )
    return Ranking(query.id, tuple(ids), tuple(round(float(hit[1]), 6) for hit in hits))
