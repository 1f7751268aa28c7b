"""One whole job of retrieval: index, ask, measure, or measure stored rankings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct, field

import shadowprobe
from shadowprobe import plugins
from shadowprobe.dataset import make_directory
from shadowprobe.errors import InputError, LinkerError, PluginError, ShadowprobeError, UsageError
from shadowprobe.jsonl import (
    as_read_back,
    drop_halves,
    encode_json,
    encode_lines,
    read_json,
    read_lines,
    write_atomically,
)
from shadowprobe.probe import Findings
from shadowprobe.results import Results
from shadowprobe.retrieval.collection import Collection, digest_of, open_collection
from shadowprobe.retrieval.model import Hit, Query, Ranking
from shadowprobe.retrieval.probe import RankingProbe
from shadowprobe.retrieval.rankings import Rankings, pages_of, read_rankings
from shadowprobe.retrieval.retriever import Retriever
from shadowprobe.run_directory import RESULTS, RUN, drop_torn_line, locked
from shadowprobe.runner import Progress
from shadowprobe.statistics import ROUNDS, SEED

RANKINGS = "rankings.jsonl"
SCHEMA = 1
DEPTH, KS = 100, (1, 20)


class RetrievalCard(Struct, omit_defaults=True):
    """What `run.json` says of a run of retrieval: enough to know what was measured, and to go on with it."""

    retriever: dict[str, Any]
    collection: dict[str, Any]
    queries: dict[str, str]
    depth: int
    shadowprobe: str
    schema: int = SCHEMA
    started: str = ""
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class Measuring(Struct, frozen=True):
    """How rankings are measured."""

    ks: tuple[int, ...] = KS
    depth: int = DEPTH
    rounds: int = ROUNDS
    seed: int = SEED


class Retrieved(Struct, frozen=True):
    """A finished job: its results, where they are, and how many queries were asked and how many known already."""

    results: Results
    out: Path
    asked: int = 0
    resumed: int = 0
    seconds: float = 0.0


class Asking:
    """The probes of a job with their queries, read and checked before anything is asked."""

    def __init__(self, probes: Sequence[str], collection: Collection, queries: Path | None = None) -> None:
        self.collection = collection
        self.probes = [plugins.make_retrieval_probe(name, RankingProbe) for name in probes or _all_probes()]
        if queries is not None and len(self.probes) > 1:
            raise UsageError("--queries: goes with one --probe, whose queries they are")
        self.sources = {probe.name: queries or self._folder(probe, collection) for probe in self.probes}
        for probe in self.probes:
            probe.load(self.sources[probe.name])

    @staticmethod
    def _folder(probe: RankingProbe, collection: Collection) -> Path:
        if collection.directory is None:
            raise UsageError(f"`{collection.name}` is a file of documents alone: give the queries by --queries")
        if not (folder := collection.directory / probe.folder).exists():
            raise UsageError(f"the collection `{collection.name}` has no queries for `{probe.name}`: no {probe.folder}")
        return folder

    @property
    def digests(self) -> dict[str, str]:
        """What tells the queries of each probe from others."""
        return {name: digest_of(path) for name, path in self.sources.items()}

    def queries(self) -> dict[str, Query]:
        """Every query by its id."""
        return {query.id: query for probe in self.probes for query in probe.queries()}

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
        ranked = Rankings(
            self.collection,
            rankings,
            depth=measuring.depth,
            ks=measuring.ks,
            rounds=measuring.rounds,
            seed=measuring.seed,
            pages=pages_of(self.collection),
        )
        return {
            "schema": SCHEMA,
            "retriever": dict(retriever),
            "collection": {"name": self.collection.name, "digest": self.collection.digest},
            "queries": self.digests,
            "settings": {
                "depth": measuring.depth,
                "k": list(measuring.ks),
                "bootstrap_rounds": measuring.rounds,
                "bootstrap_seed": measuring.seed,
            },
            "missing": sum(query not in ranked for query in self.queries()),
            "notes": list(notes),
            "probes": {probe.name: _findings(probe, ranked) for probe in self.probes},
        }


class RetrieveJob:
    """A retriever to be asked the queries of some probes, with everything checked before the first document is read."""

    def __init__(
        self,
        retriever: str,
        collection: str = "namesakes",
        *,
        probes: Sequence[str] = (),
        queries: Path | None = None,
        options: Mapping[str, str] | None = None,
        out: Path | None = None,
        measuring: Measuring | None = None,
        force: bool = False,
    ) -> None:
        self.measuring = _checked(measuring or Measuring())
        self.retriever = plugins.make_retriever(retriever, options)
        self.asking = Asking(probes, open_collection(collection), queries)
        self.out = out or Path("runs") / re.sub(r"[/\\\0:]", "_", f"{retriever}-{self.asking.collection.name}")
        self.force = force
        own = getattr(self.retriever, "linker", self.retriever)
        self.described = {
            "name": self.retriever.name,
            "version": self.retriever.version,
            "options": as_read_back(plugins.option_values(own, options)),
        }

    def run(self, progress: Progress | None = None) -> Retrieved:
        """Asks what has no ranking yet, measures, writes results.json."""
        make_directory(self.out)
        with locked(self.out, RANKINGS) as file:
            card = self._claim(file)
            drop_halves(self.out)
            queries = self.asking.queries()
            done = set() if self.force else self._done(queries)
            waiting = [query for query in queries.values() if query.id not in done]
            began = datetime.now(UTC)
            if waiting:
                self._ask(file, waiting, card, progress or (lambda _: None))
            seconds = (datetime.now(UTC) - began).total_seconds()
            card.seconds = round(card.seconds + seconds, 3)
            write_atomically(self.out / RUN, encode_json(card))
        rankings = [ranking for _, ranking in read_lines(self.out / RANKINGS, Ranking)]
        results = self.asking.measured(rankings, self.measuring, self.described, card.notes)
        write_atomically(self.out / RESULTS, encode_json(results))
        return Retrieved(results, self.out, len(waiting), len(done), seconds)

    def _claim(self, file: BinaryIO) -> RetrievalCard:
        """Makes sure that what the directory holds is an earlier part of this very run."""
        card = RetrievalCard(
            retriever=self.described,
            collection={"name": self.asking.collection.name, "digest": self.asking.collection.digest},
            queries=self.asking.digests,
            depth=self.measuring.depth,
            shadowprobe=shadowprobe.__version__,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        path = self.out / RUN
        if self.force:
            file.truncate(0)
            return card
        if not path.exists():
            held = RANKINGS if file.seek(0, os.SEEK_END) else RESULTS if (self.out / RESULTS).exists() else ""
            if held:
                raise UsageError(
                    f"{self.out} holds {held} without {RUN}; give another --out, or --force to write over it"
                )
            # Written first: rankings without a card could be anybody's.
            write_atomically(path, encode_json(card))
            return card
        earlier = read_json(path, RetrievalCard)
        for what in ("retriever", "collection", "queries", "depth"):
            if getattr(earlier, what) != getattr(card, what):
                raise UsageError(
                    f"{self.out} holds a run whose {what} is {getattr(earlier, what)!r}, not {getattr(card, what)!r};"
                    " give another --out, or --force to start it afresh"
                )
        return earlier

    def _done(self, queries: Mapping[str, Query]) -> set[str]:
        done: set[str] = set()
        path = self.out / RANKINGS
        for line, ranking in read_lines(path, Ranking, torn=True):
            if ranking.id not in queries:
                raise InputError(path, f"{ranking.id!r} is no query of this run", line=line, field="id")
            if ranking.id in done:
                raise InputError(path, f"{ranking.id!r} is answered twice", line=line, field="id")
            done.add(ranking.id)
        return done

    def _ask(self, file: BinaryIO, waiting: Sequence[Query], card: RetrievalCard, progress: Progress) -> None:
        drop_torn_line(file)
        with _said_plainly(self.retriever):
            self.retriever.open(self.asking.collection.documents(), self.asking.names())
            try:
                size = self.retriever.batch_size
                for start in range(0, len(waiting), size):
                    batch = waiting[start : start + size]
                    found = self.retriever.search(batch, self.measuring.depth)
                    file.write(encode_lines(_as_rankings(self.retriever, batch, found, self.measuring.depth)))
                    file.flush()
                    progress(len(batch))
            finally:
                self.retriever.close()
        card.notes = list(dict.fromkeys([*card.notes, *self.retriever.notes]))


def score_rankings(
    predictions: Path,
    collection: str = "namesakes",
    *,
    probes: Sequence[str] = (),
    queries: Path | None = None,
    name: str | None = None,
    out: Path | None = None,
    measuring: Measuring | None = None,
    force: bool = False,
) -> Retrieved:
    """Measures stored rankings, our own or in KILT's form, and writes results.json."""
    measuring = _checked(measuring or Measuring())
    path = predictions / RANKINGS if predictions.is_dir() else predictions
    asking = Asking(probes, open_collection(collection), queries)
    known = asking.queries()
    rankings = [ranking for ranking in read_rankings(path) if ranking.id in known]
    if not rankings:
        raise InputError(path, f"has no ranking for any of the {len(known)} queries")
    called = name or (path.parent.name if path.name == RANKINGS else path.stem)
    target = out or Path("runs") / re.sub(r"[/\\\0:]", "_", f"{called}-{asking.collection.name}")
    if (target / RESULTS).exists() and target.resolve() != path.parent.resolve() and not force:
        raise UsageError(f"{target / RESULTS} exists; give another --out, or --force to write over it")
    results = asking.measured(rankings, measuring, {"name": called, "version": "", "options": {}})
    make_directory(target)
    write_atomically(target / RESULTS, encode_json(results))
    return Retrieved(results, target)


