"""An experiment on a GERBIL instance: uploads the gold, and reads an annotator's totals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

import shadowprobe
from shadowprobe.base.files import lock_file, make_directory, write_atomically
from shadowprobe.base.jsonl import encode_json, read_json
from shadowprobe.base.model import Subset
from shadowprobe.base.secrets import mask_url
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import GerbilError, UsageError, shorten
from shadowprobe.gerbil.gerbil_client import MATCHING, TYPE, Instance, UnreachableError
from shadowprobe.gerbil.gerbil_page import DONE, RUNNING, PageError, Task, read_tasks, shown_name, status_words
from shadowprobe.gerbil.upload import Package, choose_subsets, make_package, parse_annotator
from shadowprobe.running.naming import default_directory

CARD = "gerbil.json"
SCHEMA = 1
# After this number of polls without an answer we stop waiting; the experiment continues without us.
MAX_SILENT_POLLS = 10
# Scores with a smaller difference are equal.
TOLERANCE = 1e-6

Watch = Callable[[int, int], None]


class Upload(Struct):
    """An uploaded subset: its name at GERBIL, and the number of its documents and mentions."""

    name: str
    documents: int
    mentions: int


class GerbilRow(Struct):
    """The totals of one annotator on one subset; the status is None if GERBIL lists no such task."""

    annotator: str
    subset: str
    status: int | None
    status_words: str
    scores: dict[str, float] = field(default_factory=dict)


class Experiment(Struct):
    """The content of `gerbil.json`: how to find the experiment again, and all its numbers."""

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
    rows: list[GerbilRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """True if a task is not done."""
        return any(row.status != DONE for row in self.rows)


class GerbilJob:
    """Starts an experiment, or continues the one in its directory."""

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
        self.annotators = [parse_annotator(text) for text in annotators]
        shown = [one.shown for one in self.annotators]
        if twice := next((one.name for one in self.annotators if shown.count(one.shown) > 1), None):
            raise UsageError(f"--annotator {twice}: is given twice, or GERBIL shows two of them with the same name")
        if not self.annotators:
            raise UsageError("--annotator: name one of GERBIL's annotators, or the URL of a NIF service")
        self.dataset, self.subsets = dataset, choose_subsets(dataset, subsets)
        together = "+".join(one.name for one in self.annotators)
        self.out = out or default_directory(f"gerbil-{together}", dataset.name)
        self._location = location or str(dataset.path)
        self.resumed = False

    def start(self, *, force: bool = False, experiment: str | None = None) -> Experiment:
        """Returns the experiment of the directory, else an existing one at GERBIL, else starts a new one."""
        if not force and (stored := self._find_stored(experiment)) is not None:
            return stored
        self._check_annotators()
        packages = {subset: make_package(self.dataset, subset) for subset in self.subsets}
        make_directory(self.out)
        # Two commands at the same time would start two experiments.
        with lock_file(self.out, ".lock"):
            stored = None if force else self._find_stored(experiment)
            return stored or self._start(packages, experiment)

    def _find_stored(self, experiment: str | None) -> Experiment | None:
        """The experiment of the directory; refuses another one than the user names."""
        path = self.out / CARD
        if not path.exists():
            return None
        stored = self._read_stored(path)
        if experiment not in {None, stored.experiment}:
            raise UsageError(
                f"{path} holds experiment {stored.experiment}; give another --out, or --force to replace it"
            )
        self.resumed = True
        return stored

    def _start(self, packages: dict[Subset, Package], experiment: str | None) -> Experiment:
        notes = list(_explain_packages(packages))
        if experiment is None:
            for package in packages.values():
                count = self.instance.upload(package.file, package.turtle)
                if count not in {None, package.documents}:
                    notes.append(f"GERBIL read {count} documents of the {package.documents} in {package.file}")
            datasets = [f"NIFDS_{package.name}({package.file})" for package in packages.values()]
            experiment, complaint = self.instance.start([one.identifier for one in self.annotators], datasets)
            notes += [f"GERBIL complained: {complaint}"] if complaint else []
        card = Experiment(
            url=self.instance.url,
            experiment=experiment,
            page=self.instance.address(experiment),
            annotators=self._list_annotators(),
            dataset={"name": self.dataset.name, "digest": self.dataset.digest, "location": self._location},
            subsets={subset: Upload(one.name, one.documents, one.mentions) for subset, one in packages.items()},
            started=_now(),
            notes=notes,
        )
        try:
            write_atomically(self.out / CARD, encode_json(card))
        except UsageError as error:
            raise UsageError(
                f"{error}; experiment {experiment} is running: read it with --experiment {experiment} and another --out"
            ) from None
        return card

    def finish(self, card: Experiment, *, poll: float, timeout: float, watch: Watch) -> Experiment:
        """Waits until GERBIL has run every task, and writes the totals."""
        if card.finished:
            return card
        names = [one.name for one in self.annotators]
        try:
            tasks = wait_for_tasks(
                self.instance, card.experiment, poll=poll, timeout=timeout, watch=watch, annotators=names
            )
        except UnreachableError as error:
            raise GerbilError(
                f"{error}; experiment {card.experiment} may still be running: repeat the command to read it"
            ) from None
        by_names = {(task.annotator, task.dataset): task for task in tasks}
        card.rows = [
            make_row(one.name, subset, by_names.get((one.shown, shown_name(upload.name))))
            for one in self.annotators
            for subset, upload in card.subsets.items()
        ]
        if all(row.status is None for row in card.rows):
            names_seen = ", ".join(sorted({f"{task.annotator} on {task.dataset}" for task in tasks}))
            raise GerbilError(
                f"{card.page} is another experiment: {shorten(names_seen)}; `shadowprobe gerbil show` reads it"
            )
        card.finished = _now()
        card.notes += explain_scores(card.rows)
        write_atomically(self.out / CARD, encode_json(card))
        return card

    def _list_annotators(self) -> list[dict[str, str | None]]:
        return [{"name": one.name, "url": mask_url(one.url) if one.url else None} for one in self.annotators]

    def _check_annotators(self) -> None:
        """Checks that the instance has the annotators before anything is uploaded."""
        offered = self.instance.annotators()
        for one in self.annotators:
            if one.url is None:
                self.instance.check_annotator(one.name, offered)
            else:
                self.instance.check_service(one.url)

    def _read_stored(self, path: Path) -> Experiment:
        """Reads the experiment of the directory, and refuses one with other options."""
        card = read_json(path, Experiment, schema=SCHEMA)
        options: dict[str, tuple[Any, Any]] = {
            "--url": (card.url, self.instance.url),
            "--annotator": (card.annotators, self._list_annotators()),
            "--dataset": (card.dataset.get("digest"), self.dataset.digest),
            "--subset": (set(card.subsets), set(self.subsets)),
        }
        if other := next((option for option, (stored, given) in options.items() if stored != given), None):
            raise UsageError(
                f"{path} holds an experiment with another {other}; give another --out, or --force to replace it"
            )
        return card


def wait_for_tasks(
    instance: Instance,
    experiment: str,
    *,
    poll: float,
    timeout: float,
    watch: Watch,
    annotators: Sequence[str],
) -> list[Task]:
    """Waits until no task of an experiment runs, and returns the tasks."""
    deadline = time.monotonic() + timeout
    instance.limit(timeout)
    silent = 0
    while True:
        try:
            tasks, silent = fetch_tasks(instance, experiment, annotators), 0
        except UnreachableError:
            # A restart or a broken connection is only a missed poll.
            tasks, silent = [], silent + 1
            if silent == MAX_SILENT_POLLS:
                raise
        running = sum(task.status == RUNNING for task in tasks)
        if tasks:
            watch(len(tasks) - running, len(tasks))
            if not running:
                return tasks
        left = deadline - time.monotonic()
        if left <= 0:
            raise GerbilError(
                f"experiment {experiment} has no result after {timeout:g} s: repeat the command to continue waiting;"
                f" {instance.address(experiment)} shows its state"
            )
        time.sleep(min(poll, left))


def fetch_tasks(instance: Instance, experiment: str, annotators: Sequence[str] = ()) -> list[Task]:
    """Fetches the current tasks of an experiment."""
    try:
        tasks = read_tasks(instance.page(experiment), annotators)
    except PageError as error:
        raise GerbilError(f"{instance.address(experiment)} is not a readable page of GERBIL: {error}") from None
    if not tasks:
        raise GerbilError(
            f"{instance.url} knows no experiment {experiment}; `shadowprobe gerbil run --force` starts a new one"
        )
    return tasks


def make_row(name: str, subset: str, task: Task | None) -> GerbilRow:
    """Makes the row of an annotator and a subset; without a task it has no scores."""
    status = task.status if task is not None else None
    return GerbilRow(name, subset, status, status_words(status), dict(task.scores) if task is not None else {})


def explain_scores(rows: Sequence[GerbilRow]) -> Iterator[str]:
    """Yields notes that a reader of the scores must know."""
    if any("confidence_threshold" in row.scores for row in rows):
        yield (
            "the scores are at the confidence threshold with the best micro F1 on this test set: GERBIL searches for it"
            " if an annotator gives confidences, but a user of the annotator does not know it"
        )
    for row in rows:
        if row.scores.get("Error_Count", 0) > 0:
            yield (
                f"{row.annotator} failed on {row.scores['Error_Count']:g} documents of {row.subset}: GERBIL counts them"
                " as empty answers"
            )
        known, whole = (row.scores.get(f"{prefix}Micro_F1_score") for prefix in ("GSInKB_", ""))
        if known is not None and whole is not None and abs(known - whole) > TOLERANCE:
            # The two are equal if all gold entities are in a knowledge base.
            yield (
                f"GERBIL does not find some gold entities of {row.subset} in a knowledge base, and counts an explicit"
                f" NIL as correct there: over the others {row.annotator} has a micro F1 of {known:.3f}"
            )
    if any(row.annotator == "REL" for row in rows):
        yield (
            "GERBIL's own REL does not get the mentions: it finds its own, and those that it misses count as skipped,"
            " so that P differs from R"
        )


def _explain_packages(packages: dict[Subset, Package]) -> Iterator[str]:
    if replaced := sum(package.replaced for package in packages.values()):
        yield (
            f"{replaced} texts contain characters beyond U+FFFF, which GERBIL miscounts: each was uploaded as U+FFFD,"
            " so that every mention keeps its offsets"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
