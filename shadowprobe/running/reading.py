"""The task of a reader: answer queries from documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, structs

from shadowprobe import plugins
from shadowprobe.base.model import Failure
from shadowprobe.errors import InputError, LinkerError, PluginError, UsageError
from shadowprobe.measure.query_probes import ReadingProbe
from shadowprobe.measure.statistics import ROUNDS, SEED
from shadowprobe.queries.amber_sets import TASKS
from shadowprobe.queries.query import ReaderAnswer, ReaderQuery
from shadowprobe.running.directory import ANSWERS, SCHEMA, Results, RunCard, read_stored_card
from shadowprobe.running.document_source import ORACLE, DocumentSource, K, open_source
from shadowprobe.running.job import Job
from shadowprobe.running.probe_queries import (
    QueryTask,
    choose_probes,
    gather_queries,
    load_probes,
    read_own_lines,
    run_probes,
)
from shadowprobe.running.task import Batch
from shadowprobe.systems.calling import open_reader
from shadowprobe.systems.options import describe_system, option_values
from shadowprobe.systems.reader import Reader, make_answers

BUILTIN = "namesakes"
# What results say of answers of which nobody knows from what documents they are.
UNKNOWN = "unknown"


class ReadingSettings(Struct, frozen=True):
    """Which queries are answered, and how the answers are measured; what is not given is that of an earlier run."""

    collection: str | None = None
    probes: tuple[str, ...] = ()
    queries: Path | None = None
    limit: int | None = None
    rounds: int = ROUNDS
    seed: int = SEED


class ReadingTask(QueryTask):
    """A reader, the queries of some probes, and the documents that it may read for them.

    Without a reader, stored answers are measured. `card` is that of their run.
    """

    kind = "reader"
    answers_file = ANSWERS
    reader: Reader
    queries: Mapping[str, ReaderQuery]
    answers: dict[str, ReaderAnswer]

    def __init__(
        self,
        reader: Reader | None = None,
        source: DocumentSource | None = None,
        settings: ReadingSettings | None = None,
        *,
        options: Mapping[str, str] | None = None,
        card: RunCard | None = None,
    ) -> None:
        self.source, self.settings = source, settings or ReadingSettings()
        origin = card or (source.card if source is not None else None)
        earlier = origin.location_of("collection") if origin is not None else ""
        location, queries = self.settings.collection or earlier or BUILTIN, self.settings.queries
        if queries is None and origin is not None and (place := origin.locations.get("queries")):
            queries = Path(place)
        super().__init__(location, queries)
        self.probes = self._open_probes(self.settings.probes, origin)
        digests = load_probes(self.probes, self.collection, queries)
        self._check_source(digests)
        # What a file of answers may hold; a limited job may well continue in the directory of a longer one.
        self._known = self._gather()
        tasks = reader.tasks if reader is not None else tuple(card.system.get("tasks", TASKS) if card else TASKS)
        for probe in self.probes:
            probe.rounds, probe.seed = self.settings.rounds, self.settings.seed
            probe.keep(tasks, self.settings.limit)
        self.queries = self._gather()
        if not self.queries:
            raise UsageError(f"there is no query that the reader can answer: it does {', '.join(tasks)}")
        if source is not None and source.ranked is not None and not source.ranked.keys() & self.queries.keys():
            raise UsageError(f"--documents: `{source.name}` has no ranking for any of the {len(self.queries)} queries")
        self.total = len(self.queries)
        described = source.described if source is not None else (card.documents if card is not None else None)
        self._documents = described or {"source": UNKNOWN}
        self.name = f"{self.collection.name}-{self._documents['source']}"
        self.questions = {"collection": self.collection.described, "queries": digests, "documents": self._documents}
        self._notes: list[str] = []
        if reader is not None and source is not None:
            self.reader = self._tested = reader
            self.incidental = reader.incidental
            system = describe_system(reader.name, reader.version, option_values(reader, options))
            if "documents" in system["options"]:
                raise PluginError(f"reader `{reader.name}`: an option `documents` is that of the command; rename it")
            # Labels of runs have the options that differ.
            system["options"]["documents"] = source.label
            self.system = system if set(tasks) == set(TASKS) else {**system, "tasks": list(tasks)}

    def _open_probes(self, names: Sequence[str], origin: RunCard | None) -> list[ReadingProbe]:
        probes = choose_probes(ReadingProbe, names, self.collection)
        if names or origin is None or origin.queries is None:
            return probes if names or self.source is None or self.source.ranked is not None else _with_gold(probes)
        # A run of a retriever names its probes, and one of a reader those of reading.
        asked = [probe for probe in probes if probe.folder in origin.queries or probe.name in origin.queries]
        if not asked:
            raise UsageError(f"no probe of reading has the queries of the run: {', '.join(origin.queries)}")
        return asked

    def _check_source(self, digests: Mapping[str, str]) -> None:
        """Refuses documents that do not fit the queries or the collection."""
        if self.source is None:
            return
        if self.source.ranked is None:
            for probe in self.probes:
                if not probe.has_gold:
                    raise UsageError(
                        f"--documents {ORACLE}: the queries of `{probe.name}` name no right documents; give a run of a"
                        " retriever"
                    )
        if (card := self.source.card) is None:
            return
        if (card.collection or {}).get("digest") != self.collection.digest:
            raise InputError(
                self.collection.path,
                f"is not what the run of `{self.source.name}` searched; --collection names the documents",
            )
        for name, digest in digests.items():
            if digest not in (card.queries or {}).values():
                raise UsageError(f"--documents: the run of `{self.source.name}` has other queries than `{name}`")

    def _gather(self) -> dict[str, ReaderQuery]:
        return gather_queries((probe.name, probe.queries()) for probe in self.probes)

    @property
    def notes(self) -> list[str]:
        """What the reader has said about this run, and what is missing in its documents."""
        return [*self._notes, *super().notes]

    def load(self, path: Path, *, resumed: bool = False) -> None:
        """Reads stored answers, all of which must be to queries of the probes."""
        self.answers = read_own_lines(path, ReaderAnswer, self._known, torn=resumed)
        if not resumed and not self.answers.keys() & self.queries.keys():
            raise InputError(path, f"has no answer to any of the {self.total} queries")

    @contextmanager
    def open_system(self) -> Iterator[None]:
        """Reads the documents, lets the reader prepare, and closes it at the end of the block."""
        if self.source is None:
            raise LinkerError("there are no documents to read: the answers are stored ones")
        self.queries, lacking = self.source.hand_out(self.queries.values(), self.collection)
        self._note_missing(lacking)
        with open_reader(self.reader):
            yield

    def _note_missing(self, lacking: int) -> None:
        if lacking:
            self._notes.append(f"{lacking} documents are not in the collection `{self.collection.name}`")
        if empty := sum(not query.documents for query in self.queries.values()):
            self._notes.append(f"{empty} queries have no document to read; they are not asked and count as wrong")

    def ask(self) -> Iterator[Batch]:
        """Asks for every answer that is missing; without a document, nobody is asked and the answer is empty."""
        waiting = [query for query in self.queries.values() if query.id not in self.answers]
        if empty := [ReaderAnswer(query.id, "", False) for query in waiting if not query.documents]:
            self.answers |= {answer.id: answer for answer in empty}
            yield Batch.divide(empty)
        readable = [query for query in waiting if query.documents]
        for batch in self.ask_in_batches(readable, self.reader.batch_size, self._read):
            self.answers |= {answer.id: answer for answer in batch.answers}
            yield batch

    def _read(self, queries: Sequence[ReaderQuery]) -> Iterator[ReaderAnswer | Failure]:
        return make_answers(self.reader, queries, self.reader.read([self._show(query) for query in queries]))

    def _show(self, query: ReaderQuery) -> ReaderQuery:
        """What a reader may see of a query."""
        if self.reader.sees_gold:
            return query
        return structs.replace(query, answers=(), gold=frozenset(), found=False)

    def measure(self, notes: Iterable[str]) -> Results:
        """What every probe finds in the answers."""
        return {
            "schema": SCHEMA,
            "reader": dict(self.system),
            "collection": {**self.questions["collection"], "limit": self.settings.limit},
            "queries": self.questions["queries"],
            "documents": self._documents,
            "settings": {"bootstrap_rounds": self.settings.rounds, "bootstrap_seed": self.settings.seed},
            "missing": self.waiting,
            "notes": list(notes),
            "probes": run_probes(self.probes, self.answers),
        }


def _with_gold(probes: Sequence[ReadingProbe]) -> list[ReadingProbe]:
    """The probes whose queries name right documents; without one of them, all, so that the refusal names one."""
    return [probe for probe in probes if probe.has_gold] or list(probes)


def make_reading_job(
    reader: str,
    documents: str = ORACLE,
    settings: ReadingSettings | None = None,
    *,
    k: int = K,
    options: Mapping[str, str] | None = None,
    out: Path | None = None,
    force: bool = False,
) -> Job[ReadingTask]:
    """A reader to be asked the queries of some probes, with everything checked before the first document is read."""
    made, source = plugins.make_reader(reader, options), open_source(documents, k)
    return Job(ReadingTask(made, source, settings, options=options), out, force=force)


def open_stored_answers(source: Path, settings: ReadingSettings | None = None) -> ReadingTask:
    """The task of stored answers: its collection and queries are those of the run, unless others are given."""
    card = read_stored_card(source, ANSWERS)
    if card is not None and card.kind != ReadingTask.kind:
        # `read_card` of the task says which command is for it.
        card = None
    return ReadingTask(settings=settings, card=card)
