"""What a job does: one class per kind of run derives from `Task`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from shadowprobe.base.model import Failure
from shadowprobe.errors import InputError, LinkerError, UsageError
from shadowprobe.running.directory import RESULTS, RUN, Kind, Results, RunCard, find_answers, read_stored_card
from shadowprobe.running.kinds import NOUNS, SCORING_COMMANDS
from shadowprobe.systems.calling import SEE_DEBUG, name_errors
from shadowprobe.systems.linker import System

Question = TypeVar("Question")


class Batch(NamedTuple):
    """Answers and failures that are written together."""

    answers: Iterable[Any]
    failures: list[Failure]
    # How many different questions were asked, and on how many of them the system failed.
    asked: int
    failed: int

    @classmethod
    def divide(cls, replies: Sequence[Any]) -> Batch:
        """The batch of the replies to different questions, one for each: answers and failures."""
        answers = [reply for reply in replies if not isinstance(reply, Failure)]
        failures = [reply for reply in replies if isinstance(reply, Failure)]
        return cls(answers, failures, len(replies), len(failures))


class Task(ABC):
    """A system and its questions: loads the answers that there are, asks for the others, measures them all.

    A task without a system measures stored answers only.
    """

    kind: ClassVar[Kind]
    answers_file: ClassVar[str]
    # The names of the other files that every task has.
    card_file: ClassVar[str] = RUN
    results_file: ClassVar[str] = RESULTS
    # The entry of `questions` that the answers are over.
    over: ClassVar[str]
    # What is asked, in the plural, for messages.
    unit: ClassVar[str]
    # The system itself; None for stored answers.
    _tested: System | None = None
    # Options of the system that cannot change an answer.
    incidental: frozenset[str] = frozenset()
    # The system's name, version and options, as run.json and results.json describe it.
    system: dict[str, Any]
    # The entries of run.json that say what is asked, and where that was, as the user named it.
    questions: dict[str, Any]
    locations: dict[str, str]
    # The files or directories behind the locations.
    paths: dict[str, Path]
    # The name of the questions, for that of the run directory; and how many there are.
    name: str
    total: int

    @property
    @abstractmethod
    def waiting(self) -> int:
        """How many questions have no answer yet."""

    @property
    def chosen(self) -> Mapping[str, Any]:
        """Options that tell the runs of the system apart, for the name of the run directory."""
        return {}

    @property
    def notes(self) -> list[str]:
        """What the system has said about this run, for the readers of its results."""
        return self._tested.notes if self._tested is not None else []

    @property
    def status(self) -> str:
        """What a user who waits should know about the system."""
        return self._tested.status if self._tested is not None else ""

    def prepare(self, run: Path | None, *, force: bool = False) -> None:  # noqa: B027 -- not every task needs it
        """Checks the rest that depends on the run directory; None for answers that belong to no run."""

    @abstractmethod
    def load(self, path: Path, *, resumed: bool = False) -> None:
        """Reads stored answers. With `resumed` they are those of this very run, whose last line may be torn."""

    @abstractmethod
    def open_system(self) -> AbstractContextManager[None]:
        """Starts the system, and closes it at the end of the block."""

    @abstractmethod
    def ask(self) -> Iterator[Batch]:
        """Asks for every answer that is missing, batch by batch."""

    def name_errors(self) -> AbstractContextManager[None]:
        """Turns an error in the code of the system into one line that names it."""
        return name_errors(f"{self.kind} `{self.system['name']}` failed", LinkerError, SEE_DEBUG)

    def ask_in_batches(
        self, questions: Sequence[Question], size: int, ask: Callable[[Sequence[Question]], Iterable[Any]]
    ) -> Iterator[Batch]:
        """Asks some questions at a time, and divides the replies of the system."""
        for start in range(0, len(questions), size):
            with self.name_errors():
                replies = list(ask(questions[start : start + size]))
            yield Batch.divide(replies)

    @abstractmethod
    def measure(self, notes: Iterable[str]) -> Results:
        """What results.json holds; no time and no path, so that equal runs give equal results."""

    def further_tasks(self) -> Iterator[tuple[Path, Task]]:
        """Tasks that the probes need done after this one, each with its own run directory."""
        return iter(())

    def find_answers(self, source: Path) -> Path:
        """The file of answers of a run directory, or the file itself."""
        return find_answers(source, self.answers_file)

    def load_further(self) -> None:  # noqa: B027 -- not every task needs it
        """Reads the stored answers of the further tasks, where there are some."""

    @abstractmethod
    def encode_answers(self, path: Path) -> bytes:
        """The answers that were loaded from a file, in our own form."""

    def read_card(self, answers: Path) -> RunCard | None:
        """The card of the run that a file of answers belongs to; None where it belongs to none."""
        card = read_stored_card(answers, self.answers_file)
        if card is not None:
            if card.kind != self.kind:
                raise UsageError(
                    f"{answers.parent} is a run of a {NOUNS[card.kind]}:"
                    f" `shadowprobe {SCORING_COMMANDS[card.kind]} --predictions {answers.parent}` scores it"
                )
            old, new = getattr(card, self.over) or {}, self.questions[self.over]
            if old.get("digest") != new["digest"]:
                raise InputError(
                    answers.parent / RUN,
                    f"the run is over `{old.get('name')}` ({str(old.get('digest'))[:12]}...), and the {self.over} given"
                    f" is `{new['name']}` ({new['digest'][:12]}...); --{self.over} names what it is over",
                    field=self.over,
                )
        return card
