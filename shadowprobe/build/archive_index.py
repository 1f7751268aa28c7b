"""The index of an archive: where the record of each request is, and what a crawl has to know of its response."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from shadowprobe.build.warc_record import (
    RecordPlace,
    Stored,
    make_damage_error,
    make_failure,
    make_response,
    parse_response,
    quote_field,
)
from shadowprobe.errors import InputError, UsageError
from shadowprobe.net.urls import REDIRECTS

HTML = "text/html"


class Entry(Struct, frozen=True, omit_defaults=True, gc=False):
    """A line of the index: where the record of a request is, and what a crawl has to know of its response.

    Indexes of earlier versions have no status.
    """

    key: str
    offset: int
    length: int
    failed: str = ""
    status: int = 0
    # Where a redirect leads, and the type of any other content without its parameters.
    location: str = ""
    kind: str = HTML
    # When a page was captured that comes from another crawl.
    captured: str = ""

    @property
    def end(self) -> int:
        """Where the record ends."""
        return self.offset + self.length


def key_of(method: str, url: str, body: bytes | str | None = None) -> str:
    """The key of a request."""
    if not body:
        return f"{method} {url}"
    raw = body.encode() if isinstance(body, str) else body
    return f"{method} {url} {hashlib.sha256(raw).hexdigest()}"


def content_type(headers: Mapping[str, str]) -> str:
    """The type of a response without its charset."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def make_entry(key: str, offset: int, length: int, stored: Stored) -> Entry:
    """Makes the line of a record."""
    location = stored.headers.get("location", "") if stored.status in REDIRECTS else ""
    kind = content_type(stored.headers)
    # One text for all pages, since there may be millions.
    kind = HTML if location or kind == HTML else kind
    return Entry(key, offset, length, stored.failed, stored.status, location, kind, stored.captured)


class IndexedRecords(ABC):
    """Records by their requests; how they are stored is for a subclass to say."""

    path: Path | str
    read_only: bool
    _entries: dict[str, Entry]

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def keys(self) -> Iterator[str]:
        """The requests with a response or a failure, in the order of these."""
        return iter(self._entries)

    def get(self, key: str) -> Stored | None:
        """The response to a request, or None if it was never sent."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.failed:
            return Stored(key.split(" ")[1], 0, {}, b"", entry.failed)
        stored = parse_response(self._read(entry), key)
        if stored is None:
            raise make_damage_error(self.locate(key).path, entry.offset)
        return stored

    def find(self, key: str) -> Entry | None:
        """What is known of the response to a request without reading it, or None if it was never sent."""
        entry = self._entries.get(key)
        if entry is None or entry.status or entry.failed:
            return entry
        # The index is that of an earlier version.
        stored = self.get(key)
        assert stored is not None
        self._entries[key] = entry = make_entry(key, entry.offset, entry.length, stored)
        return entry

    def failure(self, key: str) -> str:
        """Why a request got no response; empty if it got one or was never sent."""
        entry = self._entries.get(key)
        return entry.failed if entry is not None else ""

    def locate(self, key: str) -> RecordPlace:
        """Where the response to a request is; another process can read it there."""
        entry = self._entries.get(key)
        if entry is None:
            raise InputError(self.path, f"lacks `{key}`: `shadowprobe build crawl` requests it again")
        return RecordPlace(self._find_file(key), entry.offset, entry.length, key)

    def put(self, key: str, response: Stored) -> None:
        """Stores a response."""
        quoted = {name.lower(): quote_field(value) for name, value in response.headers.items()}
        self._store(key, make_response(key, response), response._replace(headers=quoted))

    def put_failure(self, key: str, url: str, why: str) -> None:
        """Stores that a request got no response, so that it is not sent again."""
        self._store(key, make_failure(key, url, why), Stored(url, 0, {}, b"", why))

    def _store(self, key: str, record: bytes, stored: Stored) -> None:
        if self.read_only:
            raise UsageError(f"{self.path}: is only read here")
        self._append(key, record, stored)

    @abstractmethod
    def _append(self, key: str, record: bytes, stored: Stored) -> None:
        """Writes a record and its line of the index."""

    @abstractmethod
    def _read(self, entry: Entry) -> bytes:
        """Reads a record, decompressed; empty if it is damaged."""

    @abstractmethod
    def _find_file(self, key: str) -> str:
        """Returns the path or URL of the file in which a record is."""
