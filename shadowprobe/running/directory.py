"""A run directory: its name, its files, and the card that says what it is a run of."""

from __future__ import annotations

import os
import re
from collections.abc import Set
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct, field

from shadowprobe.base.jsonl import read_json, read_lines
from shadowprobe.base.model import Failure
from shadowprobe.errors import InputError, UsageError

RUN, FAILURES, RESULTS = "run.json", "failures.jsonl", "results.json"
PREDICTIONS, RANKINGS, ANSWERS = "predictions.jsonl", "rankings.jsonl", "answers.jsonl"
# What a correction of the answers would change, beside them.
DEBIAS = "debias.json"
# The folder of what probes needed answered beyond the dataset, with a run directory for each.
EXTRA = "extra"
# Of run.json and of results.json.
SCHEMA = 1
Results = dict[str, Any]

# The key under which run.json and results.json describe the system.
Kind = Literal["linker", "retriever", "reader", "model"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class RunCard(Struct, omit_defaults=True, kw_only=True):
    """What `run.json` says of a run: enough to know what was measured, and to continue it.

    It has one of `linker`, `retriever`, `reader` and `model`, and what that system was asked.
    """

    linker: dict[str, Any] | None = None
    retriever: dict[str, Any] | None = None
    reader: dict[str, Any] | None = None
    model: dict[str, Any] | None = None
    dataset: dict[str, Any] | None = None
    collection: dict[str, Any] | None = None
    queries: dict[str, Any] | None = None
    depth: int | None = None
    # What a reader was given to read.
    documents: dict[str, Any] | None = None
    shadowprobe: str = ""
    schema: int = SCHEMA
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    # How many questions there are, so that others can say how far the run is.
    total: int = 0
    notes: list[str] = field(default_factory=list)
    # Where the questions were, as the user named them, so that later commands find them again.
    locations: dict[str, str] = field(default_factory=dict)
    # The same relative to the run directory, of what is a file or a directory and goes by no name.
    relative_locations: dict[str, str] = field(default_factory=dict)
    # What the user calls the run. It is not in results.json, because equal runs have equal results.
    name: str = ""
    # Where the questions were in the runs of language models of version 0.1.
    location: str = ""

    @property
    def kind(self) -> Kind:
        """What it is a run of."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def system(self) -> dict[str, Any]:
        """The name, version and options of the system."""
        system: dict[str, Any] = getattr(self, self.kind)
        return system

    def location_of(self, what: str) -> str:
        """Where the dataset, the collection or the queries were; empty where the card does not say."""
        if what in self.locations:
            return self.locations[what]
        # Where version 0.1 wrote it.
        return self.location if what == "queries" else str((self.dataset or {}).get("location") or "")


def read_card(path: Path) -> RunCard:
    """What a `run.json` says; refuses one that describes no system."""
    card = read_json(path, RunCard, schema=SCHEMA)
    if all(getattr(card, kind) is None for kind in KINDS):
        raise InputError(path, f"describes no system: it has none of {', '.join(KINDS)}")
    for key, kind, what in (("name", str, "a name"), ("options", dict, "an object")):
        if not isinstance(card.system.get(key), kind):
            raise InputError(path, f"expected {what}, got {card.system.get(key)!r}", field=f"{card.kind}.{key}")
    return card


def find_answers(source: Path, answers_file: str) -> Path:
    """The file of answers of a run directory, or the file itself."""
    return source / answers_file if source.is_dir() else source


def read_stored_card(source: Path, answers_file: str) -> RunCard | None:
    """The card of a run directory, or of the run that a file of answers belongs to; None where it belongs to none."""
    answers = find_answers(source, answers_file)
    path = answers.parent / RUN
    return read_card(path) if answers.name == answers_file and path.exists() else None


def find_difference(earlier: RunCard, card: RunCard, entries: Set[str], incidental: Set[str]) -> str | None:
    """The first entry in which two cards differ, for a person who has to mend it; None where they agree.

    `incidental` are options that cannot change an answer.
    """
    for what in sorted(entries):
        old, new = (_keep_decisive(getattr(each, what), incidental) for each in (earlier, card))
        if old != new:
            return describe_difference(what, old, new)
    return None


def _keep_decisive(entry: Any, incidental: Set[str]) -> Any:
    """An entry of a card without what cannot change an answer."""
    if not isinstance(entry, dict):
        return entry
    kept = {key: value for key, value in entry.items() if key != "location"}
    if isinstance(options := kept.get("options"), dict):
        kept["options"] = {name: value for name, value in options.items() if name not in incidental}
    return kept


def describe_difference(what: str, old: Any, new: Any) -> str:
    """The one key in which two entries of a card differ first, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        key = next(key for key in (*new, *old) if old.get(key) != new.get(key))
        return describe_difference(f"{what} {key}".strip(), old.get(key), new.get(key))
    return f"{what} is {_shorten(old)}, not {_shorten(new)}"


def _shorten(value: Any) -> str:
    """A value for a message; of a digest the beginning is enough."""
    is_digest = isinstance(value, str) and re.fullmatch(r"[0-9a-f]{64}", value)
    return f"{value[:12]}..." if is_digest else repr(value)


def make_relative(path: Path, run: Path) -> str | None:
    """A path relative to a run directory; None where there is none that JSON can hold, as between two drives."""
    try:
        relative = Path(os.path.relpath(path.resolve(), run.resolve())).as_posix()
        relative.encode()
    except ValueError:
        return None
    return relative


def locate(run: Path, card: RunCard, what: str) -> str:
    """Where the dataset, the collection or the queries of a run are, from any working directory.

    What lies where it did relative to the run goes first: in another working directory, another file may have the name
    that the user gave. What is not there, or is known by name, is as the user named it; empty where the card does not
    say.
    """
    location, relative = card.location_of(what), card.relative_locations.get(what)
    if relative is None:
        return location
    place = Path(os.path.normpath(run.resolve() / relative))
    return str(place) if place.exists() and place != Path(location).resolve() else location


def dataset_location(predictions: Path) -> str:
    """Where the dataset of a stored run is; `mini` for a file that belongs to no run."""
    card = read_stored_card(predictions, PREDICTIONS)
    run = predictions if predictions.is_dir() else predictions.parent
    location = locate(run, card, "dataset") if card is not None else ""
    if location and not Path(location).exists():
        from shadowprobe.catalogue.datasets import KNOWN

        if location not in {known.name for known in KNOWN}:
            raise UsageError(f"{run}: its dataset is no longer at {location}; --dataset says where it is now")
    return location or "mini"


def system_name(predictions: Path) -> str:
    """The system of a stored run, or the name of a file that belongs to no run."""
    card = read_stored_card(predictions, PREDICTIONS)
    return str(card.system["name"]) if card is not None else predictions.stem


def refuse_existing(out: Path, names: tuple[str, ...]) -> None:
    """Refuses a directory that has one of these files: it may belong to another run."""
    if held := next((name for name in names if (out / name).exists()), None):
        raise UsageError(f"{out / held} exists; give another --out, or --force to write over it")


def remove_derived(out: Path) -> None:
    """Removes what belongs to answers that are about to go: results, corrections, failures, answers to variants."""
    for name in (RESULTS, DEBIAS, FAILURES):
        (out / name).unlink(missing_ok=True)
    for card in (out / EXTRA).glob(f"*/{RUN}"):
        for name in (PREDICTIONS, FAILURES, RUN):
            (card.parent / name).unlink(missing_ok=True)


def read_failures(out: Path) -> list[Failure]:
    """The questions that failed in the last run into a directory."""
    path = out / FAILURES
    return [failure for _, failure in read_lines(path, Failure)] if path.exists() else []
