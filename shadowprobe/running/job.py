"""One run: a task in its run directory. The same job again continues where an earlier one stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import astuple, replace

import shadowprobe
from shadowprobe.base.files import (
    drop_partial_files,
    drop_torn_line,
    lock_file,
    make_directory,
    open_for_writing,
    write_atomically,
    write_out,
)
from shadowprobe.base.jsonl import encode_json, encode_lines
from shadowprobe.base.model import Failure
from shadowprobe.errors import InputError, LinkerError, UsageError, abridge
from shadowprobe.running.directory import (
    FAILURES,
    RUN,
    Results,
    RunCard,
    find_difference,
    make_relative,
    read_card,
    remove_derived,
)
from shadowprobe.running.naming import FOLDER, default_directory, named_directory
from shadowprobe.running.task import Task

# Lines that are written at once; it bounds the memory that an often repeated text takes.
BLOCK = 4096
# A system that fails on this many questions before it has answered one is broken, and the run stops at once.
HOPELESS = 16

Progress = Callable[[int], None]
AnyTask = TypeVar("AnyTask", bound=Task)


class Outcome(Struct, frozen=True):
    """How the asking went: answered before, answered now, of these without asking again, failed."""

    resumed: int = 0
    answered: int = 0
    repeated: int = 0
    failed: int = 0
    seconds: float = 0.0

    def __add__(self, other: Outcome) -> Outcome:
        """Both together."""
        return Outcome(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


class FinishedJob(Struct, frozen=True):
    """The results of a job, where they are, how the asking went, and what the system says about it."""

    results: Results
    out: Path
    outcome: Outcome = Outcome()
    status: str = ""


class Job(Generic[AnyTask]):
    """A task in its run directory, checked as far as possible before the first question is asked."""

    def __init__(
        self,
        task: AnyTask,
        out: Path | None = None,
        *,
        force: bool = False,
        name: str | None = None,
        folder: Path = FOLDER,
    ) -> None:
        self.task, self.force = task, force
        named = named_directory(name, folder) if name is not None else None
        self.out = out or named or self._choose_directory(folder)
        self.card = make_card(task, self.out, name or "")
        task.prepare(self.out, force=force)

    def _choose_directory(self, folder: Path) -> Path:
        """The directory of this system, its options and its questions."""
        system, questions = self.task.system["name"], self.task.name
        directory = default_directory(system, questions, self.task.chosen, folder)
        # Earlier versions left the options out of the name.
        earlier = default_directory(system, questions, folder=folder)
        if earlier != directory and not directory.exists():
            with suppress(InputError):
                if self._is_of_this_run(read_card(earlier / RUN)):
                    return earlier
        return directory

    def _is_of_this_run(self, card: RunCard) -> bool:
        return card.kind == self.task.kind and self._find_difference(card) is None

    def _find_difference(self, earlier: RunCard) -> str | None:
        entries = {self.task.kind, *self.task.questions}
        return find_difference(earlier, make_card(self.task), entries, self.task.incidental)

    def run(self, progress: Progress | None = None) -> FinishedJob:
        """Asks what has no answer yet, measures all answers and writes results.json."""
        outcome = self.ask(progress)
        for out, task in self.task.further_tasks():
            # The results so far are stored before anything else can fail.
            self._write_results()
            outcome += Job(task, out, force=self.force).ask(progress)
        return FinishedJob(self._write_results(), self.out, outcome, self.task.status)

    def _write_results(self) -> Results:
        results = self.task.measure(self.card.notes)
        write_atomically(self.out / self.task.results_file, encode_json(results))
        return results

    def ask(self, progress: Progress | None = None) -> Outcome:
        """Asks what has no answer yet; every question is then answered or listed as failed."""
        make_directory(self.out)
        with lock_file(self.out, self.task.answers_file) as file:
            self._claim(file)
            drop_partial_files(self.out)
            if not self.force:
                self.task.load(self.out / self.task.answers_file, resumed=True)
                # What a kill or a power cut left behind the last whole line.
                drop_torn_line(file)
            resumed = self.task.total - self.task.waiting
            if not self.task.waiting:
                # No model is loaded and no service is asked where nothing is missing.
                (self.out / FAILURES).unlink(missing_ok=True)
                return Outcome(resumed=resumed)
            started = datetime.now(UTC)
            with self.task.open_system():
                # Nothing is changed before the system has started: the answers of an earlier run stay.
                if self.force:
                    file.truncate(0)
                    remove_derived(self.out)
                self.card.started = self.card.started or _format_time(started)
                self._write_card()
                outcome = self._ask_all(file, resumed, progress or (lambda _: None))
            finished = datetime.now(UTC)
            seconds = (finished - started).total_seconds()
            self.card.finished = _format_time(finished)
            self.card.seconds = round(self.card.seconds + seconds, 3)
            self._add_notes()
            self._write_card()
            return outcome + Outcome(resumed=resumed, seconds=seconds)

    def _ask_all(self, file: BinaryIO, resumed: int, progress: Progress) -> Outcome:
        progress(resumed)
        answered = repeated = failed = questions_failed = 0
        answers_path, failures_path = self.out / self.task.answers_file, self.out / FAILURES
        with open_for_writing(failures_path) as failures:
            for batch in self.task.ask():
                if self._add_notes():
                    # Notes go first: answers must not be stored without what the system said about them.
                    self._write_card()
                listed = (Failure(failure.id, abridge(failure.error)) for failure in batch.failures)
                lines = (
                    _write_lines(file, batch.answers, answers_path),
                    _write_lines(failures, listed, failures_path),
                )
                answered, failed = answered + lines[0], failed + lines[1]
                repeated += sum(lines) - batch.asked
                questions_failed += batch.failed
                if questions_failed >= HOPELESS and not answered and not resumed:
                    raise LinkerError(
                        f"{self.task.kind} `{self.task.system['name']}` failed on each of its first {questions_failed}"
                        f" {self.task.unit}, the last time with: {batch.failures[-1].error}"
                    )
                progress(sum(lines))
        if not failed:
            failures_path.unlink(missing_ok=True)
        return Outcome(answered=answered, repeated=repeated, failed=failed)

    def _claim(self, file: BinaryIO) -> None:
        """Makes sure that the directory is empty or holds an earlier part of this very run."""
        if self.force:
            return
        path, results_file = self.out / self.task.card_file, self.task.results_file
        if not path.exists():
            held = self.task.answers_file if file.seek(0, os.SEEK_END) else results_file
            if held != results_file or (self.out / results_file).exists():
                raise UsageError(
                    f"{self.out} holds {held} without {path.name}; give another --out, or --force to write over it"
                )
            return
        earlier = read_card(path)
        if earlier.kind != self.task.kind:
            raise UsageError(
                f"{self.out} holds a run of a {earlier.kind}, not of a {self.task.kind};"
                " give another --out, or --force to write over it"
            )
        if difference := self._find_difference(earlier):
            raise UsageError(
                f"{self.out} holds a run whose {difference}; give another --out, or --force to start it afresh"
            )
        self.card.started, self.card.seconds, self.card.notes = earlier.started, earlier.seconds, earlier.notes
        if self.card.name and self.card.name != earlier.name:
            # A finished run gets its new name too.
            write_atomically(path, encode_json(replace(earlier, name=self.card.name)))
        self.card.name = self.card.name or earlier.name

    def _add_notes(self) -> bool:
        """Adds what the system has said to the card; True where that was something new."""
        notes = list(dict.fromkeys([*self.card.notes, *self.task.notes]))
        is_new = notes != self.card.notes
        self.card.notes = notes
        return is_new

    def _write_card(self) -> None:
        write_atomically(self.out / self.task.card_file, encode_json(self.card))


def make_card(task: Task, out: Path | None = None, name: str = "") -> RunCard:
    """The card of a new run, with the places of its questions relative to its directory."""
    entries: dict[str, Any] = {task.kind: task.system, **task.questions}
    card = RunCard(
        **entries, shadowprobe=shadowprobe.__version__, locations=task.locations, total=task.total, name=name
    )
    for what, location in task.locations.items():
        # What is known by name is found by its name.
        if out is not None and task.paths[what] == Path(location):
            relative = make_relative(task.paths[what], out)
            card.relative_locations |= {what: relative} if relative is not None else {}
    return card


def _write_lines(file: BinaryIO, items: Iterable[Any], path: Path) -> int:
    """Writes the lines of one batch and returns their number: a kill in between loses this batch and nothing else."""
    written, items = 0, iter(items)
    while block := list(islice(items, BLOCK)):
        write_out(file, encode_lines(block), path)
        written += len(block)
    return written


def _format_time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
