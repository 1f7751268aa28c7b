"""Linker x dataset -> predictions on disk: batches, resume, failures."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct, field
from msgspec.structs import replace

from shadowprobe.answers import fault, resolve_candidate
from shadowprobe.dataset import Dataset, make_directory, repeated_codes
from shadowprobe.errors import InputError, ItemError, LinkerError, UsageError
from shadowprobe.identity import Resolver, is_nil
from shadowprobe.jsonl import encode_json, encode_lines, read_json, read_lines, write_atomically
from shadowprobe.linker import Linker, without_gold
from shadowprobe.model import Prediction, Snippet

RUN, PREDICTIONS, FAILURES, RESULTS = "run.json", "predictions.jsonl", "failures.jsonl", "results.json"
# A linker that fails on this many snippets before it has answered one is broken, and the run stops at once.
HOPELESS = 16

Key = tuple[str, int, int, str | None]
Progress = Callable[[int], None]


class RunCard(Struct, omit_defaults=True):
    """What `run.json` says of a run: enough to know what was measured, and to go on with it."""

    linker: dict[str, Any]
    dataset: dict[str, Any]
    shadowprobe: str
    schema: int = 1
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


class Failure(Struct, frozen=True, omit_defaults=True):
    """A snippet that got no answer because the linker failed on it."""

    id: str
    error: str


class Outcome(Struct, frozen=True):
    """What a run did: answered before, answered now, linker calls saved on equal texts, failed."""

    resumed: int
    answered: int
    repeated: int
    failed: int
    seconds: float


class Runner:
    """Runs a linker over a dataset into a run directory; the same call again goes on where it stopped."""

    def __init__(
        self,
        linker: Linker,
        dataset: Dataset,
        out: Path,
        *,
        card: RunCard,
        batch_size: int | None = None,
        resolver: Resolver | None = None,
        force: bool = False,
    ) -> None:
        self.linker, self.dataset, self.out, self.card = linker, dataset, out, card
        self.batch_size = batch_size or linker.batch_size
        self.resolver = resolver or Resolver(dataset.entities.values(), language=dataset.card.language)
        self.force = force
        self._ever_answered = False
        self._failed = 0

    def run(self, progress: Progress | None = None) -> Outcome:
        """Links what has no answer yet; returns when every snippet is answered or listed as failed."""
        make_directory(self.out)
        with _locked(self.out) as file:
            self._claim(file)
            started = datetime.now(UTC)
            self.card.started = self.card.started or _stamp(started)
            self._save_card()
            self.linker.open(self.dataset.knowledge)
            try:
                outcome = self._link_all(file, progress or (lambda _: None), started)
            finally:
                self.linker.close()
            finished = datetime.now(UTC)
            self.card.finished = _stamp(finished)
            self.card.seconds = round(self.card.seconds + (finished - started).total_seconds(), 3)
            self.card.notes = list(dict.fromkeys([*self.card.notes, *self.linker.notes]))
            self._save_card()
            return outcome

    def _save_card(self) -> None:
        write_atomically(self.out / RUN, encode_json(self.card))

    def _claim(self, predictions: BinaryIO) -> None:
        """Makes sure that what the directory holds is an earlier part of this very run."""
        path = self.out / RUN
        if not path.exists():
            if predictions.seek(0, os.SEEK_END) and not self.force:
                raise UsageError(f"{self.out} holds {PREDICTIONS} without {RUN}; give another --out")
        elif not self.force:
            earlier = read_json(path, RunCard)
            for what in ("linker", "dataset"):
                old, new = getattr(earlier, what), getattr(self.card, what)
                for key in new:
                    if key != "location" and old.get(key) != new[key]:
                        raise UsageError(
                            f"{self.out} holds a run whose {what} {key} is {old.get(key)!r}, not {new[key]!r};"
                            " give another --out, or --force to start it afresh"
                        )
            self.card.started, self.card.seconds = earlier.started, earlier.seconds
            self.card.notes = earlier.notes
        if self.force:
            predictions.truncate(0)
            (self.out / RESULTS).unlink(missing_ok=True)

    def _link_all(self, file: BinaryIO, progress: Progress, started: datetime) -> Outcome:
        _drop_torn_line(file)
        done = {prediction.id for _, prediction in read_lines(self.out / PREDICTIONS, Prediction)}
        resumed = sum(snippet.id in done for snippet in self.dataset.snippets())
        progress(resumed)
        self._ever_answered = resumed > 0
        answered = failed = repeated = 0
        with (self.out / FAILURES).open("wb") as failures:
            for batch in self._batches(done):
                answers, errors = self._link(list(batch.values()))
                lines = [
                    replace(answers[key], id=snippet.id)
                    for key, group in batch.items()
                    if key in answers
                    for snippet in group
                ]
                # One write for the whole batch: a kill in between loses this batch and nothing else.
                file.write(encode_lines(lines))
                file.flush()
                broken = [
                    Failure(id=snippet.id, error=errors[key])
                    for key, group in batch.items()
                    if key in errors
                    for snippet in group
                ]
                failures.write(encode_lines(broken))
                failures.flush()
                answered, failed = answered + len(lines), failed + len(broken)
                repeated += sum(len(group) for group in batch.values()) - len(batch)
                progress(len(lines) + len(broken))
        seconds = (datetime.now(UTC) - started).total_seconds()
        if not failed:
            (self.out / FAILURES).unlink()
        return Outcome(resumed, answered, repeated, failed, seconds)

    def _batches(self, done: set[str]) -> Iterator[dict[Key, list[Snippet]]]:
        """Snippets without an answer, in batches; those that ask the same thing stand together."""
        repeats = self._repeated_keys(done)
        batch: dict[Key, list[Snippet]] = {}
        for snippet in self.dataset.snippets():
            if snippet.id in done:
                continue
            group = repeats.get(self._key(snippet))
            if group is not None and group[0].id != snippet.id:
                continue
            batch[self._key(snippet)] = group or [snippet]
            if len(batch) == self.batch_size:
                yield batch
                batch = {}
        if batch:
            yield batch

    def _repeated_keys(self, done: set[str]) -> dict[Key, list[Snippet]]:
        """The questions that several snippets ask, each with its snippets."""
        # Only hashes are kept of the texts; an accidental equality is sorted out below.
        again = repeated_codes(array("q", (hash(self._key(snippet)) for snippet in self.dataset.snippets())))
        groups: dict[Key, list[Snippet]] = {}
        for snippet in self.dataset.snippets() if again else ():
            if snippet.id not in done and hash(self._key(snippet)) in again:
                groups.setdefault(self._key(snippet), []).append(snippet)
        return {key: group for key, group in groups.items() if len(group) > 1}

    def _link(self, groups: list[list[Snippet]]) -> tuple[dict[Key, Prediction], dict[Key, str]]:
        """Answers by question, and errors by question for those on which the linker failed."""
        asked = [group[0] if self.linker.sees_gold else without_gold(group[0]) for group in groups]
        answers: dict[Key, Prediction] = {}
        errors: dict[Key, str] = {}
        try:
            answers = self._ask(asked)
        except Exception as error:
            if len(asked) == 1:
                errors[self._key(asked[0])] = self._failure(error)
            else:
                _raise_if_hopeless(error)
                # One bad snippet must not cost the others of its batch their answers.
                for snippet in asked:
                    try:
                        answers |= self._ask([snippet])
                    except Exception as single:
                        errors[self._key(snippet)] = self._failure(single)
        return answers, errors

    def _key(self, snippet: Snippet) -> Key:
        """What is asked of the linker: snippets with one key get one answer."""
        # The release has texts that stand in Top and in Shadow, with two gold answers for the same mention.
        gold = snippet.gold if self.linker.sees_gold else None
        return snippet.text, snippet.start, snippet.end, gold

    def _failure(self, error: Exception) -> str:
        """The text of an error on one snippet; stops the run where the linker has never answered at all."""
        _raise_if_hopeless(error)
        self._failed += 1
        if self._failed >= HOPELESS and not self._ever_answered:
            raise LinkerError(
                f"linker `{self.linker.name}` failed on each of its first {self._failed} snippets,"
                f" the last time with: {_describe(error)}"
            ) from error
        return _describe(error)

    def _ask(self, snippets: list[Snippet]) -> dict[Key, Prediction]:
        predictions = {prediction.id: prediction for prediction in self.linker.link(list(snippets))}
        answers = {}
        for snippet in snippets:
            prediction = predictions.pop(snippet.id, None)
            if prediction is None:
                raise ItemError(f"no prediction for snippet {snippet.id!r}")
            problem = fault(prediction)
            if problem is not None:
                raise ItemError(f"prediction for {snippet.id!r}: `{problem[0]}` {problem[1]}")
            answers[self._key(snippet)] = self._resolved(prediction)
        self._ever_answered = True
        if predictions:
            raise ItemError(f"a prediction for {next(iter(predictions))!r}, which was not asked for")
        return answers

    def _resolved(self, prediction: Prediction) -> Prediction:
        """The prediction with the entities that its answer and candidates mean."""
        candidates = tuple(
            replace(candidate, entity=resolve_candidate(self.resolver, candidate).entity)
            for candidate in prediction.candidates
        )
        if prediction.status != "linked":
            return replace(prediction, candidates=candidates)
        if prediction.answer is not None and is_nil(prediction.answer):
            return replace(prediction, status="nil", answer=None, candidates=candidates)
        resolution = self.resolver.resolve(prediction.answer, prediction.page_id, prediction.qid)
        return replace(prediction, entity=resolution.entity, candidates=candidates)


def read_failures(out: Path) -> list[Failure]:
    """The snippets that failed in the last run into a directory."""
    path = out / FAILURES
    return [failure for _, failure in read_lines(path, Failure)] if path.exists() else []


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, LinkerError) else f"{type(error).__name__}: {text}"


def _raise_if_hopeless(error: Exception) -> None:
    """Lets an error through that says of itself that no other snippet would fare better."""
    if isinstance(error, LinkerError) and not isinstance(error, ItemError):
        raise error


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _drop_torn_line(file: BinaryIO) -> None:
    """Cuts off a last line without its end, which is all that a kill in the middle of a write can leave."""
    end = file.seek(0, os.SEEK_END)
    position = end
    while position > 0:
        step = min(4096, position)
        file.seek(position - step)
        block = file.read(step)
        newline = block.rfind(b"\n")
        if newline >= 0:
            file.truncate(position - step + newline + 1)
            break
        position -= step
    else:
        file.truncate(0)
    file.seek(0, os.SEEK_END)


@contextmanager
def _locked(out: Path) -> Iterator[BinaryIO]:
    """The predictions file, open to read and append, while no other process writes to it."""
    try:
        file = (out / PREDICTIONS).open("a+b")
    except OSError as error:
        raise InputError(out / PREDICTIONS, f"cannot be written ({error.strerror})") from None
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows has no flock; two runs into one directory are then the user's to avoid.
        except OSError:
            raise UsageError(f"another shadowprobe is writing to {out}") from None
        yield file
