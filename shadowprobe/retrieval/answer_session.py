"""One whole job of answering: ask a language model about every set, measure, or measure stored answers."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct, field

import shadowprobe
from shadowprobe.dataset import make_directory
from shadowprobe.errors import InputError, LinkerError, UsageError
from shadowprobe.jsonl import encode_json, encode_lines, read_json, write_atomically
from shadowprobe.model import Failure
from shadowprobe.results import Results
from shadowprobe.retrieval.ambigdocs import AmbigSet
from shadowprobe.retrieval.answer_sets import SCHEMA, Sets
from shadowprobe.retrieval.asking import Answer, Asker
from shadowprobe.retrieval.stored_answers import read_answers
from shadowprobe.run_directory import FAILURES, RESULTS, RUN, drop_torn_line, locked
from shadowprobe.runner import HOPELESS, Outcome, Progress

ANSWERS = "answers.jsonl"


class AnswerCard(Struct, omit_defaults=True):
    """What `run.json` says of a run of a language model: enough to know what was measured, and to go on with it."""

    model: dict[str, Any]
    queries: dict[str, Any]
    shadowprobe: str
    schema: int = SCHEMA
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    # Where the questions were, as the user named them, so that a report finds them again.
    location: str = ""


class Answered(Struct, frozen=True):
    """A finished job: its results, where they are, and how the asking went."""

    results: Results
    out: Path
    outcome: Outcome | None = None


class AnswerJob:
    """A language model to be asked about sets; the same job again goes on where it stopped."""

    def __init__(self, asker: Asker, sets: Sets, out: Path | None = None, *, force: bool = False) -> None:
        self.asker, self.sets, self.force = asker, sets, force
        self.out = out or default_out(asker.model, sets.name)
        self.card = AnswerCard(asker.described, sets.described, shadowprobe.__version__, location=sets.location)

    def run(self, progress: Progress | None = None) -> Answered:
        """Asks about the sets that have no answer yet, measures, writes results.json."""
        make_directory(self.out)
        with locked(self.out, ANSWERS) as file:
            self._claim(file)
            done = {} if self.force else read_answers(self.out / ANSWERS, self.sets.known, torn=True)
            waiting = [one for one in self.sets.sets if one.id not in done]
            outcome = Outcome(resumed=len(self.sets.sets) - len(waiting))
            if waiting:
                outcome += self._ask(file, waiting, progress or (lambda _: None), outcome.resumed)
            else:
                (self.out / FAILURES).unlink(missing_ok=True)
        answers = read_answers(self.out / ANSWERS, self.sets.known)
        results = self.sets.measured(answers, self.asker.described, self.card.notes)
        write_atomically(self.out / RESULTS, encode_json(results))
        return Answered(results, self.out, outcome)

    def _claim(self, file: BinaryIO) -> None:
        """Makes sure that what the directory holds is an earlier part of this very run."""
        path = self.out / RUN
        if self.force:
            return
        if not path.exists():
            held = ANSWERS if file.seek(0, os.SEEK_END) else RESULTS if (self.out / RESULTS).exists() else ""
            if held:
                raise UsageError(
                    f"{self.out} holds {held} without {RUN}; give another --out, or --force to write over it"
                )
            return
        earlier = read_json(path, AnswerCard)
        for what, old, new in (
            ("model", earlier.model, self.card.model),
            ("queries", earlier.queries, self.card.queries),
        ):
            for key in new:
                if (was := self._telling(old.get(key))) != (now := self._telling(new[key])):
                    raise UsageError(
                        f"{self.out} holds a run whose {what} {key} is {was!r}, not {now!r};"
                        " give another --out, or --force to start it afresh"
                    )
        self.card.started, self.card.seconds, self.card.notes = earlier.started, earlier.seconds, earlier.notes

    def _telling(self, value: Any) -> Any:
        """What of a card's entry decides about answers."""
        if not isinstance(value, dict):
            return value
        return {name: given for name, given in value.items() if name not in self.asker.incidental}

    def _ask(self, file: BinaryIO, waiting: Sequence[AmbigSet], progress: Progress, resumed: int) -> Outcome:
        began = datetime.now(UTC)
        with self.asker.started():
            # Nothing is changed before here: a run that cannot start leaves all that an earlier one has.
            if self.force:
                file.truncate(0)
                (self.out / RESULTS).unlink(missing_ok=True)
            drop_torn_line(file)
            self.card.started = self.card.started or began.isoformat(timespec="seconds")
            write_atomically(self.out / RUN, encode_json(self.card))
            progress(resumed)
            answered, failed = self._ask_all(file, waiting, progress, ever_answered=resumed > 0)
        finished = datetime.now(UTC)
        seconds = (finished - began).total_seconds()
        self.card.finished = finished.isoformat(timespec="seconds")
        self.card.seconds = round(self.card.seconds + seconds, 3)
        self.card.notes = list(dict.fromkeys([*self.card.notes, *self.asker.notes]))
        write_atomically(self.out / RUN, encode_json(self.card))
        return Outcome(answered=answered, failed=failed, seconds=seconds)

    def _ask_all(
        self, file: BinaryIO, waiting: Sequence[AmbigSet], progress: Progress, *, ever_answered: bool
    ) -> tuple[int, int]:
        answered = failed = 0
        with (self.out / FAILURES).open("wb") as failures:
            for start in range(0, len(waiting), self.asker.batch_size):
                found = list(self.asker.ask(waiting[start : start + self.asker.batch_size]))
                answers = [one for one in found if isinstance(one, Answer)]
                errors = [one for one in found if isinstance(one, Failure)]
                for lines, into in ((answers, file), (errors, failures)):
                    into.write(encode_lines(lines))
                    into.flush()
                answered, failed = answered + len(answers), failed + len(errors)
                if failed >= HOPELESS and not answered and not ever_answered:
                    raise LinkerError(
                        f"`{self.asker.model}` failed on each of the first {failed} sets, the last time with:"
                        f" {errors[-1].error}"
                    )
                progress(len(found))
        if not failed:
            (self.out / FAILURES).unlink(missing_ok=True)
        return answered, failed


