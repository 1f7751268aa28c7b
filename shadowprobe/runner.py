"""Linker x dataset -> predictions on disk: batches, resume, failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from shadowprobe.answers import fault, resolve_candidate
from shadowprobe.dataset import Dataset, make_directory
from shadowprobe.errors import InputError, ItemError, LinkerError, ShadowprobeError, UsageError
from shadowprobe.identity import Resolver, is_nil
from shadowprobe.jsonl import drop_halves, encode_json, encode_lines, read_lines, write_atomically
from shadowprobe.linker import Linker, by_id, without_gold
from shadowprobe.model import Failure, Prediction, Snippet
from shadowprobe.repeats import Repeats, question
from shadowprobe.run_directory import (
    EXTRA,
    FAILURES,
    PREDICTIONS,
    REPLIES,
    RESULTS,
    RUN,
    RunCard,
    drop_torn_line,
    locked,
    read_run_card,
)

# A linker that fails on this many snippets before it has answered one is broken, and the run stops at once.
HOPELESS = 16
# Lines that are written at once; it bounds the memory that a much repeated text takes.
BLOCK = 4096

Progress = Callable[[int], None]


class Outcome(Struct, frozen=True):
    """What a run did: answered before, answered now, linker calls saved on equal texts, failed."""

    resumed: int = 0
    answered: int = 0
    repeated: int = 0
    failed: int = 0
    seconds: float = 0.0

    def __add__(self, other: Outcome) -> Outcome:
        """What two runs did together."""
        return Outcome(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


class Asked(NamedTuple):
    """A snippet to put to the linker, and the ids of all that its answer is for: its own, and those that repeat it."""

    snippet: Snippet
    ids: list[str]


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
        rows: Mapping[str, int] | None = None,
        force: bool = False,
    ) -> None:
        self.linker, self.dataset, self.out, self.card = linker, dataset, out, card
        self.batch_size = batch_size or linker.batch_size
        self.resolver = resolver or Resolver(dataset.entities.values(), language=dataset.card.language)
        # The snippets numbered as they come; one table serves the runner and the probes.
        self.rows = rows if rows is not None else {s.id: number for number, s in enumerate(dataset.snippets())}
        self.force = force
        self._ever_answered = False
        self._failed = 0

    def run(self, progress: Progress | None = None) -> Outcome:
        """Links what has no answer yet; returns when every snippet is answered or listed as failed."""
        make_directory(self.out)
        with locked(self.out) as file:
            self._claim(file)
            drop_halves(self.out)
            done = bytearray(len(self.rows)) if self.force else self._answered()
            started = datetime.now(UTC)
            if done and all(done):
                # Everything is answered: no model is loaded and no service reached for nothing.
                self._drop_failures()
                return Outcome(resumed=len(done))
            self._open_linker()
            try:
                # Nothing is changed before here: a run that cannot start leaves all that an earlier one has.
                if self.force:
                    self._forget(file)
                drop_torn_line(file)
                self.card.started = self.card.started or _stamp(started)
                self._save_card()
                outcome = self._link_all(file, done, progress or (lambda _: None), started)
            finally:
                self._close_linker()
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
        if self.force:
            return
        if not path.exists():
            if predictions.seek(0, os.SEEK_END):
                raise UsageError(
                    f"{self.out} holds {PREDICTIONS} without {RUN}; give another --out, or --force to write over it"
                )
            if (self.out / RESULTS).exists():
                raise UsageError(
                    f"{self.out} holds {RESULTS} without {RUN}; give another --out, or --force to write over it"
                )
        else:
            earlier = read_run_card(path)
            for what in ("linker", "dataset"):
                old, new = getattr(earlier, what), getattr(self.card, what)
                for key in new:
                    if key != "location" and self._telling(key, old.get(key)) != self._telling(key, new[key]):
                        raise UsageError(
                            f"{self.out} holds a run whose {what} {key} is {old.get(key)!r}, not {new[key]!r};"
                            " give another --out, or --force to start it afresh"
                        )
            self.card.started, self.card.seconds = earlier.started, earlier.seconds
            self.card.notes = earlier.notes

    def _telling(self, key: str, value: Any) -> Any:
        """What of a card's entry decides about answers."""
        if key != "options" or not isinstance(value, dict):
            return value
        return {name: given for name, given in value.items() if name not in self.linker.incidental}

    def _forget(self, predictions: BinaryIO) -> None:
        predictions.truncate(0)
        (self.out / RESULTS).unlink(missing_ok=True)
        if getattr(self.linker, "keep_replies", None) == self.out / REPLIES:
            # Those of another service would pass for its own. Emptied and not removed: the linker has it open by now.
            os.truncate(self.out / REPLIES, 0)
        # What the earlier linker answered for probes would pass for the new one's.
        for card in (self.out / EXTRA).glob(f"*/{RUN}"):
            for name in (PREDICTIONS, FAILURES, RUN):
                (card.parent / name).unlink(missing_ok=True)

    def _answered(self) -> bytearray:
        """Marks the rows that an earlier part of the run answered; refuses what scoring would refuse at the end."""
        path = self.out / PREDICTIONS
        done = bytearray(len(self.rows))
        for line, prediction in read_lines(path, Prediction, torn=True):
            row = self.rows.get(prediction.id)
            problem = fault(prediction)
            # A limited dataset may well go on in the directory of a longer run.
            if problem is None and row is None and self.dataset.limit is None:
                problem = "id", f"{prediction.id!r} is no snippet of the dataset `{self.dataset.name}`"
            if problem is None and row is not None and done[row]:
                problem = "id", f"{prediction.id!r} is answered twice"
            if problem is not None:
                raise InputError(path, problem[1], line=line, field=problem[0])
            if row is not None:
                done[row] = True
        return done

    def _open_linker(self) -> None:
        try:
            self.linker.open(self.dataset.knowledge)
        except ShadowprobeError:
            raise
        except (Exception, SystemExit) as error:
            raise LinkerError(f"linker `{self.linker.name}` failed to start: {_describe(error)}") from error

    def _close_linker(self) -> None:
        try:
            self.linker.close()
        except Exception as error:
            # Its answers are safe by now.
            self.linker.note(f"the linker failed to close: {_describe(error)}")

    def _drop_failures(self) -> None:
        (self.out / FAILURES).unlink(missing_ok=True)

    def _link_all(self, file: BinaryIO, done: bytearray, progress: Progress, started: datetime) -> Outcome:
        resumed = sum(done)
        progress(resumed)
        self._ever_answered = resumed > 0
        answered = failed = repeated = 0
        with (self.out / FAILURES).open("wb") as failures:
            for batch in self._batches(done):
                answers, errors = self._link([asked.snippet for asked in batch])
                lines = _write(
                    file,
                    (
                        replace(answers[asked.snippet.id], id=snippet_id)
                        for asked in batch
                        if asked.snippet.id in answers
                        for snippet_id in asked.ids
                    ),
                )
                broken = _write(
                    failures,
                    (
                        Failure(id=snippet_id, error=errors[asked.snippet.id])
                        for asked in batch
                        if asked.snippet.id in errors
                        for snippet_id in asked.ids
                    ),
                )
                answered, failed = answered + lines, failed + broken
                repeated += sum(len(asked.ids) for asked in batch) - len(batch)
                progress(lines + broken)
        seconds = (datetime.now(UTC) - started).total_seconds()
        if not failed:
            self._drop_failures()
        return Outcome(resumed, answered, repeated, failed, seconds)

    def _batches(self, done: bytearray) -> Iterator[list[Asked]]:
        """Snippets without an answer, in batches; those that ask the same thing stand together."""
        with_gold = self.linker.sees_gold
        repeats = Repeats(question(snippet, with_gold=with_gold) for snippet in self._unanswered(done))
        ids = [snippet_id for snippet_id, row in self.rows.items() if not done[row]]
        batch = []
        for place, snippet in enumerate(self._unanswered(done)):
            if repeats.asked_before(place):
                continue
            batch.append(Asked(snippet, [ids[same] for same in repeats.places(place)]))
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch:
            yield batch

    def _unanswered(self, done: bytearray) -> Iterator[Snippet]:
        return (snippet for row, snippet in enumerate(self.dataset.snippets()) if not done[row])

    def _link(self, snippets: list[Snippet]) -> tuple[dict[str, Prediction], dict[str, str]]:
        """Answers by snippet id, and errors for those on which the linker failed."""
        asked = snippets if self.linker.sees_gold else [without_gold(snippet) for snippet in snippets]
        answers: dict[str, Prediction] = {}
        errors: dict[str, str] = {}
        try:
            answers, errors = self._ask(asked)
        except (Exception, SystemExit) as error:
            if len(asked) == 1:
                errors[asked[0].id] = self._failure(error)
            else:
                _raise_if_hopeless(error)
                # One bad snippet must not cost the others of its batch their answers.
                for snippet in asked:
                    try:
                        answer, failure = self._ask([snippet])
                        answers |= answer
                        errors |= failure
                    except (Exception, SystemExit) as single:
                        errors[snippet.id] = self._failure(single)
        return answers, errors

    def _failure(self, error: BaseException) -> str:
        """The text of an error on one snippet; stops the run where the linker has never answered at all."""
        _raise_if_hopeless(error)
        self._failed += 1
        if self._failed >= HOPELESS and not self._ever_answered:
            raise LinkerError(
                f"linker `{self.linker.name}` failed on each of its first {self._failed} snippets,"
                f" the last time with: {_describe(error)}"
            ) from error
        return _describe(error)

    def _ask(self, snippets: list[Snippet]) -> tuple[dict[str, Prediction], dict[str, str]]:
        predictions = by_id(self.linker.link(list(snippets)))
        answers: dict[str, Prediction] = {}
        failed: dict[str, str] = {}
        for snippet in snippets:
            given = predictions.pop(snippet.id, None)
            if given is None:
                raise ItemError(f"no prediction for snippet {snippet.id!r}")
            if isinstance(given, Failure):
                failed[snippet.id] = given.error
                continue
            try:
                answers[snippet.id] = self._resolved(_checked(given))
            except ItemError as error:
                # The others of its batch are answered, and need not be asked for again.
                failed[snippet.id] = str(error)
        if predictions:
            raise ItemError(f"a prediction for {next(iter(predictions))!r}, which was not asked for")
        self._ever_answered |= bool(answers)
        return answers, {snippet_id: self._failure(ItemError(error)) for snippet_id, error in failed.items()}

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


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, LinkerError) else f"{type(error).__name__}: {text}"


