"""What a retriever returned, as rankings; or why it cannot be one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from shadowprobe.errors import LinkerError
from shadowprobe.retrieval.model import Hit, Query, Ranking
from shadowprobe.retrieval.retriever import Retriever


def as_rankings(
    retriever: Retriever, queries: Sequence[Query], found: Sequence[Sequence[Hit] | None], depth: int
) -> Iterator[Ranking]:
    """The ranking of each query that has one, checked."""
    if len(found) != len(queries):
        raise LinkerError(f"retriever `{retriever.name}` gave {len(found)} rankings for {len(queries)} queries")
    for query, hits in zip(queries, found, strict=True):
        if hits is not None:
            try:
                yield _as_ranking(query, hits, depth)
            except (TypeError, ValueError) as error:
                raise LinkerError(f"retriever `{retriever.name}`, query {query.id!r}: {error}") from error


def _as_ranking(query: Query, hits: Sequence[Hit], depth: int) -> Ranking:
    for hit in hits:
        if not isinstance(hit, tuple | list) or len(hit) != 2:
            raise ValueError(f"search() gave {hit!r}, where Hit(ID OF THE DOCUMENT, SCORE) is called for")
        # JSON has no such numbers, and no order has a place for the first of them.
        if not math.isfinite(hit[1]):
            raise ValueError(f"the document {hit[0]!r} has the score {float(hit[1])}, which is no number")
    ids = [str(hit[0]) for hit in hits]
    if len(ids) > depth or len(set(ids)) < len(ids):
        raise ValueError(
            f"search() gave {len(ids)} documents, {len(set(ids))} of them different, where at most {depth} different"
            " ones were asked for"
        )
    return Ranking(query.id, tuple(ids), tuple(round(float(hit[1]), 6) for hit in hits))
