"""The name of a run directory: the system, its options that matter, and the questions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any

from shadowprobe.base.files import directory_name
from shadowprobe.base.secrets import MASK
from shadowprobe.errors import UsageError
from shadowprobe.plugins import list_options

FOLDER = Path("runs")
# Bytes of the options in a name; a file system allows 255 for the whole name.
MOST_BYTES = 80
# It says where a service is, and seldom what it is.
ADDRESS = "url"
_UNSAFE = re.compile(r"[^\w.=,+-]+")
_SCHEME = re.compile(r"^\w+://")


def default_directory(
    system: str, questions: str, options: Mapping[str, Any] | None = None, folder: Path = FOLDER
) -> Path:
    """`runs/SYSTEM-QUESTIONS`, with options as `runs/SYSTEM-KEY=VALUE,KEY=VALUE-QUESTIONS`."""
    return folder / directory_name("-".join(filter(None, (system, _join_options(options or {}), questions))))


def named_directory(name: str, folder: Path = FOLDER) -> Path:
    """The directory of a run that a user named."""
    if not name.strip():
        raise UsageError("--name: the name of the run is empty")
    return folder / directory_name(name)


def choose_options(
    system: type, options: Mapping[str, Any], given: Iterable[str], incidental: Set[str]
) -> dict[str, Any]:
    """Of the options of a system those that tell its runs apart: they are given, and differ from their defaults."""
    parameters = list_options(system)
    chosen = {
        key: options[key]
        for key in sorted(given)
        if key in options
        and key not in incidental
        and options[key] != MASK
        and (key not in parameters or str(options[key]) != str(parameters[key].default))
    }
    without_address = {key: value for key, value in chosen.items() if key != ADDRESS}
    return without_address or chosen


def _join_options(options: Mapping[str, Any]) -> str:
    """The options as a part of a file name; where that is too long, it is cut and a digest tells it apart."""
    text = ",".join(f"{key}={_SCHEME.sub('', str(value))}" for key, value in options.items())
    safe = _UNSAFE.sub("_", text)
    if len(safe.encode()) <= MOST_BYTES:
        return safe
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{safe.encode()[: MOST_BYTES - len(digest) - 1].decode(errors='ignore')}~{digest}"