def _all_probes() -> list[str]:
    """The probes that read rankings, of all that there are."""
    found = []
    for name in plugins.names(plugins.RETRIEVAL_PROBES):
        try:
            plugins.make_retrieval_probe(name, RankingProbe)
        except PluginError:
            continue
        found.append(name)
    return found


def _checked(measuring: Measuring) -> Measuring:
    if not measuring.ks or min(measuring.ks) < 1:
        raise UsageError("-k: is a number of documents, and at least 1")
    if measuring.depth < max(measuring.ks):
        raise UsageError(f"--depth: is {measuring.depth}, and less than the largest -k, {max(measuring.ks)}")
    return measuring


def _findings(probe: RankingProbe, rankings: Rankings) -> Findings:
    try:
        found: Findings = as_read_back(probe.measure(rankings))
    except ShadowprobeError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(f"probe `{probe.name}` failed: {what} (--debug shows where)") from error
    return found


def _as_rankings(
    retriever: Retriever, queries: Sequence[Query], found: Sequence[Sequence[Hit]], depth: int
) -> Iterator[Ranking]:
    if len(found) != len(queries):
        raise LinkerError(f"retriever `{retriever.name}` gave {len(found)} rankings for {len(queries)} queries")
    for query, hits in zip(queries, found, strict=True):
        ids = [str(hit[0]) for hit in hits]
        if len(ids) > depth or len(set(ids)) < len(ids):
            raise LinkerError(
                f"retriever `{retriever.name}` gave {len(ids)} documents, {len(set(ids))} of them different, where at"
                f" most {depth} different ones were asked for"
            )
        yield Ranking(query.id, tuple(ids), tuple(round(float(hit[1]), 6) for hit in hits))


@contextmanager
def _said_plainly(retriever: Retriever) -> Iterator[None]:
    """Says of whatever goes wrong inside that it is the retriever's."""
    try:
        yield
    except ShadowprobeError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise LinkerError(f"retriever `{retriever.name}` failed: {what} (--debug shows where)") from error
