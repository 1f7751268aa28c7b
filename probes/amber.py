"""AmbER sets: does a retriever find the document of the less popular namesake?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from shadowprobe import Findings
from shadowprobe.retrieval.amber_places import Place, placed
from shadowprobe.retrieval.amber_sets import AmberEntity, AmberQuery, AmberSet, Part, names, read_amber_sets
from shadowprobe.retrieval.model import Query
from shadowprobe.retrieval.probe import RankingProbe
from shadowprobe.retrieval.rankings import Rankings
from shadowprobe.statistics import wilson

# Figure 4: bins a fifth wide, and all above 100% in the last.
BIN, LAST = 0.2, 1.0


class Found(NamedTuple):
    """What became of one query, and whether it is about the head."""

    head: bool
    place: Place


class AmberProbe(RankingProbe):
    """Is the document of the less popular namesake found? Head against tail, all of a set, and namesakes confused.

    Of each collection and task: `accuracy` at each k, the share of the queries with a gold document among the first k,
    for `all` queries, those about the `head` and those about the `tail`; `gap`, head minus tail at the smallest k, with
    a bootstrap over sets; `all_correct` (∀), the share of the sets with every query right; `confusion`, the share of
    the queries where a document of a namesake stands above the gold one; `neither`, the share where no document of the
    set was found at all. `popularity`: pairs of a head and a tail entity in bins a fifth wide of (head - tail) / tail
    of their popularities, all above 100% in the last, with the accuracy on their head queries minus that on the tail's.
    A query without a ranking is wrong.
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
            name: [one for found in documents for one in sorted(found)] for name, documents in names(self.parts).items()
        }

    def gold(self) -> frozenset[str]:
        """The documents that answer a query."""
        every = (query for sets in self.parts.values() for one in sets for _, query in one.queries())
        return frozenset(document for query in every for document in query.gold)

    def measure(self, rankings: Rankings) -> Findings:
        """The figures of each collection and task, under `human` and `nonhuman` where the files say which."""
        findings: Findings = {}
        for (collection, task), sets in self.parts.items():
            findings.setdefault(collection or "sets", {})[task or "queries"] = self._part(sets, rankings)
        return findings

    def _part(self, sets: Sequence[AmberSet], rankings: Rankings) -> dict[str, Any]:
        found = [[_found(s, e, q, rankings) for e in s.qids.values() for q in e.queries] for s in sets]
        flat = [one for of_set in found for one in of_set]
        groups = {"all": flat, "head": [f for f in flat if f.head], "tail": [f for f in flat if not f.head]}
        smallest = min(rankings.ks)
        return {
            "sets": len(sets),
            "entities": sum(len(s.qids) for s in sets),
            "queries": {name: len(group) for name, group in groups.items()},
            "accuracy": {
                str(k): {name: _rate([one.place.right(k) for one in group]) for name, group in groups.items()}
                for k in rankings.ks
            },
            "gap": _gap(found, smallest, rankings),
            "all_correct": {
                str(k): _rate([all(one.place.right(k) for one in of_set) for of_set in found]) for k in rankings.ks
            },
            "confusion": {name: _rate([one.place.confused for one in group]) for name, group in groups.items()},
            "neither": _rate([not one.place.rank and not one.place.rival for one in flat]),
            "popularity": list(_popularity(sets, rankings, smallest)) or None,
        }


def _found(amber_set: AmberSet, entity: AmberEntity, query: AmberQuery, rankings: Rankings) -> Found:
    return Found(entity.is_head, placed(amber_set, entity, query, rankings.articles(query.id)))


def _rate(hits: Sequence[bool]) -> dict[str, Any] | None:
    """A share with its interval; None of nothing."""
    if not hits:
        return None
    return {"n": len(hits), "rate": sum(hits) / len(hits), "ci95": list(wilson(sum(hits), len(hits)))}


def _gap(found: Sequence[Sequence[Found]], k: int, rankings: Rankings) -> dict[str, Any] | None:
    """The accuracy on head queries minus that on tail queries; sets are drawn, as the queries of one hang together."""
    table: npt.NDArray[np.int64] = np.array(
        [
            [
                sum(f.place.right(k) for f in of if f.head),
                sum(f.head for f in of),
                sum(f.place.right(k) for f in of if not f.head),
                sum(not f.head for f in of),
            ]
            for of in found
        ]
    ).reshape(-1, 4)
    totals = table.sum(axis=0)
    if not totals[1] or not totals[3]:
        return None
    generator = np.random.default_rng(rankings.seed)
    differences = []
    for _ in range(rankings.rounds):
        drawn = table[generator.integers(len(table), size=len(table))].sum(axis=0)
        if drawn[1] and drawn[3]:
            differences.append(drawn[0] / drawn[1] - drawn[2] / drawn[3])
    low, high = np.quantile(differences, [0.025, 0.975]) if differences else (-1.0, 1.0)
    return {"difference": float(totals[0] / totals[1] - totals[2] / totals[3]), "ci95": [float(low), float(high)]}


def _popularity_gap(head: float, tail: float) -> float:
    """The gap as a share of the tail's popularity; beside one of nothing any other is beyond all bounds."""
    if tail > 0:
        return (head - tail) / tail
    return math.inf if head > tail else 0.0


def _popularity(sets: Sequence[AmberSet], rankings: Rankings, k: int) -> Iterator[dict[str, Any]]:
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
                    hits += [_found(amber_set, entity, q, rankings).place.right(k) for q in entity.queries]
    for number in sorted(bins):
        head_hits, tail_hits = bins[number]
        yield {
            "at_least": round(number * BIN, 9),
            "below": round((number + 1) * BIN, 9) if number < round(LAST / BIN) else None,
            "head": _rate(head_hits),
            "tail": _rate(tail_hits),
            "difference": sum(head_hits) / len(head_hits) - sum(tail_hits) / len(tail_hits),
        }