def _raise_if_hopeless(error: BaseException) -> None:
    """Lets an error through that says of itself that no other snippet would fare better."""
    if isinstance(error, LinkerError) and not isinstance(error, ItemError):
        raise error


def _checked(given: Prediction) -> Prediction:
    """A prediction as its line will read, if it can be one at all."""
    prediction = _as_stored(given)
    problem = fault(prediction)
    if problem is not None:
        raise ItemError(f"prediction for {prediction.id!r}: `{problem[0]}` {problem[1]}")
    return prediction


def _as_stored(prediction: Prediction) -> Prediction:
    """The prediction as its line will read: NumPy's numbers made Python's, and what no line can hold refused."""
    try:
        return _decode(_encode(prediction))
    except (TypeError, ValueError, OverflowError) as error:
        raise ItemError(f"prediction for {prediction.id!r}: {error}") from error


def _plain(value: Any) -> Any:
    """The number within one of NumPy's, which have a method for it."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is neither text nor number")


_encode = msgspec.json.Encoder(enc_hook=_plain).encode
_decode = msgspec.json.Decoder(Prediction).decode


def _write(file: BinaryIO, items: Iterable[Any]) -> int:
    """Writes the lines of one batch, and says how many: a kill in between loses this batch and nothing else."""
    written, items = 0, iter(items)
    while block := list(islice(items, BLOCK)):
        file.write(encode_lines(block))
        written += len(block)
    file.flush()
    return written


def _stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
