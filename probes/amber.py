"""AmbER sets: does a retriever find the document of the less popular namesake?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from shadowprobe import Findings
from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.measure.rankings import Rankings
from shadowprobe.measure.statistics import decide, describe_gap, describe_share
from shadowprobe.queries.amber_sets import AmberEntity, AmberQuery, AmberSet, Part, group_by_name, read_amber_sets
from shadowprobe.queries.query import Query

# Figure 4: bins a fifth wide, and all above 100% in the last.
BIN, LAST = 0.2, 1.0
# Figure 2: from this rank on, not every rank has a point.
STEP = 30
GROUPS = ("head", "tail")
# One query: what `rows` says of it.
Row = dict[str, Any]


class AmberProbe(RankingProbe):
    """Is the document of the less popular namesake found? Head against tail, all of a set, and namesakes confused.

    Of each collection and task: `accuracy` at each k, the share of the queries with a gold document among the first k,
    for `all` queries, those about the `head` and those about the `tail`; `gap`, head minus tail at the smallest k, with
    a bootstrap over sets; `verdict`, which of the two is found more often: `head` where the interval of the gap lies
    above 0, `tail` where it lies below, else `undecided`; `all_correct` (∀), the share of the sets with every query
    right; `confusion`, the share of the queries where a document of a namesake stands above the gold one; `neither`,
    the share where no document of the set was found at all. `popularity`: pairs of a head and a tail entity in bins a
    fifth wide of (head - tail) / tail of their popularities, all above 100% in the last, with the accuracy on their
    head queries minus that on the tail's. `long_tail`: the popularity of entities by their rank. A query without a
    ranking is wrong.
    """

    name = "amber"
    needs = "a retriever: `retrieve --probe amber`"
    folder = "amber"

    def load(self, path: Path) -> None:
        """Reads the sets."""
        self.parts: dict[Part, list[AmberSet]] = read_amber_sets(path)

    def queries(self) -> Iterator[Query]:
        """Every query with the name of its set; several sets may share one."""
        for sets in self.parts.values():
            for amber_set in sets:
                for _, query in amber_set.queries():
                    yield Query(query.id, query.input, amber_set.name)

    def names(self) -> Mapping[str, Sequence[str]]:
        """The documents of the namesakes behind each name."""
        return {
            name: [document for documents in entities for document in sorted(documents)]
            for name, entities in group_by_name(self.parts).items()
        }

    def gold(self) -> frozenset[str]:
        """The documents that answer a query."""
        queries = (query for sets in self.parts.values() for one in sets for _, query in one.queries())
        return frozenset(document for query in queries for document in query.gold)

    def rows(self, rankings: Rankings) -> Iterator[Row]:
        """Where each query has its gold document and the best one of a namesake, and what became of it.

        `rank` and `namesake_rank` are None for a document that was not found; `namesake` is the id of the latter, and
        `first` the id of the document at the top. `set` is the number of the set within its collection and task.
        """
        for (collection, task), sets in self.parts.items():
            for number, amber_set in enumerate(sets):
                for entity in amber_set.qids.values():
                    namesakes = _find_namesakes(amber_set, entity)
                    for query in entity.queries:
                        yield {
                            "id": query.id,
                            "set": number,
                            "collection": collection or "sets",
                            "task": task or "queries",
                            "group": "head" if entity.is_head else "tail",
                            **_ranks(query, namesakes, rankings),
                        }

    def measure(self, rankings: Rankings) -> Findings:
        """The figures of each collection and task, under `human` and `nonhuman` where the files say which."""
        rows = {row["id"]: row for row in self.rows(rankings)}
        findings: Findings = {}
        for (collection, task), sets in self.parts.items():
            findings.setdefault(collection or "sets", {})[task or "queries"] = self._part(sets, rows, rankings)
        return findings

    def _part(self, sets: Sequence[AmberSet], rows: Mapping[str, Row], rankings: Rankings) -> dict[str, Any]:
        by_set = [[rows[query.id] for _, query in one.queries()] for one in sets]
        everything = [row for of_set in by_set for row in of_set]
        groups = {"all": everything, **{name: [row for row in everything if row["group"] == name] for name in GROUPS}}
        smallest = min(rankings.ks)
        gap = _gap(by_set, smallest, rankings)
        return {
            "sets": len(sets),
            "entities": sum(len(one.qids) for one in sets),
            "queries": {name: len(group) for name, group in groups.items()},
            "accuracy": {
                str(k): {name: describe_share([_is_right(row, k) for row in group]) for name, group in groups.items()}
                for k in rankings.ks
            },
            "gap": gap,
            "verdict": decide(gap["ci95"], above="head", below="tail") if gap is not None else None,
            "all_correct": {
                str(k): describe_share([all(_is_right(row, k) for row in of_set) for of_set in by_set])
                for k in rankings.ks
            },
            "confusion": {name: describe_share([_is_confused(row) for row in group]) for name, group in groups.items()},
            "neither": describe_share([row["rank"] is None and row["namesake_rank"] is None for row in everything]),
            "popularity": list(_popularity(sets, rows, smallest)) or None,
            "long_tail": _long_tail(sets) or None,
        }


def _find_namesakes(amber_set: AmberSet, entity: AmberEntity) -> frozenset[str]:
    """The documents about other entities of a set."""
    others = [other.documents for other in amber_set.qids.values() if other is not entity]
    # A document about the entity itself does not count as a namesake's, even where it is about both.
    return frozenset[str]().union(*others) - entity.documents


def _ranks(query: AmberQuery, namesakes: Set[str], rankings: Rankings) -> Row:
    """Where the articles that were found for a query have its gold document, and the first one of a namesake."""
    articles = rankings.articles(query.id)
    rank = _first_rank(articles, query.gold)
    namesake = _first_rank(articles, namesakes)
    row: Row = {
        "rank": rank,
        "namesake_rank": namesake,
        "namesake": articles[namesake - 1] if namesake is not None else None,
        "first": articles[0] if articles else None,
    }
    return {**row, "outcome": _outcome(row) if query.id in rankings else "no ranking"}


def _first_rank(articles: Sequence[str], wanted: Set[str]) -> int | None:
    return next((rank for rank, article in enumerate(articles, start=1) if article in wanted), None)


def _is_right(row: Row, k: int) -> bool:
    """True where a gold document is among the first k."""
    return row["rank"] is not None and row["rank"] <= k


def _is_confused(row: Row) -> bool:
    """True where a document of a namesake stands above every gold document."""
    return row["namesake_rank"] is not None and (row["rank"] is None or row["namesake_rank"] < row["rank"])


def _outcome(row: Row) -> str:
    """What became of a query that has a ranking."""
    if _is_right(row, 1):
        return "right"
    if _is_confused(row):
        return "namesake first"
    return "other document first" if row["rank"] is not None else "not found"


def _gap(by_set: Sequence[Sequence[Row]], k: int, rankings: Rankings) -> dict[str, Any] | None:
    """The accuracy on head queries minus that on tail queries; sets are drawn, as the queries of one are dependent."""
    counts = []
    for of_set in by_set:
        hits = {name: [_is_right(row, k) for row in of_set if row["group"] == name] for name in GROUPS}
        counts.append([number for group in hits.values() for number in (sum(group), len(group))])
    return describe_gap(counts, rankings.rounds, rankings.seed)


def _popularity_gap(head: float, tail: float) -> float:
    """The gap as a share of the tail's popularity; infinite where that is 0 and the head's is more."""
    if tail > 0:
        return (head - tail) / tail
    return math.inf if head > tail else 0.0


def _long_tail(sets: Sequence[AmberSet]) -> list[dict[str, Any]]:
    """Figure 2: entities from the most to the least popular, all of the first ranks and some of the later ones."""
    known = [
        (entity.popularity, "head" if entity.is_head else "tail")
        for amber_set in sets
        for entity in amber_set.qids.values()
        if entity.popularity is not None
    ]
    ranked = sorted(known, key=lambda one: -one[0])
    # Each step is about a thirtieth of the rank, so that 100,000 entities are some 300 points.
    shown, rank = [], 1
    while rank <= len(ranked):
        popularity, group = ranked[rank - 1]
        shown.append({"rank": rank, "popularity": popularity, "group": group})
        rank += max(1, rank // STEP)
    return shown


def _popularity(sets: Sequence[AmberSet], rows: Mapping[str, Row], k: int) -> Iterator[dict[str, Any]]:
    """Figure 4: for pairs of a head and a tail entity, by their gap, the difference of the accuracies."""
    bins: dict[int, tuple[list[bool], list[bool]]] = {}
    for amber_set in sets:
        heads = [e for e in amber_set.qids.values() if e.is_head and e.popularity is not None and e.queries]
        tails = [e for e in amber_set.qids.values() if not e.is_head and e.popularity is not None and e.queries]
        for head in heads:
            for tail in tails:
                gap = _popularity_gap(head.popularity or 0, tail.popularity or 0)
                # A gap that is exactly at an edge belongs above it; without rounding 0.6 / 0.2 is below 3.
                number = math.floor(round(min(gap, LAST) / BIN, 9))
                for entity, hits in zip((head, tail), bins.setdefault(number, ([], [])), strict=True):
                    hits += [_is_right(rows[query.id], k) for query in entity.queries]
    for number in sorted(bins):
        head_hits, tail_hits = bins[number]
        yield {
            "at_least": round(number * BIN, 9),
            "below": round((number + 1) * BIN, 9) if number < round(LAST / BIN) else None,
            "head": describe_share(head_hits),
            "tail": describe_share(tail_hits),
            "difference": sum(head_hits) / len(head_hits) - sum(tail_hits) / len(tail_hits),
        }
