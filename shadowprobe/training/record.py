"""The record of a training: what `training.json` says of the settings, the split, and the figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.files import write_atomically
from shadowprobe.base.jsonl import encode_json, read_json
from shadowprobe.errors import InputError, UsageError

FILE = "training.json"
SCHEMA = 1


class TrainingRecord(Struct):
    """The content of `training.json`; a training that is not finished has no figures."""

    settings: dict[str, Any]
    collection: dict[str, str]
    shadowprobe: str
    # Digests of the files that were read, by what they are.
    digests: dict[str, str]
    relations: list[str]
    split: dict[str, Any]
    # The loss and accuracy of each epoch, by encoder.
    epochs: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    # By group of questions: before, after, BM25, and the differences.
    questions: dict[str, Any] = field(default_factory=dict)
    relations_found: dict[str, Any] = field(default_factory=dict)
    # The mean over all relations by system and number of documents (`EntityQ.` of Tables 3 and 4).
    macro: dict[str, dict[str, float]] = field(default_factory=dict)
    amber: dict[str, Any] = field(default_factory=dict)
    passages: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    schema: int = SCHEMA

    @property
    def is_finished(self) -> bool:
        """True if the figures are there."""
        return bool(self.questions)


class Training:
    """A finished training, as tables and figures read it."""

    def __init__(self, path: Path, label: str, record: TrainingRecord) -> None:
        self.path, self.label, self.record = path, label, record


def write_record(directory: Path, record: TrainingRecord) -> None:
    """Writes `training.json` whole."""
    write_atomically(directory / FILE, encode_json(record))


def read_record(directory: Path) -> TrainingRecord | None:
    """The record of a directory, finished or not; None where there is none."""
    path = directory / FILE
    return read_json(path, TrainingRecord, schema=SCHEMA) if path.exists() else None


def read_training(directory: Path, label: str = "") -> Training:
    """A finished training of a directory, called by a label or else by the name of the directory."""
    record = read_record(directory)
    if record is None:
        raise InputError(directory, f"is no training: it holds no {FILE}, which `shadowprobe train-encoder` writes")
    if not record.is_finished:
        raise InputError(directory / FILE, "is not finished (the command that began it goes on)")
    return Training(directory, label or directory.resolve().name, record)


def read_trainings(directories: Sequence[Path], names: Sequence[str] = ()) -> list[Training]:
    """Finished trainings with different labels; there is a name for each of them or for none."""
    if names and len(names) != len(directories):
        raise UsageError(f"--name: give one for each directory; there are {len(directories)} and {len(names)} names")
    trainings = [read_training(path, names[place] if names else "") for place, path in enumerate(directories)]
    labels = [training.label for training in trainings]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise UsageError(f"two trainings are called {twice!r}: give each a --name of its own")
    return trainings
