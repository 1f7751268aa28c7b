"""The task of a retriever: find documents for the queries of some probes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from shadowprobe import plugins
from shadowprobe.base.model import Failure
from shadowprobe.errors import InputError, UsageError
from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.measure.rankings import Rankings, look_up, read_rankings
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.queries.query import Query, Ranking
from shadowprobe.running.directory import RANKINGS, SCHEMA, Results
from shadowprobe.running.job import Job
from shadowprobe.running.naming import choose_options
from shadowprobe.running.probe_queries import (
    QueryTask,
    choose_probes,
    gather_queries,
    load_probes,
    read_own_lines,
    run_probes,
)
from shadowprobe.running.task import Batch
from shadowprobe.systems.calling import close_system
from shadowprobe.systems.options import describe_system, option_values
from shadowprobe.systems.retriever import Retriever, make_rankings

if TYPE_CHECKING:
    from shadowprobe.measure.seen_entities import SeenEntities

DEPTH, KS = 100, (1, 20)
TEXT_ONLY = "counted with --text-only: an answer in the title of a document does not count"


class RetrievalSettings(Struct, frozen=True):
    """How rankings are measured."""

    ks: tuple[int, ...] = KS
    depth: int = DEPTH
    rounds: int = ROUNDS
    seed: int = SEED
    # Count an answer to an entity question only in the text of a document, and not in its title.
    text_only: bool = False
    # A list of the entities that the retriever has seen in training.
    seen: Path | None = None

    def __post_init__(self) -> None:
        if not self.ks or min(self.ks) < 1:
            raise UsageError("-k: is a number of documents, and at least 1")
        if self.depth < max(self.ks):
            raise UsageError(f"--depth: is {self.depth}, and less than the largest -k, {max(self.ks)}")
        if self.seen is not None and not self.seen.is_file():
            raise InputError(self.seen, "no such file: --seen lists titles or QIDs, one on each line")


class RetrievingTask(QueryTask):
    """A retriever and the queries of some probes over one collection."""

    kind = "retriever"
    answers_file = RANKINGS
    # A task of stored rankings has none.
    retriever: Retriever
    answers: dict[str, Ranking]

    def __init__(
        self,
        collection: str = "namesakes",
        retriever: Retriever | None = None,
        *,
        options: Mapping[str, str] | None = None,
        probes: Sequence[str] = (),
        queries: Path | None = None,
        settings: RetrievalSettings | None = None,
    ) -> None:
        super().__init__(collection, queries)
        self.settings = settings or RetrievalSettings()
        self._seen = self._read_seen()
        self.name = self.collection.name
        self.probes = choose_probes(RankingProbe, probes, self.collection)
        digests = load_probes(self.probes, self.collection, queries)
        self.questions = {"collection": self.collection.described, "queries": digests, "depth": self.settings.depth}
        self.queries = gather_queries((probe.name, probe.queries()) for probe in self.probes)
        self.total = len(self.queries)
        if retriever is not None:
            self.retriever = self._tested = retriever
            values = option_values(getattr(retriever, "linker", retriever), options)
            self.system = describe_system(retriever.name, retriever.version, values)
            self._given = tuple(options or ())

    def _read_seen(self) -> SeenEntities | None:
        if self.settings.seen is None:
            return None
        # Few runs mark entities, and the others need not load it.
        from shadowprobe.measure.seen_entities import SeenEntities

        return SeenEntities(self.settings.seen, self.collection)

    @property
    def chosen(self) -> Mapping[str, Any]:
        """Options that were given, and differ from their defaults; those of the linker of a retriever by linker."""
        made = getattr(self.retriever, "linker", self.retriever)
        return choose_options(type(made), self.system["options"], self._given, self.incidental)

    def load(self, path: Path, *, resumed: bool = False) -> None:
        """Reads the rankings of a run, all of which must be of its queries; or stored ones, ours or KILT's."""
        if resumed:
            self.answers = read_own_lines(path, Ranking, self.queries, torn=True)
            return
        self.answers = {ranking.id: ranking for ranking in read_rankings(path) if ranking.id in self.queries}
        if not self.answers:
            raise InputError(path, f"has no ranking for any of the {self.total} queries")

    @contextmanager
    def open_system(self) -> Iterator[None]:
        """Lets the retriever index the collection, and closes it at the end of the block."""
        with self.name_errors():
            self.retriever.open(self.collection.documents(), self._gather_names())
        try:
            yield
        finally:
            close_system(self.retriever, "retriever")

    def _gather_names(self) -> dict[str, Sequence[str]]:
        """The ambiguous names of all queries, each with the documents of its entities."""
        names: dict[str, list[str]] = {}
        for probe in self.probes:
            for name, documents in probe.names().items():
                known = names.setdefault(name, [])
                known += [document for document in documents if document not in known]
        return dict(names)

    def ask(self) -> Iterator[Batch]:
        """Searches for every query that has no ranking."""
        waiting = [query for query in self.queries.values() if query.id not in self.answers]
        for batch in self.ask_in_batches(waiting, self.retriever.batch_size, self._search):
            self.answers |= {ranking.id: ranking for ranking in batch.answers}
            yield batch

    def _search(self, queries: Sequence[Query]) -> Iterator[Ranking | Failure]:
        depth = self.settings.depth
        return make_rankings(self.retriever, queries, self.retriever.search(queries, depth), depth)

    def measure(self, notes: Iterable[str]) -> Results:
        """What every probe finds in the rankings."""
        settings = self.settings
        retrieved = {document for ranking in self.answers.values() for document in ranking.documents}
        gold = {document for probe in self.probes for document in probe.gold()}
        known = look_up(self.collection, retrieved | gold)
        rankings = Rankings(
            self.collection,
            self.answers.values(),
            depth=settings.depth,
            ks=settings.ks,
            rounds=settings.rounds,
            seed=settings.seed,
            pages=known.pages,
            text_only=settings.text_only,
            seen=self._seen,
        )
        lacking = [
            f"{len(ids & known.lacking)} of the {len(ids)} {what} are not in the collection `{self.collection.name}`"
            for ids, what in ((gold, "documents that queries ask for"), (retrieved, "documents found"))
            if ids & known.lacking
        ]
        return {
            "schema": SCHEMA,
            "retriever": dict(self.system),
            "collection": self.questions["collection"],
            "queries": self.questions["queries"],
            "settings": {
                "depth": settings.depth,
                "k": list(settings.ks),
                "bootstrap_rounds": settings.rounds,
                "bootstrap_seed": settings.seed,
                "text_only": settings.text_only,
                **({"seen": self._seen.describe()} if self._seen is not None else {}),
            },
            "missing": self.waiting,
            "notes": [*notes, *lacking, *self._counting_notes()],
            "probes": run_probes(self.probes, rankings),
        }

    def _counting_notes(self) -> Iterator[str]:
        if self.settings.text_only:
            yield TEXT_ONLY
        if self._seen is not None and (note := self._seen.note()) is not None:
            yield note


def make_retrieving_job(
    retriever: str,
    collection: str = "namesakes",
    *,
    probes: Sequence[str] = (),
    queries: Path | None = None,
    options: Mapping[str, str] | None = None,
    out: Path | None = None,
    settings: RetrievalSettings | None = None,
    force: bool = False,
) -> Job[RetrievingTask]:
    """A retriever to be asked the queries of some probes, with everything checked before the first document is read."""
    made = plugins.make_retriever(retriever, options)
    task = RetrievingTask(collection, made, options=options, probes=probes, queries=queries, settings=settings)
    return Job(task, out, force=force)
