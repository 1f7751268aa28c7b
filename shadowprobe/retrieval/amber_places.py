"""Where a ranking has the gold document of an AmbER query, and the best of its namesakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shadowprobe.retrieval.amber_sets import AmberEntity, AmberQuery, AmberSet


class Place(NamedTuple):
    """Where the gold document and the best of a namesake stand, 0 for nowhere, and which document the latter is."""

    rank: int
    rival: int
    rival_document: str | None = None

    def right(self, k: int) -> bool:
        """True where a gold document is among the first k."""
        return 0 < self.rank <= k

    @property
    def confused(self) -> bool:
        """True where a document of a namesake stands above every gold document."""
        return self.rival > 0 and (not self.rank or self.rival < self.rank)


def placed(one: AmberSet, entity: AmberEntity, query: AmberQuery, articles: Sequence[str]) -> Place:
    """What became of a query about an entity of a set, for which these articles were found."""
    others = {found for other in one.qids.values() if other is not entity for found in other.documents}
    # A document that is gold for one entity is no namesake's, whatever else it is about.
    rivals = others - entity.documents
    places = {found: place for place, found in enumerate(articles, start=1)}
    rank = min((places[found] for found in query.gold if found in places), default=0)
    rival = min((places[found] for found in rivals if found in places), default=0)
    return Place(rank, rival, articles[rival - 1] if rival else None)
