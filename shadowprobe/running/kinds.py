"""What a run is of: a linker, a retriever, a reader or a language model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shadowprobe.errors import InputError
from shadowprobe.running.directory import KINDS, RESULTS, Kind

NOUNS: dict[Kind, str] = {
    "linker": "linker",
    "retriever": "retriever",
    "reader": "reader",
    "model": "language model",
}
# What results.json calls the data of each kind of run.
DATA_KEYS: dict[Kind, str] = {
    "linker": "dataset",
    "retriever": "collection",
    "reader": "collection",
    "model": "queries",
}
# The command that makes runs of each kind, and the one that measures stored answers again.
COMMANDS: dict[Kind, str] = {"linker": "run", "retriever": "retrieve", "reader": "read", "model": "answer"}
SCORING_COMMANDS: dict[Kind, str] = {**COMMANDS, "linker": "score"}


def kind_of(path: Path, results: dict[str, Any]) -> Kind:
    """What the results of a run directory are of."""
    kind = next((kind for kind in KINDS if isinstance(results.get(kind), dict)), None)
    if kind is None:
        raise InputError(path / RESULTS, f"names no system: it has none of {', '.join(KINDS)}")
    return kind
