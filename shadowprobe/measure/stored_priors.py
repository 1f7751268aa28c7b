"""The part of a debias.json that a linker needs to correct new texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from shadowprobe.base.jsonl import read_json
from shadowprobe.errors import InputError
from shadowprobe.measure.candidate_scores import Kind, Scale

SCHEMA = 1


class _StoredScale(Struct, frozen=True):
    kind: Kind
    spread: float


class _StoredLinker(Struct, frozen=True):
    name: str
    version: str = ""
    options: dict[str, Any] = {}
    files: dict[str, str] = {}


class StoredPriors(Struct, frozen=True):
    """The chosen weight, and for each name the means of its entities over the neutral contexts of one linker."""

    schema: int
    linker: _StoredLinker
    weight: float
    scale: _StoredScale
    priors: dict[str, dict[str, float]]

    @property
    def log_scale(self) -> Scale:
        """The scale that the means are on."""
        return Scale(self.scale.kind, self.scale.spread)


def read_priors(path: Path) -> StoredPriors:
    """Reads the priors of a debias.json."""
    stored = read_json(path, StoredPriors, schema=SCHEMA)
    if not 0 <= stored.weight <= 1:
        raise InputError(path, f"{stored.weight:g} is not a number from 0 to 1", field="weight")
    if not stored.scale.spread > 0:
        raise InputError(path, f"{stored.scale.spread:g} is not a number above 0", field="scale.spread")
    return stored
