"""One whole job of retrieval: index, ask, measure, or measure stored rankings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

import shadowprobe
from shadowprobe import plugins
from shadowprobe.dataset import make_directory
from shadowprobe.errors import InputError, LinkerError, ShadowprobeError, UsageError
from shadowprobe.jsonl import (
    as_read_back,
    drop_halves,
    encode_json,
    encode_lines,
    file_digest,
    read_lines,
    write_atomically,
)
from shadowprobe.masking import public_options
from shadowprobe.results import Results
from shadowprobe.retrieval.card import RetrievalCard, difference, read_card
from shadowprobe.retrieval.collection import Collection, open_collection
from shadowprobe.retrieval.model import Query, Ranking
from shadowprobe.retrieval.probing import Asking, Measuring, checked
from shadowprobe.retrieval.rankings import read_rankings
from shadowprobe.retrieval.retriever import Retriever
from shadowprobe.retrieval.returned import as_rankings
from shadowprobe.run_directory import RESULTS, RUN, drop_torn_line, locked
from shadowprobe.runner import Progress

RANKINGS = "rankings.jsonl"


class Retrieved(Struct, frozen=True):
    """A finished job: its results, where they are, and how many queries were asked and how many known already."""

    results: Results
    out: Path
    asked: int = 0
    resumed: int = 0
    seconds: float = 0.0


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
        self.measuring = checked(measuring or Measuring())
        self.retriever = plugins.make_retriever(retriever, options)
        self.asking = Asking(probes, open_collection(collection), queries)
        self.locations = _locations(collection, queries)
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
            locations=self.locations,
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
                    f"{self.out} holds a run whose {difference(what, old, new)};"
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
        depth, size = self.measuring.depth, self.retriever.batch_size
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
            for start in range(0, len(waiting), size):
                batch = waiting[start : start + size]
                with _said_plainly(self.retriever):
                    lines = encode_lines(as_rankings(self.retriever, batch, self.retriever.search(batch, depth), depth))
                self._keep_notes(card)
                file.write(lines)
                file.flush()
                progress(len(batch))
        finally:
            self._close()
        self._keep_notes(card)

    def _close(self) -> None:
        try:
            self.retriever.close()
        except Exception as error:
            # Its rankings are safe by now.
            self.retriever.note(f"the retriever failed to close: {type(error).__name__}: {error}")

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
    measuring = checked(measuring or Measuring())
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
    if not own:
        # Beside their results, so that a report finds them; with a card that says whose they are.
        kept = RetrievalCard(
            retriever=described,
            collection=asking.collection.described,
            queries=asking.digests,
            depth=measuring.depth,
            shadowprobe=shadowprobe.__version__,
            notes=results["notes"],
            locations=_locations(collection, queries),
        )
        with locked(target, RANKINGS):
            write_atomically(target / RANKINGS, encode_lines(rankings))
            write_atomically(target / RUN, encode_json(kept))
    write_atomically(target / RESULTS, encode_json(results))
    return Retrieved(results, target)


def _locations(collection: str, queries: Path | None) -> dict[str, str]:
    return {"collection": collection} | ({"queries": str(queries)} if queries is not None else {})


def _card_of(path: Path, collection: Collection) -> RetrievalCard | None:
    """What the run behind a file of rankings says of itself, if the file belongs to one."""
    card_path = path.parent / RUN
    if path.name != RANKINGS or not card_path.exists():
        return None
    card = read_card(card_path)
    if card.collection != collection.described:
        raise InputError(
            card_path, f"the run's {difference('', card.collection, collection.described)}", field="collection"
        )
    return card


def _default_out(retriever: str, collection: Collection) -> Path:
    """`runs/RETRIEVER-COLLECTION`; a name with a slash in it must not lead elsewhere."""
    return Path("runs") / re.sub(r"[/\\\0:]", "_", f"{retriever}-{collection.name}")


def _is_file(value: Any) -> bool:
    return isinstance(value, Path) and value.is_file()


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
