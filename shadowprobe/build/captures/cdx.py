"""The lines of a CDX or CDXJ index as captures."""

from __future__ import annotations

import json
from calendar import timegm
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from shadowprobe.build.captures.capture_choice import Capture, WantedPages
from shadowprobe.build.web.fetch import HTML

# The names of the letters in the first line of a CDX file, which are those of CDXJ; others are not needed.
_LETTERS = {"a": "url", "m": "mime", "s": "status", "S": "length", "V": "offset", "g": "filename"}
# The fields of a file without such a line.
_USUAL = ["N", "b", "a", "m", "s", "k", "r", "M", "S", "V", "g"]


def read_cdx(lines: Iterable[bytes], wanted: WantedPages, before: int) -> Iterator[Capture]:
    """Yields the captures of wanted pages with status 200, HTML and a moment before this one; skips broken lines."""
    letters = _USUAL
    for raw in lines:
        line = raw.decode("utf-8", "replace").strip()
        if line.startswith("CDX "):
            letters = line.split()[1:]
            continue
        key, _, rest = line.partition(" ")
        moment, _, rest = rest.partition(" ")
        is_json, is_wanted = rest.startswith("{"), key in wanted.keys
        # The keys of CDXJ are SURT, those of CDX may be of another kind. To parse JSON takes long.
        if is_json and not is_wanted:
            continue
        fields = _read_json(rest) if is_json else _read_fields(line, letters)
        if is_wanted or fields.get("url") in wanted.urls:
            capture = _make_capture(key, moment, fields)
            if capture is not None and 0 <= capture.moment < before:
                yield capture


def _read_json(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (RecursionError, ValueError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _read_fields(line: str, letters: list[str]) -> dict[str, Any]:
    values = line.split(" ")
    if len(values) != len(letters):
        return {}
    return {_LETTERS[letter]: value for letter, value in zip(letters, values, strict=True) if letter in _LETTERS}


def _make_capture(key: str, moment: str, fields: dict[str, Any]) -> Capture | None:
    kind = fields.get("mime-detected") or fields.get("mime")
    if str(fields.get("status")) != "200" or str(kind) not in HTML or fields.get("truncated"):
        return None
    if not all(isinstance(fields.get(name), str) for name in ("url", "filename")):
        return None
    try:
        seconds = timegm(datetime.strptime(moment[:14], "%Y%m%d%H%M%S").timetuple())
        length = fields.get("length") or 0
        place = int(fields["offset"]), 0 if length == "-" else int(length)
        return Capture(fields["url"], key, seconds * 1_000_000, fields["filename"], *place)
    except (KeyError, OverflowError, TypeError, ValueError):
        return None
