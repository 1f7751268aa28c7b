"""The rankings of one run, by query: what a probe of retrieval reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct, field

from shadowprobe.base.files import BOM, open_for_reading
from shadowprobe.base.jsonl import read_lines
from shadowprobe.errors import InputError
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Ranking

if TYPE_CHECKING:
    from shadowprobe.measure.seen_entities import SeenEntities


class _Provenance(Struct):
    """What KILT's form of predictions says of a document."""

    wikipedia_id: str | int | None = None
    score: float | None = None


class _KiltOutput(Struct):
    provenance: list[_Provenance] = field(default_factory=list)


class _Kilt(Struct):
    """A line of KILT's form of predictions; `output` may be a list of which the first counts."""

    id: str
    output: _KiltOutput | list[_KiltOutput]


class Rankings:
    """Ranked articles by query, down to `depth`: of several passages of one article the first counts."""

    def __init__(
        self,
        collection: Collection,
        rankings: Iterable[Ranking],
        *,
        depth: int,
        ks: tuple[int, ...] = (1, 20),
        rounds: int = ROUNDS,
        seed: int = SEED,
        pages: Mapping[str, str] | None = None,
        text_only: bool = False,
        seen: SeenEntities | None = None,
    ) -> None:
        self.collection, self.depth, self.ks = collection, depth, ks
        # The entities that the retriever has seen in training, if a user lists them.
        self.seen = seen
        # True if an answer in the title of a document does not count.
        self.text_only = text_only
        self.rounds, self.seed = rounds, seed
        self._ranked = {ranking.id: ranking.documents for ranking in rankings}
        self._pages = pages or {}

    def __contains__(self, query: str) -> bool:
        return query in self._ranked

    def passages(self, query: str) -> tuple[str, ...]:
        """The ids of what was found, passage by passage; nothing for a query without a ranking."""
        return self._ranked.get(query, ())[: self.depth]

    def articles(self, query: str) -> list[str]:
        """The articles that were found, each once, where its best passage stands."""
        # Cut off after passages have become articles: stored rankings may be longer, and AmbER counts articles.
        passages = self._ranked.get(query, ())
        return list(dict.fromkeys(map(self._pages.get, passages, passages)))[: self.depth]


class KnownIds(NamedTuple):
    """What a collection knows of some ids: the articles of those that are passages, and the ids that it lacks."""

    pages: dict[str, str]
    lacking: set[str]


def look_up(collection: Collection, ids: Set[str]) -> KnownIds:
    """Looks ids up among the documents of a collection and their articles."""
    known = KnownIds({}, set(ids))
    for document in collection.documents():
        known.lacking.discard(document.id)
        if document.page is not None:
            known.lacking.discard(document.page)
            if document.id in ids:
                known.pages[document.id] = document.page
    return known


def read_rankings(path: Path) -> list[Ranking]:
    """Rankings of a file: our own lines, or predictions in KILT's form; a document that is listed twice counts once."""
    rankings: dict[str, Ranking] = {}
    lines: Iterable[tuple[int, _Kilt | Ranking]]
    lines = read_lines(path, _Kilt) if _is_kilt(path) else read_lines(path, Ranking)
    for line, item in lines:
        ranking = _from_kilt(path, line, item) if isinstance(item, _Kilt) else item
        if ranking.id in rankings:
            raise InputError(path, f"{ranking.id!r} stands twice", line=line, field="id")
        if ranking.scores and len(ranking.scores) != len(ranking.documents):
            raise InputError(path, "has another length than `documents`", line=line, field="scores")
        rankings[ranking.id] = _drop_repeated(ranking)
    return list(rankings.values())


def _drop_repeated(ranking: Ranking) -> Ranking:
    """The same ranking with each document at its first place only."""
    places: dict[str, int] = {}
    for place, document in enumerate(ranking.documents):
        places.setdefault(document, place)
    scores = tuple(ranking.scores[place] for place in places.values()) if ranking.scores else ()
    return Ranking(ranking.id, tuple(places), scores)


def _is_kilt(path: Path) -> bool:
    with open_for_reading(path) as file:
        first = next((line for line in file if line.strip()), b"{}").removeprefix(BOM)
    try:
        return "output" in msgspec.json.decode(first, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        # Whoever reads the lines says what is wrong with this one.
        return False


def _from_kilt(path: Path, line: int, item: _Kilt) -> Ranking:
    outputs = item.output if isinstance(item.output, list) else [item.output]
    if not outputs:
        raise InputError(path, "is empty", line=line, field="output")
    ids = [str(page.wikipedia_id) for page in outputs[0].provenance if page.wikipedia_id is not None]
    # Some tools write the word where a passage has no article.
    return Ranking(item.id, tuple(one for one in ids if one != "None"))
