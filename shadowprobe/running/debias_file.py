"""debias.json as it is read back: what a correction of a run's answers would change."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from shadowprobe.base.files import file_digest
from shadowprobe.base.jsonl import read_json
from shadowprobe.measure.stored_priors import SCHEMA
from shadowprobe.running.directory import DEBIAS, PREDICTIONS
from shadowprobe.running.finished import FinishedRun

Found = dict[str, Any]


class _Head(Struct):
    """What a debias.json must have to be shown."""

    schema: int
    predictions: str
    weight: float
    chosen_by: str
    verdict: str
    scale: dict[str, Any]
    measures: dict[str, dict[str, Any]]
    curve: list[dict[str, Any]]
    break_even: dict[str, Any] | None


def read_debias(run: FinishedRun) -> Found | None:
    """What a correction of a run would change; None where nobody has asked, or the answers are others by now."""
    path = run.path / DEBIAS
    if not path.exists():
        return None
    head = read_json(path, _Head, schema=SCHEMA)
    if head.predictions != file_digest(run.path / PREDICTIONS):
        return None
    return read_json(path, Found)
