"""What the tasks share that ask the queries of some probes about one collection."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from shadowprobe import plugins
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.errors import InputError, PluginError, UsageError
from shadowprobe.measure.probe import Findings
from shadowprobe.measure.query_probes import AnswerProbe, QueryProbe, RankingProbe, ReadingProbe
from shadowprobe.queries.collection import Collection, digest_of, open_collection
from shadowprobe.queries.query import Query
from shadowprobe.running.task import Task


class _WithId(Protocol):
    @property
    def id(self) -> str: ...


AnyProbe = TypeVar("AnyProbe", bound=QueryProbe)
AnyQuery = TypeVar("AnyQuery", bound=Query)
Line = TypeVar("Line", bound=_WithId)


class QueryTask(Task):
    """A system that is asked queries, and the collection that these are about."""

    over = "collection"
    unit = "queries"
    # What is asked, and what is answered, by the ids of the queries.
    queries: Mapping[str, Query]
    answers: dict[str, Any]

    def __init__(self, location: str, queries: Path | None) -> None:
        self.collection = open_collection(location)
        self.locations = {"collection": location}
        self.paths = {"collection": self.collection.directory or self.collection.path}
        if queries is not None:
            self.locations["queries"], self.paths["queries"] = str(queries), queries
        self.answers = {}

    @property
    def waiting(self) -> int:
        """How many queries have no answer yet."""
        return sum(query not in self.answers for query in self.queries)

    def encode_answers(self, path: Path) -> bytes:
        """The answers that were loaded."""
        return encode_lines(self.answers.values())


def choose_probes(base: type[AnyProbe], names: Sequence[str], collection: Collection) -> list[AnyProbe]:
    """The probes that a user names, or all of a base class that a collection has queries for."""
    return [_make_probe(base, name) for name in names] or _find_probes(base, collection)


def load_probes(probes: Sequence[QueryProbe], collection: Collection, queries: Path | None) -> dict[str, str]:
    """Lets every probe read its queries, from a file of the user's or from the collection; returns their digests."""
    if queries is not None and len(probes) != 1:
        raise UsageError("--queries: goes with one --probe, whose queries they are")
    sources = {probe.name: queries or _find_queries(probe, collection) for probe in probes}
    for probe in probes:
        probe.load(sources[probe.name])
    return {name: digest_of(path) for name, path in sources.items()}


def run_probes(probes: Iterable[RankingProbe | ReadingProbe | AnswerProbe], *answers: Any) -> dict[str, Findings]:
    """What each probe finds in the answers, by its name."""
    return {probe.name: plugins.run_probe(probe.name, partial(probe.measure, *answers)) for probe in probes}


def gather_queries(named: Iterable[tuple[str, Iterable[AnyQuery]]]) -> dict[str, AnyQuery]:
    """All queries by their ids, from those of each probe by its name."""
    gathered: dict[str, AnyQuery] = {}
    for name, queries in named:
        for query in queries:
            if query.id in gathered:
                # They would share one answer.
                raise UsageError(f"probe `{name}`: there is a second query {query.id!r}")
            gathered[query.id] = query
    return gathered


def read_own_lines(path: Path, kind: type[Line], known: Container[str] | None, *, torn: bool) -> dict[str, Line]:
    """What a run has stored for its queries, or for any if none are `known`; the last line may be torn."""
    stored: dict[str, Line] = {}
    for line, item in read_lines(path, kind, torn=torn):
        if known is not None and item.id not in known:
            raise InputError(path, f"{item.id!r} is no query of this run", line=line, field="id")
        if item.id in stored:
            raise InputError(path, f"{item.id!r} is answered twice", line=line, field="id")
        stored[item.id] = item
    return stored


def _find_probes(base: type[AnyProbe], collection: Collection) -> list[AnyProbe]:
    probes = plugins.make_retrieval_probes(base)
    if collection.directory is not None:
        probes = [probe for probe in probes if (collection.directory / probe.folder).exists()]
        if not probes:
            raise UsageError(f"the collection `{collection.name}` has no queries: give --probe, and --queries")
    return probes


def _find_queries(probe: QueryProbe, collection: Collection) -> Path:
    """The folder of a collection that has the queries of a probe."""
    if collection.directory is None:
        raise UsageError(
            f"`{collection.name}` is a file of documents alone: give --probe, and its queries by --queries"
        )
    if not (folder := collection.directory / probe.folder).exists():
        raise UsageError(f"the collection `{collection.name}` has no queries for `{probe.name}`: give --queries")
    return folder


def _make_probe(base: type[AnyProbe], name: str) -> AnyProbe:
    """The probe that a user names; others are loaded only to list them."""
    try:
        return plugins.make_retrieval_probe(name, base)
    except PluginError:
        if name not in plugins.names(plugins.RETRIEVAL_PROBES):
            raise
        # One that cannot be loaded at all raises its own error.
        plugins.make_retrieval_probe(name, object)
    usable = [probe.name for probe in plugins.make_retrieval_probes(base)]
    raise UsageError(f"--probe {name}: asks no {base.asks}; those that do are {', '.join(usable)}")
