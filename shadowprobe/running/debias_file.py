"""debias.json as it is read back: what a correction of a run's answers would change."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from shadowprobe.base.files import file_digest
from shadowprobe.base.jsonl import read_json
from shadowprobe.measure.stored_priors import SCHEMA
from shadowprobe.running.directory import DEBIAS, PREDICTIONS
from shadowprobe.running.finished import FinishedRun

# The option in the card of a corrected run that says with what it was corrected.
WEIGHT = "debias_weight"
Found = dict[str, Any]


class _Change(Struct):
    n: int
    before: float
    after: float
    difference: float
    difference_ci95: tuple[float, float]
    errors_cut: float | None


class _BreakEven(Struct):
    share: float | None
    pays: str


class _Shown(Struct):
    """What a debias.json must have to be shown."""

    schema: int
    predictions: str
    weight: float
    chosen_by: str
    verdict: str
    splits: list[tuple[float, float]]
    measures: dict[str, _Change]
    gained: float
    lost: float
    break_even: _BreakEven | None
    curve: list[dict[str, float | tuple[float, float]]]
    notes: list[str]


def read_debias(run: FinishedRun) -> Found | None:
    """What a correction of a run would change; None if `debias` was not run, or if the answers have changed since."""
    path = run.path / DEBIAS
    if not path.exists():
        return None
    shown = read_json(path, _Shown, schema=SCHEMA)
    if shown.predictions != file_digest(run.path / PREDICTIONS):
        return None
    return read_json(path, Found)
