"""The archive of a build: every response of the wiki and of the web in a WARC file, by its request.

The index only saves time: a record holds its own request, so that whatever the index does not know is read from
the file when the archive is opened again. Half a record at its end, which a kill in the middle of a write leaves, is
cut off.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import string
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from shadowprobe.base.files import drop_torn_line, lock, write_out
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.errors import InputError, UsageError

# Header fields that are not stored: a stored body is neither compressed nor in chunks.
_NOT_STORED = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "set-cookie"})
# The record that says who made the file has a line in the index, but is nobody's answer.
_INFO = "warcinfo"
# The field of a record that holds the key of its request.
_KEY = "WARC-Shadowprobe-Key"
_FAILED = "failed: "
# How a compressed record begins, and how much of it is read at once.
_MAGIC, _PIECE = b"\x1f\x8b\x08", 65536
# A file that is larger than its first record can be, and has no record, is not ours to cut.
_FIRST_RECORD = 4096


class Stored(NamedTuple):
    """An answer as the archive has it; `failed` says why there is none."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    failed: str = ""


class _Entry(Struct, frozen=True, omit_defaults=True):
    """A line of the index: where the record of a question ends and begins."""

    key: str
    offset: int
    length: int
    failed: str = ""

    @property
    def end(self) -> int:
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
        self.path, self.read_only = path, read_only
        self._software = software
        self._entries: dict[str, _Entry] = {}
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
        lines = read_lines(self._index_path, _Entry, torn=True) if self._index_path.exists() else ()
        indexed = [entry for _, entry in lines]
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
        self._entries = {entry.key: entry for entry in (*known, *scanned) if entry.key != _INFO}
        if not self.read_only:
            self._mend(known, scanned, size, lost=len(known) < len(indexed))

    def _mend(self, known: list[_Entry], scanned: list[_Entry], size: int, *, lost: bool) -> None:
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

    def _scan(self, offset: int, size: int) -> Iterator[_Entry]:
        """The records from a byte on; what is not whole is passed over."""
        broken = None
        while offset < size:
            content, end = self._read_member(offset)
            request = _read_request(content)
            if request is None:
                broken = offset if broken is None else broken
                offset = self._next_record(offset + 1, size)
                continue
            if broken is not None and self.read_only:
                raise self._damage_error(broken)
            yield _Entry(request[0], offset, end - offset, request[1])
            offset, broken = end, None

    def _next_record(self, offset: int, size: int) -> int:
        """Where something begins like a record."""
        with mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ) as view:
            place = view.find(_MAGIC, offset)
        return size if place < 0 else place

    def _read_member(self, offset: int) -> tuple[bytes, int]:
        """The record that begins at a byte, and where it ends; nothing where it is not whole.

        gzip keeps a checksum of every record, so that a single changed bit of it is seen.
        """
        unzip, content = zlib.decompressobj(zlib.MAX_WBITS | 16), bytearray()
        try:
            while not unzip.eof and (piece := os.pread(self._file.fileno(), _PIECE, offset)):
                content += unzip.decompress(piece)
                offset += len(piece)
        except (OSError, zlib.error):
            return b"", 0
        return (bytes(content), offset - len(unzip.unused_data)) if unzip.eof else (b"", 0)

    def _damage_error(self, offset: int) -> InputError:
        return InputError(
            self.path,
            f"the record at byte {offset} is damaged: remove {self._index_path.name}, and a build without"
            " --from-archive keeps what is whole and asks again for the rest",
        )

    def _write_info(self) -> None:
        """The record that says who made the file; it is kept by an index entry of its own."""
        writer = self._writer()
        record = writer.create_warcinfo_record(
            self.path.name, {"software": self._software, "format": "WARC File Format 1.1"}
        )
        self._append(_INFO, record, writer)

    def _writer(self) -> Any:
        from warcio.warcwriter import WARCWriter

        return WARCWriter(BytesIO(), gzip=True, warc_version="1.1")

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def keys(self) -> Iterator[str]:
        """The questions that were answered, in the order of the answers."""
        return iter(self._entries)

    def get(self, key: str) -> Stored | None:
        """The response to a request, or None if it was never sent."""
        return self._read(key, body=True)

    def head(self, key: str) -> Stored | None:
        """The same without the body."""
        return self._read(key, body=False)

    def _read(self, key: str, *, body: bool) -> Stored | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.failed:
            return Stored(key.split(" ")[1], 0, {}, b"", entry.failed)
        from warcio.exceptions import ArchiveLoadFailed

        record = _parse_record(self._read_member(entry.offset)[0])
        if record is None or record.http_headers is None or record.rec_headers.get_header(_KEY, key) != key:
            raise self._damage_error(entry.offset)
        headers = {name.lower(): value for name, value in record.http_headers.headers}
        url = record.rec_headers.get_header("WARC-Target-URI")
        try:
            # Reading to the end compares the digests of the record as well.
            text = record.content_stream().read() if body else b""
            return Stored(url, int(record.http_headers.get_statuscode()), headers, text)
        except (ArchiveLoadFailed, ValueError):
            raise self._damage_error(entry.offset) from None

    def failure(self, key: str) -> str:
        """Why a request got no response; empty if it got one or was never sent."""
        entry = self._entries.get(key)
        return entry.failed if entry is not None else ""

    def put(
        self, key: str, url: str, status: int, headers: Mapping[str, str], body: bytes, *, reason: str = ""
    ) -> None:
        """Stores an answer; its body is as a reader wants it, without packing."""
        from warcio.statusandheaders import StatusAndHeaders

        # The head of a stored answer is ASCII; warcio would quote the colon of a URL too.
        kept = [
            (name, quote(value, safe=string.printable))
            for name, value in headers.items()
            if name.lower() not in _NOT_STORED
        ]
        line = f"{status} {reason}".strip().encode("ascii", "replace").decode()
        http = StatusAndHeaders(line, [*kept, ("Content-Length", str(len(body)))], "HTTP/1.1")
        writer = self._writer()
        record = writer.create_warc_record(
            url,
            "response",
            payload=BytesIO(body),
            length=len(body),
            http_headers=http,
            warc_headers_dict={"WARC-Date": _now(), _KEY: key},
        )
        self._append(key, record, writer)

    def put_failure(self, key: str, url: str, why: str) -> None:
        """Stores that a request got no response, so that it is not sent again."""
        writer = self._writer()
        content = f"{_FAILED}{why}\n".encode()
        record = writer.create_warc_record(
            url,
            "metadata",
            payload=BytesIO(content),
            length=len(content),
            warc_content_type="application/warc-fields",
            warc_headers_dict={"WARC-Date": _now(), _KEY: key},
        )
        self._append(key, record, writer, why)

    def _append(self, key: str, record: Any, writer: Any, failed: str = "") -> None:
        if self.read_only:
            raise UsageError(f"{self.path}: is only read here")
        writer.write_record(record)
        content = writer.out.getvalue()
        offset = self._file.seek(0, os.SEEK_END)
        entry = _Entry(key, offset, len(content), failed)
        write_out(self._file, content, self.path)
        write_out(self._index, encode_lines([entry]), self.path)
        if key != _INFO:
            self._entries[key] = entry

    def close(self) -> None:
        """Closes the files; what a full disk did not take is lost without another word."""
        for file in (self._file,) if self.read_only else (self._file, self._index):
            with suppress(OSError):
                file.close()


def _parse_record(content: bytes) -> Any:
    """A record as warcio reads it; None where it is not a record."""
    from warcio.archiveiterator import WARCIterator
    from warcio.exceptions import ArchiveLoadFailed

    try:
        return next(WARCIterator(BytesIO(content), check_digests="raise"), None)
    except (ArchiveLoadFailed, ValueError):
        return None


def _read_request(content: bytes) -> tuple[str, str] | None:
    """The key of a record's request, and why it got no response; None if it is no record."""
    from warcio.exceptions import ArchiveLoadFailed

    record = _parse_record(content)
    if record is None:
        return None
    try:
        failed = record.content_stream().read().decode() if record.rec_type == "metadata" else ""
    except (ArchiveLoadFailed, ValueError):
        return None
    return record.rec_headers.get_header(_KEY, _INFO), failed.removeprefix(_FAILED).rstrip("\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
