"""One whole job of retrieval: index, ask, measure, or measure stored rankings."""

from __future__ import annotations

import math
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
    file_digest,
    read_json,
    read_lines,
    write_atomically,
)
from shadowprobe.masking import public_options
from shadowprobe.probe import Findings
from shadowprobe.results import Results
from shadowprobe.retrieval.collection import Collection, digest_of, open_collection
from shadowprobe.retrieval.model import Hit, Query, Ranking
from shadowprobe.retrieval.probe import RankingProbe
from shadowprobe.retrieval.rankings import Rankings, look_up, read_rankings
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
        if queries is not None and len(probes) != 1:
            raise UsageError("--queries: goes with one --probe, whose queries they are")
        self.probes = [_probe(name) for name in probes] or self._answerable(collection)
        self.sources = {probe.name: queries or self._folder(probe, collection) for probe in self.probes}
        for probe in self.probes:
            probe.load(self.sources[probe.name])

    @staticmethod
    def _answerable(collection: Collection) -> list[RankingProbe]:
        """All probes that a collection has queries for."""
        found = _all_probes()
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
        lacking = [
            f"{len(ids & looked_up.lacking)} of the {len(ids)} {what} are not in the collection `{self.collection.name}`"
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
        self.out = out or _default_out(retriever, self.asking.collection)
        self.force = force
        values = plugins.option_values(getattr(self.retriever, "linker", self.retriever), options)
        self.described = {
            "name": self.retriever.name,
            "version": self.retriever.version,
            "options": public_options(as_read_back(values)),
        }
        if files := {key: file_digest(value) for key, value in values.items() if _is_file(value)}:
            # A file that has changed makes another retriever of it, whose rankings are not the old one's.
            self.described["files"] = files

    def run(self, progress: Progress | None = None) -> Retrieved:
        """Asks what has no ranking yet, measures, writes results.json."""
        make_directory(self.out)
        seconds = 0.0
        with locked(self.out, RANKINGS) as file:
            card = self._claim(file)
            drop_halves(self.out)
            queries = self.asking.queries()
            done = set() if self.force else self._done(queries)
            waiting = [query for query in queries.values() if query.id not in done]
            if waiting:
                began = datetime.now(UTC)
                tell = progress or (lambda _: None)
                tell(len(done))
                self._ask(file, waiting, card, tell)
                seconds = (datetime.now(UTC) - began).total_seconds()
                card.seconds = round(card.seconds + seconds, 3)
                self._save(card)
        rankings = [ranking for _, ranking in read_lines(self.out / RANKINGS, Ranking)]
        results = self.asking.measured(rankings, self.measuring, self.described, card.notes)
        write_atomically(self.out / RESULTS, encode_json(results))
        return Retrieved(results, self.out, len(waiting), len(done), seconds)

    def _save(self, card: RetrievalCard) -> None:
        write_atomically(self.out / RUN, encode_json(card))

    def _claim(self, file: BinaryIO) -> RetrievalCard:
        """Makes sure that what the directory holds is an earlier part of this very run."""
        card = RetrievalCard(
            retriever=self.described,
            collection=self.asking.collection.described,
            queries=self.asking.digests,
            depth=self.measuring.depth,
            shadowprobe=shadowprobe.__version__,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        path = self.out / RUN
        if self.force:
            return card
        if not path.exists():
            held = RANKINGS if file.seek(0, os.SEEK_END) else RESULTS if (self.out / RESULTS).exists() else ""
            if held:
                raise UsageError(
                    f"{self.out} holds {held} without {RUN}; give another --out, or --force to write over it"
                )
            return card
        earlier = read_card(path)
        for what in ("retriever", "collection", "queries", "depth"):
            old, new = getattr(earlier, what), getattr(card, what)
            if old != new:
                raise UsageError(
                    f"{self.out} holds a run whose {_difference(what, old, new)};"
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
        with _said_plainly(self.retriever):
            self.retriever.open(self.asking.collection.documents(), self.asking.names())
            try:
                # Nothing is changed before here: a run that cannot start leaves all that an earlier one has.
                if self.force:
                    file.truncate(0)
                    (self.out / RESULTS).unlink(missing_ok=True)
                drop_torn_line(file)
                # Before the first ranking: rankings without a card could be anybody's.
                self._save(card)
                size = self.retriever.batch_size
                for start in range(0, len(waiting), size):
                    batch = waiting[start : start + size]
                    found = self.retriever.search(batch, self.measuring.depth)
                    lines = encode_lines(_as_rankings(self.retriever, batch, found, self.measuring.depth))
                    self._keep_notes(card)
                    file.write(lines)
                    file.flush()
                    progress(len(batch))
            finally:
                self.retriever.close()
        self._keep_notes(card)

    def _keep_notes(self, card: RetrievalCard) -> None:
        """Writes down what the retriever has said of the rankings before they are: a kill must not part the two."""
        notes = list(dict.fromkeys([*card.notes, *self.retriever.notes]))
        if notes != card.notes:
            card.notes = notes
            self._save(card)


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
    card = _card_of(path, asking.collection)
    known = asking.queries()
    rankings = [ranking for ranking in read_rankings(path) if ranking.id in known]
    if not rankings:
        raise InputError(path, f"has no ranking for any of the {len(known)} queries")
    unknown: dict[str, Any] = {"name": path.stem, "version": "", "options": {}}
    retriever = card.retriever if card is not None else unknown
    described = {**retriever, "name": name or retriever["name"]}
    target = out or _default_out(described["name"], asking.collection)
    # A run directory may be scored again in place; any other results are somebody's.
    own = path.name == RANKINGS and target.resolve() == path.parent.resolve()
    others = [name for name in (RESULTS, RUN, RANKINGS) if (target / name).exists()]
    if others and not own and not force:
        raise UsageError(f"{target / others[0]} exists; give another --out, or --force to write over it")
    results = asking.measured(rankings, measuring, described, card.notes if card is not None else ())
    make_directory(target)
    write_atomically(target / RESULTS, encode_json(results))
    return Retrieved(results, target)


def read_card(path: Path) -> RetrievalCard:
    """What a `run.json` of retrieval says."""
    card = read_json(path, RetrievalCard)
    if card.schema != SCHEMA:
        raise InputError(path, f"is {card.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    return card


def _card_of(path: Path, collection: Collection) -> RetrievalCard | None:
    """What the run behind a file of rankings says of itself, if the file belongs to one."""
    card_path = path.parent / RUN
    if path.name != RANKINGS or not card_path.exists():
        return None
    card = read_card(card_path)
    if card.collection != collection.described:
        raise InputError(
            card_path, f"the run's {_difference('', card.collection, collection.described)}", field="collection"
        )
    return card


def _default_out(retriever: str, collection: Collection) -> Path:
    """`runs/RETRIEVER-COLLECTION`; a name with a slash in it must not lead elsewhere."""
    return Path("runs") / re.sub(r"[/\\\0:]", "_", f"{retriever}-{collection.name}")


def _difference(what: str, old: Any, new: Any) -> str:
    """In what two entries of a card differ, for somebody who has to mend it."""
    if isinstance(old, dict) and isinstance(new, dict):
        key = next(key for key in (*new, *old) if old.get(key) != new.get(key))
        return _difference(f"{what} {key}".strip(), old.get(key), new.get(key))
    return f"{what} is {old!r}, not {new!r}"


def _is_file(value: Any) -> bool:
    return isinstance(value, Path) and value.is_file()


def _probe(name: str) -> RankingProbe:
    known = plugins.names(plugins.RETRIEVAL_PROBES)
    usable = [probe.name for probe in _all_probes()]
    if name in known and name not in usable:
        raise UsageError(f"--probe {name}: asks no retriever; those that do are {' and '.join(usable)}")
    return plugins.make_retrieval_probe(name, RankingProbe)


def _all_probes() -> list[RankingProbe]:
    """The probes that read rankings, of all that there are."""
    found = []
    for name in plugins.names(plugins.RETRIEVAL_PROBES):
        try:
            found.append(plugins.make_retrieval_probe(name, RankingProbe))
        except PluginError:
            # One that asks a language model, or an outsider's that cannot be loaded.
            continue
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
    retriever: Retriever, queries: Sequence[Query], found: Sequence[Sequence[Hit] | None], depth: int
) -> Iterator[Ranking]:
    if len(found) != len(queries):
        raise LinkerError(f"retriever `{retriever.name}` gave {len(found)} rankings for {len(queries)} queries")
    for query, hits in zip(queries, found, strict=True):
        if hits is not None:
            try:
                yield _as_ranking(query, hits, depth)
            except (TypeError, ValueError) as error:
                raise LinkerError(f"retriever `{retriever.name}`, query {query.id!r}: {error}") from error


def _as_ranking(query: Query, hits: Sequence[Hit], depth: int) -> Ranking:
    for hit in hits:
        if not isinstance(hit, tuple) or len(hit) != 2:
            raise ValueError(f"search() gave {hit!r}, where Hit(ID OF THE DOCUMENT, SCORE) is called for")
        # JSON has no such numbers, and no order has a place for the first of them.
        if not math.isfinite(hit[1]):
            raise ValueError(f"the document {hit[0]!r} has the score {float(hit[1])}, which is no number")
    ids = [str(hit[0]) for hit in hits]
    if len(ids) > depth or len(set(ids)) < len(ids):
        raise ValueError(
            f"search() gave {len(ids)} documents, {len(set(ids))} of them different, where at most {depth} different"
            " ones were asked for"
        )
    return Ranking(query.id, tuple(ids), tuple(round(float(hit[1]), 6) for hit in hits))


@contextmanager
def _said_plainly(retriever: Retriever) -> Iterator[None]:
    """Says of whatever goes wrong inside that it is the retriever's."""
    try:
        yield
    except ShadowprobeError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise LinkerError(f"retriever `{retriever.name}` failed: {what} (--debug shows where)") from error
