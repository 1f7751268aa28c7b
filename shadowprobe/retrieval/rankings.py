"""The rankings of one run, by query: what a probe of retrieval reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.errors import InputError
from shadowprobe.jsonl import open_for_reading, read_lines
from shadowprobe.retrieval.collection import Collection
from shadowprobe.retrieval.model import Document, Ranking
from shadowprobe.statistics import ROUNDS, SEED


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
    """Ranked articles by query: of several passages of one article the first counts."""

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
    ) -> None:
        self.collection, self.depth, self.ks = collection, depth, ks
        self.rounds, self.seed = rounds, seed
        self._ranked = {ranking.id: ranking.documents for ranking in rankings}
        self._pages = pages or {}

    def __contains__(self, query: str) -> bool:
        return query in self._ranked

    def passages(self, query: str) -> tuple[str, ...]:
        """The ids of what was found, passage by passage; nothing for a query without a ranking."""
        return self._ranked.get(query, ())

    def articles(self, query: str) -> list[str]:
        """The articles that were found, each once, where its best passage stands."""
        return list(dict.fromkeys(self._pages.get(found, found) for found in self.passages(query)))

    def texts(self, queries: Iterable[str]) -> dict[str, Document]:
        """The documents that were found for some queries."""
        return self.collection.texts({found for query in queries for found in self.passages(query)})


def pages_of(collection: Collection) -> dict[str, str]:
    """The article of each document that is a passage of one."""
    return {document.id: document.page for document in collection.documents() if document.page is not None}


def read_rankings(path: Path) -> list[Ranking]:
    """Rankings of a file: our own lines, or predictions in KILT's form."""
    with open_for_reading(path) as file:
        first = file.readline()
    kilt = b'"provenance"' in first
    found: dict[str, Ranking] = {}
    lines: Iterable[tuple[int, _Kilt | Ranking]] = read_lines(path, _Kilt) if kilt else read_lines(path, Ranking)
    for line, item in lines:
        ranking = _from_kilt(path, line, item) if isinstance(item, _Kilt) else item
        if ranking.id in found:
            raise InputError(path, f"{ranking.id!r} stands twice", line=line, field="id")
        if ranking.scores and len(ranking.scores) != len(ranking.documents):
            raise InputError(path, "has another length than `documents`", line=line, field="scores")
        found[ranking.id] = ranking
    return list(found.values())


def _from_kilt(path: Path, line: int, item: _Kilt) -> Ranking:
    outputs = item.output if isinstance(item.output, list) else [item.output]
    if not outputs:
        raise InputError(path, "is empty", line=line, field="output")
    ids = [str(page.wikipedia_id) for page in outputs[0].provenance if page.wikipedia_id is not None]
    # Some tools write the word where a passage has no article.
    return Ranking(item.id, tuple(dict.fromkeys(one for one in ids if one != "None")))


def as_kilt(ranking: Ranking) -> dict[str, Any]:
    """A ranking in KILT's form of predictions."""
    pages = [{"wikipedia_id": document} for document in ranking.documents]
    return {"id": ranking.id, "output": {"provenance": pages}}
