"""One record of a WARC file: a response of a server, or the reason why there is none, compressed by itself."""

from __future__ import annotations

import base64
import hashlib
import os
import string
import uuid
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from shadowprobe.base.files import open_for_reading
from shadowprobe.build.storage import is_remote, read_file
from shadowprobe.errors import InputError

# How a compressed record begins, and how much of it is read at once.
MAGIC, _PIECE = b"\x1f\x8b\x08", 65536
# The record that says who made the file has a key of its own, but is no response.
INFO = "warcinfo"
# Level 9 takes half as much time again for 1% fewer bytes.
_LEVEL = 6
# The field of a record that holds the key of its request.
_KEY = "WARC-Shadowprobe-Key"
# The field of a page that comes from another crawl; then the date of the record is that of the capture.
_CAPTURED = "WARC-Shadowprobe-Captured"
_FAILED = "failed: "
# Header fields that are not stored: a stored body is neither compressed nor in chunks.
_NOT_STORED = frozenset({"content-encoding", "transfer-encoding", "content-length", "connection", "set-cookie"})


class Stored(NamedTuple):
    """A response as the archive has it, with a body that is not compressed; `failed` says why there is none."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    failed: str = ""
    # When a page was captured that comes from another crawl.
    captured: str = ""
    # What follows the status in its line; it is not read again.
    reason: str = ""


class RecordPlace(NamedTuple):
    """Where the record of a request is: the path of its file, or a URL of fsspec."""

    path: str
    offset: int
    length: int
    key: str


def make_response(key: str, response: Stored) -> bytes:
    """Makes the record of a response."""
    fields = {"WARC-Target-URI": response.url, _KEY: key, "WARC-Payload-Digest": _digest(response.body)}
    if response.captured:
        fields |= {"WARC-Date": response.captured, _CAPTURED: response.captured}
    content = _make_head(response) + response.body
    return _make_record("response", fields, content, "application/http; msgtype=response")


def _make_head(response: Stored) -> bytes:
    kept = "".join(f"{name}: {quote_field(value)}\r\n" for name, value in response.headers.items() if _is_stored(name))
    line = f"{response.status} {response.reason}".strip().encode("ascii", "replace").decode()
    return f"HTTP/1.1 {line}\r\n{kept}Content-Length: {len(response.body)}\r\n\r\n".encode()


def quote_field(value: str) -> str:
    """Returns a header field as it is stored: in ASCII."""
    return value if value.isascii() else quote(value, safe=string.printable)


def _is_stored(name: str) -> bool:
    return name.lower() not in _NOT_STORED


def make_failure(key: str, url: str, why: str) -> bytes:
    """Makes the record of a request that got no response."""
    content = f"{_FAILED}{why}\n".encode()
    fields = {"WARC-Target-URI": url, _KEY: key, "WARC-Payload-Digest": _digest(content)}
    return _make_record("metadata", fields, content, "application/warc-fields")


def make_info(name: str, software: str) -> bytes:
    """Makes the record that says who made the file."""
    content = f"software: {software}\r\nformat: WARC File Format 1.1\r\n".encode()
    return _make_record("warcinfo", {"WARC-Filename": name}, content, "application/warc-fields")


def _make_record(kind: str, fields: Mapping[str, str], content: bytes, content_type: str) -> bytes:
    named = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Date": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        **fields,
        "WARC-Block-Digest": _digest(content),
        "Content-Type": content_type,
        "Content-Length": str(len(content)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    pieces = (f"WARC/1.1\r\n{head}\r\n".encode(), content, b"\r\n\r\n")
    return b"".join([*map(compressor.compress, pieces), compressor.flush()])


def _digest(content: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(content).digest()).decode()}"


def read_member(file: int, offset: int) -> tuple[bytes, int]:
    """Reads the record that begins at a byte, and where it ends; nothing if it is not whole.

    gzip keeps a checksum of every record, so that a single changed bit of it is seen.
    """
    unzip, content = zlib.decompressobj(zlib.MAX_WBITS | 16), bytearray()
    try:
        while not unzip.eof and (piece := os.pread(file, _PIECE, offset)):
            content += unzip.decompress(piece)
            offset += len(piece)
    except (OSError, zlib.error):
        return b"", 0
    return (bytes(content), offset - len(unzip.unused_data)) if unzip.eof else (b"", 0)


def read_response(place: RecordPlace) -> Stored:
    """Reads the response of a request from its place in a file."""
    stored = parse_response(decompress_record(_read_part(place)), place.key)
    if stored is None:
        raise make_damage_error(place.path, place.offset)
    return stored


def _read_part(place: RecordPlace) -> bytes:
    if is_remote(place.path):
        return read_file(place.path, place.offset, place.offset + place.length)
    with open_for_reading(Path(place.path)) as file:
        file.seek(place.offset)
        return bytes(file.read(place.length))


def decompress_record(compressed: bytes) -> bytes:
    """Decompresses a record; returns nothing if it is damaged."""
    try:
        return zlib.decompress(compressed, zlib.MAX_WBITS | 16)
    except zlib.error:
        return b""


def parse_response(content: bytes, key: str) -> Stored | None:
    """Reads the response in a record; None if the record is damaged or is that of another request."""
    from warcio.exceptions import ArchiveLoadFailed

    record = _parse_record(content)
    if record is None or record.http_headers is None or record.rec_headers.get_header(_KEY, key) != key:
        return None
    headers = {name.lower(): value for name, value in record.http_headers.headers}
    url = record.rec_headers.get_header("WARC-Target-URI")
    try:
        # Reading to the end compares the digests of the record as well.
        return Stored(url, int(record.http_headers.get_statuscode()), headers, record.content_stream().read())
    except (ArchiveLoadFailed, ValueError):
        return None


def parse_any(content: bytes) -> tuple[str, Stored] | None:
    """Reads the key of a record's request, and its response or failure; None if it is no record."""
    from warcio.exceptions import ArchiveLoadFailed

    record = _parse_record(content)
    if record is None:
        return None
    key, url = (record.rec_headers.get_header(name, INFO) for name in (_KEY, "WARC-Target-URI"))
    if record.http_headers is not None:
        headers = {name.lower(): value for name, value in record.http_headers.headers}
        status = record.http_headers.get_statuscode()
        captured = record.rec_headers.get_header(_CAPTURED, "")
        return key, Stored(url, int(status) if status.isdecimal() else 0, headers, b"", captured=captured)
    try:
        failed = record.content_stream().read().decode() if record.rec_type == "metadata" else ""
    except (ArchiveLoadFailed, ValueError):
        return None
    return key, Stored(url, 0, {}, b"", failed.removeprefix(_FAILED).rstrip("\n"))


def make_damage_error(path: Path | str, offset: int) -> InputError:
    """Makes the error for a record that cannot be read."""
    return InputError(
        path,
        f"the record at byte {offset} is damaged: remove {Path(path).name}.index, and a build without"
        " --from-archive keeps what is whole and asks again for the rest",
    )


def _parse_record(content: bytes) -> Any:
    """A record as warcio reads it; None where it is not a record."""
    from warcio.archiveiterator import WARCIterator
    from warcio.exceptions import ArchiveLoadFailed

    try:
        return next(WARCIterator(BytesIO(content), check_digests="raise"), None)
    except (ArchiveLoadFailed, ValueError):
        return None