def score_answers(
    predictions: Path, sets: Sets, *, name: str | None = None, out: Path | None = None, force: bool = False
) -> Answered:
    """Measures stored answers: a file of ours, a run directory, or items in the released form with `gen_answer`."""
    path = predictions / ANSWERS if predictions.is_dir() else predictions
    card = _card_of(path, sets)
    answers = read_answers(path, sets.known)
    model: dict[str, Any] = card.model if card is not None else {"name": path.stem, "options": {}}
    model = {**model, "name": name or model["name"]}
    target = out or (path.parent if card is not None else default_out(model["name"], sets.name))
    # A run directory may be scored again in place; any other results are somebody's.
    own = path.name == ANSWERS and target.resolve() == path.parent.resolve()
    others = [held for held in (RESULTS, RUN, ANSWERS) if (target / held).exists()]
    if others and not own and not force:
        raise UsageError(f"{target / others[0]} exists; give another --out, or --force to write over it")
    results = sets.measured(answers, model, card.notes if card is not None else ())
    make_directory(target)
    if not own:
        kept = AnswerCard(
            model, sets.described, shadowprobe.__version__, notes=results["notes"], location=sets.location
        )
        with locked(target, ANSWERS):
            # A card that is left would say that its run had given these answers.
            write_atomically(target / RUN, encode_json(kept))
            write_atomically(target / ANSWERS, encode_lines(Answer(*pair) for pair in answers.items()))
    write_atomically(target / RESULTS, encode_json(results))
    return Answered(results, target)


def default_out(model: str, queries: str) -> Path:
    """`runs/MODEL-QUERIES`; a name with a slash in it, as many models have, must not lead elsewhere."""
    return Path("runs") / re.sub(r"[/\\\0:]", "_", f"{model}-{queries}")


def _card_of(path: Path, sets: Sets) -> AnswerCard | None:
    """What the run behind a file of answers says of itself, if the file belongs to one."""
    card_path = path.parent / RUN
    if path.name != ANSWERS or not card_path.exists():
        return None
    card = read_json(card_path, AnswerCard)
    if card.queries.get("digest") != sets.digest:
        raise InputError(
            card_path,
            f"the run is over `{card.queries.get('name')}` ({str(card.queries.get('digest'))[:12]}...), and the"
            f" questions given are `{sets.name}` ({sets.digest[:12]}...); --queries names the file that it is over",
            field="queries",
        )
    if not isinstance(card.model.get("name"), str):
        raise InputError(card_path, "expected a name", field="model.name")
    return card
