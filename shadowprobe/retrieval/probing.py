"""The probes of a job of retrieval: their queries, and what they find in rankings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from shadowprobe import plugins
from shadowprobe.errors import PluginError, ShadowprobeError, UsageError
from shadowprobe.jsonl import as_read_back
from shadowprobe.probe import Findings
from shadowprobe.results import Results
from shadowprobe.retrieval.card import SCHEMA
from shadowprobe.retrieval.collection import Collection, digest_of
from shadowprobe.retrieval.model import Query, Ranking
from shadowprobe.retrieval.probe import RankingProbe
from shadowprobe.retrieval.rankings import Rankings, look_up
from shadowprobe.statistics import ROUNDS, SEED

DEPTH, KS = 100, (1, 20)


class Measuring(Struct, frozen=True):
    """How rankings are measured."""

    ks: tuple[int, ...] = KS
    depth: int = DEPTH
    rounds: int = ROUNDS
    seed: int = SEED


def checked(measuring: Measuring) -> Measuring:
    """Refuses what cannot be measured."""
    if not measuring.ks or min(measuring.ks) < 1:
        raise UsageError("-k: is a number of documents, and at least 1")
    if measuring.depth < max(measuring.ks):
        raise UsageError(f"--depth: is {measuring.depth}, and less than the largest -k, {max(measuring.ks)}")
    return measuring


class Asking:
    """The probes of a job with their queries, read and checked before anything is asked."""

    def __init__(self, probes: Sequence[str], collection: Collection, queries: Path | None = None) -> None:
        self.collection = collection
        if queries is not None and len(probes) != 1:
            raise UsageError("--queries: goes with one --probe, whose queries they are")
        self.probes = [_probe(name) for name in probes] or self._answerable(collection)
        self.sources = {probe.name: queries or self._folder(probe, collection) for probe in self.probes}
        for probe in self.probes:
            probe.load(self.sources[probe.name])

    @staticmethod
    def _answerable(collection: Collection) -> list[RankingProbe]:
        """All probes that a collection has queries for."""
        found = list(_all_probes().values())
        if collection.directory is not None:
            found = [probe for probe in found if (collection.directory / probe.folder).exists()]
            if not found:
                raise UsageError(f"the collection `{collection.name}` has no queries: give --probe, and --queries")
        return found

    @staticmethod
    def _folder(probe: RankingProbe, collection: Collection) -> Path:
        if collection.directory is None:
            raise UsageError(
                f"`{collection.name}` is a file of documents alone: give --probe, and its queries by --queries"
            )
        if not (folder := collection.directory / probe.folder).exists():
            raise UsageError(f"the collection `{collection.name}` has no queries for `{probe.name}`: give --queries")
        return folder

    @property
    def digests(self) -> dict[str, str]:
        """What tells the queries of each probe from others."""
        return {name: digest_of(path) for name, path in self.sources.items()}

    def queries(self) -> dict[str, Query]:
        """Every query by its id."""
        found: dict[str, Query] = {}
        for probe in self.probes:
            for query in probe.queries():
                if query.id in found:
                    # Their rankings would be one.
                    raise UsageError(f"probe `{probe.name}`: there is a second query {query.id!r}")
                found[query.id] = query
        return found

    def names(self) -> dict[str, Sequence[str]]:
        """The ambiguous names of all queries, each with the documents of its entities."""
        found: dict[str, list[str]] = {}
        for probe in self.probes:
            for name, documents in probe.names().items():
                known = found.setdefault(name, [])
                known += [document for document in documents if document not in known]
        return dict(found)

    def measured(
        self, rankings: Sequence[Ranking], measuring: Measuring, retriever: Mapping[str, Any], notes: Sequence[str] = ()
    ) -> Results:
        """What every probe finds in the rankings."""
        found = {document for ranking in rankings for document in ranking.documents}
        gold = {document for probe in self.probes for document in probe.gold()}
        looked_up = look_up(self.collection, found | gold)
        ranked = Rankings(
            self.collection,
            rankings,
            depth=measuring.depth,
            ks=measuring.ks,
            rounds=measuring.rounds,
            seed=measuring.seed,
            pages=looked_up.pages,
        )
        where = f"not in the collection `{self.collection.name}`"
        lacking = [
            f"{len(ids & looked_up.lacking)} of the {len(ids)} {what} are {where}"
            for ids, what in ((gold, "documents that queries ask for"), (found, "documents found"))
            if ids & looked_up.lacking
        ]
        return {
            "schema": SCHEMA,
            "retriever": dict(retriever),
            "collection": self.collection.described,
            "queries": self.digests,
            "settings": {
                "depth": measuring.depth,
                "k": list(measuring.ks),
                "bootstrap_rounds": measuring.rounds,
                "bootstrap_seed": measuring.seed,
            },
            "missing": sum(query not in ranked for query in self.queries()),
            "notes": [*notes, *lacking],
            "probes": {probe.name: _findings(probe, ranked) for probe in self.probes},
        }


def _probe(name: str) -> RankingProbe:
    usable = _all_probes()
    if name in plugins.names(plugins.RETRIEVAL_PROBES) and name not in usable:
        raise UsageError(f"--probe {name}: asks no retriever; those that do are {', '.join(usable)}")
    return usable.get(name) or plugins.make_retrieval_probe(name, RankingProbe)


def _all_probes() -> dict[str, RankingProbe]:
    """The probes that read rankings, of all that there are."""
    found = {}
    for name in plugins.names(plugins.RETRIEVAL_PROBES):
        # The others ask a language model, or are an outsider's that cannot be loaded.
        with suppress(PluginError):
            found[name] = plugins.make_retrieval_probe(name, RankingProbe)
    return found


def _findings(probe: RankingProbe, rankings: Rankings) -> Findings:
    try:
        found: Findings = as_read_back(probe.measure(rankings))
    except ShadowprobeError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"probe `{probe.name}` failed: {what} (--debug shows where)") from error
    return found
