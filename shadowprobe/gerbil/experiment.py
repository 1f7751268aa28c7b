"""An experiment on a GERBIL instance: the gold goes up, an annotator's totals come back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

import shadowprobe
from shadowprobe.dataset import Dataset, make_directory
from shadowprobe.errors import GerbilError, InputError, UsageError
from shadowprobe.gerbil.client import MATCHING, TYPE, Instance, UnreachableError, public
from shadowprobe.gerbil.page import DONE, RUNNING, PageError, Task, read_tasks, shown_name, status_words
from shadowprobe.gerbil.upload import Package, annotator, gold_subsets, package
from shadowprobe.jsonl import encode_json, read_json, write_atomically
from shadowprobe.model import Subset

CARD = "gerbil.json"
SCHEMA = 1
# So many polls in a row without an answer, and the instance is given up; the experiment goes on without us.
LOST = 10
SAME = 1e-6

Watch = Callable[[int, int], None]


class Upload(Struct):
    """A subset as GERBIL has it: the name it goes by there, and what it holds."""

    name: str
    documents: int
    mentions: int


class Row(Struct):
    """The totals of one annotator on one subset; without a status GERBIL lists no such task."""

    annotator: str
    subset: str
    status: int | None
    status_words: str
    scores: dict[str, float] = field(default_factory=dict)


class Experiment(Struct):
    """What `gerbil.json` says: enough to find the experiment again, and all its numbers."""

    url: str
    experiment: str
    page: str
    annotators: list[dict[str, str | None]]
    dataset: dict[str, str]
    subsets: dict[str, Upload]
    schema: int = SCHEMA
    shadowprobe: str = shadowprobe.__version__
    type: str = TYPE
    matching: str = MATCHING
    started: str = ""
    finished: str = ""
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """True where not every task is done."""
        return any(row.status != DONE for row in self.rows)


class Job:
    """An experiment to be started, or gone on with where its directory holds one."""

    def __init__(
        self,
        url: str,
        annotators: Sequence[str],
        dataset: Dataset,
        *,
        subsets: Sequence[str] = (),
        out: Path | None = None,
        location: str | None = None,
    ) -> None:
        self.instance = Instance(url)
        self.annotators = [annotator(said) for said in annotators]
        shown = [one.shown for one in self.annotators]
        if twice := next((one.name for one in self.annotators if shown.count(one.shown) > 1), None):
            raise UsageError(f"--annotator {twice}: is given twice, or GERBIL shows two of them under one name")
        if not self.annotators:
            raise UsageError("--annotator: name one of GERBIL's annotators, or the URL of a NIF service")
        self.dataset, self.subsets = dataset, gold_subsets(dataset, subsets)
        together = "+".join(one.name for one in self.annotators)
        self.out = out or Path("runs") / re.sub(r"[/\\\0]", "_", f"gerbil-{together}-{dataset.name}")
        self._location = location or str(dataset.path)
        self.resumed = False

    def start(self, *, force: bool = False, experiment: str | None = None) -> Experiment:
        """The experiment of the directory; else one that is already at GERBIL; else a new one."""
        path = self.out / CARD
        found = self._stored(path) if path.exists() and not force else None
        if found is not None and experiment in {None, found.experiment}:
            self.resumed = True
            return found
        if found is not None:
            raise UsageError(
                f"{path} holds experiment {found.experiment}; give another --out, or --force to replace it"
            )
        self._check()
        packages = {subset: package(self.dataset, subset) for subset in self.subsets}
        make_directory(self.out)
        notes = list(_package_notes(packages))
        if experiment is None:
            for one in packages.values():
                read = self.instance.upload(one.file, one.turtle)
                if read not in {None, one.documents}:
                    notes.append(f"GERBIL read {read} documents of the {one.documents} in {one.file}")
            datasets = [f"NIFDS_{one.name}({one.file})" for one in packages.values()]
            experiment, complaint = self.instance.start([one.asked for one in self.annotators], datasets)
            notes += [f"GERBIL complained: {complaint}"] if complaint else []
        card = Experiment(
            url=self.instance.url,
            experiment=experiment,
            page=self.instance.address(experiment),
            annotators=self._described(),
            dataset={"name": self.dataset.name, "digest": self.dataset.digest, "location": self._location},
            subsets={subset: Upload(one.name, one.documents, one.mentions) for subset, one in packages.items()},
            started=_now(),
            notes=notes,
        )
        try:
            write_atomically(path, encode_json(card))
        except UsageError as error:
            raise UsageError(
                f"{error}; experiment {experiment} runs all the same: --experiment {experiment} with another --out"
                " reads it"
            ) from None
        return card

    def finish(self, card: Experiment, *, poll: float, timeout: float, watch: Watch | None = None) -> Experiment:
        """Waits until GERBIL has run every task, and writes down what it found."""
        if card.finished:
            return card
        names = [one.name for one in self.annotators]
        try:
            tasks = wait(self.instance, card.experiment, poll=poll, timeout=timeout, watch=watch, annotators=names)
        except UnreachableError as error:
            raise GerbilError(f"{error}; experiment {card.experiment} may go on: the same command asks again") from None
        by_names = {(task.annotator, task.dataset): task for task in tasks}
        card.rows = [
            _row(one.name, subset, by_names.get((one.shown, shown_name(upload.name))))
            for one in self.annotators
            for subset, upload in card.subsets.items()
        ]
        if all(row.status is None for row in card.rows):
            seen = ", ".join(sorted({f"{task.annotator} on {task.dataset}" for task in tasks}))
            raise GerbilError(f"{card.page} is an experiment of its own: {seen}; `shadowprobe gerbil show` reads it")
        card.finished = _now()
        card.notes += score_notes(card.rows)
        write_atomically(self.out / CARD, encode_json(card))
        return card

    def _described(self) -> list[dict[str, str | None]]:
        return [{"name": one.name, "url": public(one.url) if one.url else None} for one in self.annotators]

    def _check(self) -> None:
        """Asks the instance for what it must have before anything goes up."""
        offered = self.instance.annotators()
        for one in self.annotators:
            if one.url is None:
                self.instance.check_annotator(one.name, offered)
            else:
                self.instance.check_service(one.url)

    def _stored(self, path: Path) -> Experiment:
        """The experiment of the directory, which must be this one."""
        card = read_card(path)
        asked: dict[str, tuple[Any, Any]] = {
            "--url": (card.url, self.instance.url),
            "--annotator": (card.annotators, self._described()),
            "--dataset": (card.dataset.get("digest"), self.dataset.digest),
            "--subset": (set(card.subsets), set(self.subsets)),
        }
        if other := next((option for option, (had, has) in asked.items() if had != has), None):
            raise UsageError(
                f"{path} holds an experiment with another {other}; give another --out, or --force to replace it"
            )
        return card


def read_card(path: Path) -> Experiment:
    """What a `gerbil.json` says."""
    card = read_json(path, Experiment)
    if card.schema != SCHEMA:
        raise InputError(path, f"is {card.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    return card


def wait(
    instance: Instance,
    experiment: str,
    *,
    poll: float,
    timeout: float,
    watch: Watch | None = None,
    annotators: Sequence[str] = (),
) -> list[Task]:
    """The tasks of an experiment once none of them runs."""
    deadline = time.monotonic() + timeout
    instance.limit(timeout)
    silent = 0
    while True:
        try:
            tasks, silent = look(instance, experiment, annotators), 0
        except UnreachableError:
            # A restart or a broken line costs a poll, and not the experiment.
            tasks, silent = [], silent + 1
            if silent == LOST:
                raise
        running = sum(task.status == RUNNING for task in tasks)
        if tasks and watch is not None:
            watch(len(tasks) - running, len(tasks))
        if tasks and not running:
            return tasks
        left = deadline - time.monotonic()
        if left <= 0:
            raise GerbilError(
                f"experiment {experiment} has no result after {timeout:g} s: the same command goes on waiting, and"
                f" {instance.address(experiment)} shows how it goes"
            )
        time.sleep(min(poll, left))


def look(instance: Instance, experiment: str, annotators: Sequence[str] = ()) -> list[Task]:
    """The tasks of an experiment as they are now."""
    try:
        tasks = read_tasks(instance.page(experiment), annotators)
    except PageError as error:
        raise GerbilError(f"{instance.address(experiment)} is no page of GERBIL that can be read: {error}") from None
    if not tasks:
        raise GerbilError(
            f"{instance.url} knows no experiment {experiment}; `shadowprobe gerbil run --force` starts a new one"
        )
    return tasks


def rows_of(tasks: Sequence[Task]) -> list[Row]:
    """The tasks of any experiment, each dataset under the name that GERBIL shows."""
    return [_row(task.annotator, task.dataset, task) for task in tasks]


def _row(name: str, subset: str, task: Task | None) -> Row:
    status = task.status if task is not None else None
    return Row(name, subset, status, status_words(status), dict(task.scores) if task is not None else {})


def score_notes(rows: Sequence[Row]) -> Iterator[str]:
    """What a reader of the scores must know of them."""
    if any("confidence_threshold" in row.scores for row in rows):
        yield (
            "the scores are at the confidence threshold that makes the micro F1 of this very test set best: GERBIL"
            " looks for it wherever an annotator gives confidences, and no user of the annotator could"
        )
    for row in rows:
        if row.scores.get("Error_Count", 0) > 0:
            yield (
                f"{row.annotator} failed on {row.scores['Error_Count']:g} documents of {row.subset}: GERBIL counts them"
                " as empty answers"
            )
        known, whole = (row.scores.get(f"{prefix}Micro_F1_score") for prefix in ("GSInKB_", ""))
        if known is not None and whole is not None and abs(known - whole) > SAME:
            # With all of its gold in a knowledge base the two are one number.
            yield (
                f"GERBIL knows some gold entities of {row.subset} in no knowledge base, and takes an explicit NIL for"
                f" right there: over the others {row.annotator} has a micro F1 of {known:.3f}"
            )
    if any(row.annotator == "REL" for row in rows):
        yield (
            "GERBIL's own REL is not told the mentions: it finds its own, and those that it misses count as skipped,"
            " so that P differs from R"
        )


def _package_notes(packages: dict[Subset, Package]) -> Iterator[str]:
    if replaced := sum(one.replaced for one in packages.values()):
        yield (
            f"{replaced} texts hold characters beyond U+FFFF, which GERBIL miscounts: each went up as U+FFFD, so that"
            " every mention stays in its place"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
