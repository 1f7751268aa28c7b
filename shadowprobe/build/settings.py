"""What a build was asked to do; a directory goes on with the settings that it was begun with."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from shadowprobe.errors import UsageError
from shadowprobe.jsonl import encode_json, read_json, write_atomically

NAME = "settings.json"


class Settings(Struct, kw_only=True, omit_defaults=False):
    """Everything that decides what a dataset will hold; how fast it is made is no part of it."""

    wiki: str
    name: str
    # The day of the first request: what the wiki and the web said then is what the archive has.
    date: str = ""
    created_before: str = ""
    category: str = ""
    limit: int | None = None
    seed: int = 7
    references: int = 20
    snippets: int = 10
    sentences: int = 0
    tail: int | None = None
    max_bytes: int = 4_000_000
    language: str = ""
    dumps: str = ""
    # Neutral contexts of the user's own, in place of the language's.
    neutral: tuple[str, ...] = ()


def open_settings(directory: Path, asked: Settings) -> Settings:
    """The settings of a build: those that it began with, and others are refused; new ones get their day."""
    path = directory / NAME
    if not path.exists():
        asked.date = today()
        return asked
    known = read_json(path, Settings)
    for field, value in asdict(asked).items():
        if field != "date" and getattr(known, field) != value:
            raise UsageError(
                f"{directory.parent} holds a build whose {field} is {getattr(known, field)!r}, not {value!r};"
                " give the settings that it began with, or another --out (a copy of its build/archive there spares"
                " most requests)"
            )
    return known


def write_settings(directory: Path, settings: Settings) -> None:
    """Writes the settings of a build down, once there is a wiki that answers to them."""
    path = directory / NAME
    if not path.exists():
        write_atomically(path, encode_json(settings))


def today() -> str:
    """The day, or the one that SOURCE_DATE_EPOCH names, as in builds that are to be repeated bit for bit."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    except (OverflowError, ValueError, OSError):
        raise UsageError(f"SOURCE_DATE_EPOCH is {fixed}, and no such day is in the calendar") from None
    return moment.date().isoformat()


def begun(out: Path, asked: Mapping[str, Any], given: Collection[str]) -> Settings:
    """The settings that a user asks for; what is not given goes on as it was begun."""
    path = out / "build" / NAME
    if not path.exists():
        if not asked["wiki"]:
            raise UsageError("--wiki: name the wiki, such as https://en.wikipedia.org")
        return Settings(**asked)
    known = asdict(read_json(path, Settings))
    return Settings(**{**known, **{field: value for field, value in asked.items() if field in given}})
