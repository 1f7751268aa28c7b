"""The settings of a build; a build in a directory continues with the settings that it was started with."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from shadowprobe.base.files import write_atomically
from shadowprobe.base.jsonl import encode_json, read_json
from shadowprobe.errors import UsageError

NAME = "settings.json"


class BuildSettings(Struct, kw_only=True, omit_defaults=False):
    """All settings that influence the content of a dataset, and no settings for speed."""

    wiki: str
    name: str
    # The day of the first request: the archive has the replies since that day.
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
    # The index of an existing crawl, the folder or URL of its WARC files, and which of its pages are used.
    common_crawl: str = ""
    warc_base: str = ""
    captured_before: str = ""
    captures_only: bool = False
    # The user's own neutral contexts, instead of those of the language.
    neutral: tuple[str, ...] = ()


def open_settings(directory: Path, requested: BuildSettings) -> BuildSettings:
    """Returns the settings that the build was started with and refuses others; new settings get today's date."""
    path = directory / NAME
    if not path.exists():
        requested.date = today()
        return requested
    known = read_json(path, BuildSettings)
    for field, value in asdict(requested).items():
        if field != "date" and getattr(known, field) != value:
            raise UsageError(
                f"{directory.parent} holds a build whose {field} is {getattr(known, field)!r}, not {value!r};"
                " give the settings that it began with, or another --out (a copy of its build/archive there spares"
                " most requests)"
            )
    return known


def write_settings(directory: Path, settings: BuildSettings) -> None:
    """Stores the settings of a new build."""
    path = directory / NAME
    if not path.exists():
        write_atomically(path, encode_json(settings))


def today() -> str:
    """Returns today's date, or that of SOURCE_DATE_EPOCH, which makes builds reproducible."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        moment = datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)
    except (OverflowError, ValueError, OSError):
        raise UsageError(f"SOURCE_DATE_EPOCH is {fixed}, which is not a valid date") from None
    return moment.date().isoformat()


def merge_settings(out: Path, options: Mapping[str, Any], given: Collection[str]) -> BuildSettings:
    """Makes settings from the options; an option that is not given keeps the value of the started build."""
    path = out / "build" / NAME
    if not path.exists():
        if not options["wiki"]:
            raise UsageError("--wiki: name the wiki, such as https://en.wikipedia.org")
        return BuildSettings(**options)
    known = asdict(read_json(path, BuildSettings))
    return BuildSettings(**{**known, **{field: value for field, value in options.items() if field in given}})
