"""A run directory: its files, its card, and the one process that may write to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct, field

from shadowprobe.errors import InputError, ShadowprobeError, UsageError
from shadowprobe.jsonl import read_json, read_lines
from shadowprobe.model import Failure

RUN, PREDICTIONS, FAILURES, RESULTS = "run.json", "predictions.jsonl", "failures.jsonl", "results.json"
# What a service said, word for word, where the user asked to keep it.
REPLIES = "replies.jsonl"
# The folder of what probes needed answered beyond the dataset, a run of its own for each.
EXTRA = "extra"
SCHEMA = 1


class RunCard(Struct, omit_defaults=True):
    """What `run.json` says of a run: enough to know what was measured, and to go on with it."""

    linker: dict[str, Any]
    dataset: dict[str, Any]
    shadowprobe: str
    schema: int = SCHEMA
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)


def read_run_card(path: Path) -> RunCard:
    """What a `run.json` says."""
    card = read_json(path, RunCard)
    if card.schema != SCHEMA:
        raise InputError(path, f"is {card.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    for key, kind, what in (("name", str, "a name"), ("options", dict, "an object")):
        if not isinstance(card.linker.get(key), kind):
            raise InputError(path, f"expected {what}, got {card.linker.get(key)!r}", field=f"linker.{key}")
    return card


def read_failures(out: Path) -> list[Failure]:
    """The snippets that failed in the last run into a directory."""
    path = out / FAILURES
    return [failure for _, failure in read_lines(path, Failure)] if path.exists() else []


def drop_torn_line(file: BinaryIO) -> None:
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
def locked(out: Path, name: str = PREDICTIONS) -> Iterator[BinaryIO]:
    """The predictions file, open to read and append, while no other process writes to it."""
    path = out / name
    fresh = not path.exists()
    try:
        file = path.open("a+b")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    with file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows has no flock; two runs into one directory are then the user's to avoid.
        except OSError:
            raise UsageError(f"another shadowprobe is writing to {out}") from None
        try:
            yield file
        except ShadowprobeError:
            if fresh and not file.seek(0, os.SEEK_END):
                path.unlink()
            raise
