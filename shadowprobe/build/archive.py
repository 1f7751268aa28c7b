"""The archive of a build: every response of the wiki and of the web in a WARC file, by its request.

The index only saves time: a record holds its own request, so that whatever the index does not know is read from
the file when the archive is opened again. Half a record at its end, which a kill in the middle of a write leaves, is
cut off.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path

import msgspec
from msgspec import Struct

from shadowprobe.base.files import drop_torn_line, lock, open_for_reading, write_out
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.build.warc_record import (
    INFO,
    MAGIC,
    RecordPlace,
    Stored,
    make_damage_error,
    make_failure,
    make_info,
    make_response,
    parse_any,
    parse_response,
    quote_field,
    read_member,
)
from shadowprobe.errors import InputError, UsageError
from shadowprobe.net.urls import REDIRECTS

# A file that is larger than its first record can be, and has no record, is not ours to cut.
_FIRST_RECORD = 4096
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


class Archive:
    """A WARC file with an index beside it; one process writes to it at a time."""

    def __init__(self, path: Path, *, software: str, read_only: bool = False) -> None:
        # Only reading needs it, but it is said before the first request if it is missing.
        import_module("warcio")
        self.path, self.read_only = path, read_only
        self._software = software
        self._entries: dict[str, Entry] = {}
        self._index_path = index = path.with_suffix(path.suffix + ".index")
        if read_only and not (path.exists() or index.exists()):
            raise InputError(path, "no such archive: a build without --from-archive makes it")
        with ExitStack() as stack:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._file = stack.enter_context(path.open("rb" if read_only else "a+b"))
                if not read_only:
                    self._index = stack.enter_context(index.open("a+b"))
            except OSError as error:
                raise InputError(error.filename or path, f"cannot be opened ({error.strerror})") from None
            self._open()
            stack.pop_all()

    def _open(self) -> None:
        if not self.read_only:
            lock(self._file, f"building into {self.path.parent}")
            drop_torn_line(self._index)
        indexed = self._read_index()
        size = self._file.seek(0, os.SEEK_END)
        known = [entry for entry in indexed if entry.end <= size]
        if self.read_only and len(known) < len(indexed):
            end = max(entry.end for entry in indexed)
            raise InputError(
                self.path,
                f"has {size} bytes, and its index has {end}: it is cut short; a build without --from-archive asks"
                " again for what is lost",
            )
        scanned = list(self._scan(max((entry.end for entry in known), default=0), size))
        self._entries = {entry.key: entry for entry in (*known, *scanned) if entry.key != INFO}
        if not self.read_only:
            self._mend(known, scanned, size, lost=len(known) < len(indexed))

    def _read_index(self) -> list[Entry]:
        """Reads the index; a last line that is not whole is left out."""
        if not self._index_path.exists():
            return []
        decode = msgspec.json.Decoder(Entry).decode
        try:
            with open_for_reading(self._index_path) as file:
                return [decode(line) for line in file if line.endswith(b"\n")]
        except (ValueError, RecursionError):
            # A million lines take five times as long here, but an error names its line.
            return [entry for _, entry in read_lines(self._index_path, Entry, torn=True)]

    def _mend(self, known: list[Entry], scanned: list[Entry], size: int, *, lost: bool) -> None:
        """Makes file and index agree: without half a record, and without lines whose records are lost."""
        end = max((entry.end for entry in (*known, *scanned)), default=0)
        if not end and size > _FIRST_RECORD:
            raise InputError(self.path, "has no record that can be read: move it away, and a build makes a new one")
        self._file.truncate(end)
        if lost:
            self._index.truncate(0)
        write_out(self._index, encode_lines([*known, *scanned] if lost else scanned), self.path)
        if not end:
            self._write_info()

    def _scan(self, offset: int, size: int) -> Iterator[Entry]:
        """The records from a byte on; what is not whole is passed over."""
        broken = None
        while offset < size:
            content, end = read_member(self._file.fileno(), offset)
            record = parse_any(content)
            if record is None:
                broken = offset if broken is None else broken
                offset = self._next_record(offset + 1, size)
                continue
            if broken is not None and self.read_only:
                raise make_damage_error(self.path, broken)
            yield _make_entry(record[0], offset, end - offset, record[1])
            offset, broken = end, None

    def _next_record(self, offset: int, size: int) -> int:
        """Where something begins like a record."""
        with mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ) as view:
            place = view.find(MAGIC, offset)
        return size if place < 0 else place

    def _write_info(self) -> None:
        """Writes the record that says who made the file; it is kept by an index entry of its own."""
        self._append(INFO, make_info(self.path.name, self._software), Stored("", 0, {}, b""))

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
        stored = parse_response(read_member(self._file.fileno(), entry.offset)[0], key)
        if stored is None:
            raise make_damage_error(self.path, entry.offset)
        return stored

    def find(self, key: str) -> Entry | None:
        """What is known of the response to a request without reading it, or None if it was never sent."""
        entry = self._entries.get(key)
        if entry is None or entry.status or entry.failed:
            return entry
        # The index is that of an earlier version.
        stored = self.get(key)
        assert stored is not None
        self._entries[key] = entry = _make_entry(key, entry.offset, entry.length, stored)
        return entry

    def locate(self, key: str) -> RecordPlace:
        """Where the response to a request is; another process can read it there."""
        entry = self._entries.get(key)
        if entry is None:
            raise InputError(self.path, f"lacks `{key}`: `shadowprobe build crawl` requests it again")
        return RecordPlace(self.path.absolute(), entry.offset, entry.length, key)

    def failure(self, key: str) -> str:
        """Why a request got no response; empty if it got one or was never sent."""
        entry = self._entries.get(key)
        return entry.failed if entry is not None else ""

    def put(self, key: str, response: Stored) -> None:
        """Stores a response."""
        quoted = {name.lower(): quote_field(value) for name, value in response.headers.items()}
        self._append(key, make_response(key, response), response._replace(headers=quoted))

    def put_failure(self, key: str, url: str, why: str) -> None:
        """Stores that a request got no response, so that it is not sent again."""
        self._append(key, make_failure(key, url, why), Stored(url, 0, {}, b"", why))

    def _append(self, key: str, record: bytes, stored: Stored) -> None:
        if self.read_only:
            raise UsageError(f"{self.path}: is only read here")
        entry = _make_entry(key, self._file.seek(0, os.SEEK_END), len(record), stored)
        write_out(self._file, record, self.path)
        write_out(self._index, encode_lines([entry]), self.path)
        if key != INFO:
            self._entries[key] = entry

    def close(self) -> None:
        """Closes the files; what a full disk did not take is lost without another word."""
        for file in (self._file,) if self.read_only else (self._file, self._index):
            with suppress(OSError):
                file.close()


def _make_entry(key: str, offset: int, length: int, stored: Stored) -> Entry:
    location = stored.headers.get("location", "") if stored.status in REDIRECTS else ""
    kind = stored.headers.get("content-type", "").partition(";")[0].strip().lower()
    # One text for all pages, since there may be millions.
    kind = HTML if location or kind == HTML else kind
    return Entry(key, offset, length, stored.failed, stored.status, location, kind, stored.captured)
