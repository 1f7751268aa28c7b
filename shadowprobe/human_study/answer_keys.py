"""Reads the key of a sample, whatever study it is for."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from shadowprobe.base.jsonl import read_json
from shadowprobe.errors import InputError
from shadowprobe.human_study.amber_sample import AmberKey
from shadowprobe.human_study.ambigdocs_sample import AmbigdocsKey
from shadowprobe.human_study.sample import KEY, SCHEMA, Study
from shadowprobe.human_study.shadowlink_sample import AnswerKey

StoredKey = AnswerKey | AmberKey | AmbigdocsKey
_KEYS: dict[Study, type[StoredKey]] = {"shadowlink": AnswerKey, "amber": AmberKey, "ambigdocs": AmbigdocsKey}


class _Head(Struct):
    """The part of a key that says how to read the rest."""

    study: Study = "shadowlink"
    schema: int = SCHEMA


def read_key(path: Path) -> StoredKey:
    """Reads the key of a sample from its directory or its file."""
    file = path / KEY if path.is_dir() else path
    key = read_json(file, _KEYS[read_json(file, _Head, schema=SCHEMA).study], schema=SCHEMA)
    if [item.item for item in key.items] != list(range(1, len(key.items) + 1)):
        raise InputError(file, "are not numbered 1, 2, 3 and so on", field="items")
    for field, problem in key.find_problems():
        raise InputError(file, problem, field=field)
    return key
