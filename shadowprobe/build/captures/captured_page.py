"""The page in a record of a foreign WARC file, or the reason why it cannot be used."""

from __future__ import annotations

import logging
import zlib
from io import BytesIO
from typing import Any

from shadowprobe.build.archive_index import content_type
from shadowprobe.build.captures.capture_choice import Capture
from shadowprobe.build.captures.surt import make_surt
from shadowprobe.build.warc_record import MAGIC, Stored
from shadowprobe.build.web.fetch import not_html
from shadowprobe.net.decompression import decompressor
from shadowprobe.net.failures import NoResponseError

# Room for the two heads of a record.
HEAD_BYTES = 200_000
# What warcio meets in a record with broken heads.
_BROKEN = (AttributeError, EOFError, IndexError, KeyError, TypeError, ValueError)
_END_OF_HEAD = b"\r\n\r\n"
TOO_LARGE = "too large"
CUT_SHORT = "the record is cut short"
NO_RECORD = "no record at this place"
OTHER_PAGE = "a record of another page"
OTHER_STATUS = "a record without success"


class UnusableError(Exception):
    """A capture that cannot be used; the text is the reason, in words that can be counted."""


def read_page(content: bytes, capture: Capture, max_bytes: int) -> Stored:
    """Reads the page of a capture from the bytes of its record; raises UnusableError."""
    record = _parse_record(_decompress(content, max_bytes))
    if not _is_same_page(record.rec_headers.get_header("WARC-Target-URI", "").strip("<>"), capture):
        raise UnusableError(OTHER_PAGE)
    if record.rec_headers.get_header("WARC-Truncated"):
        raise UnusableError(CUT_SHORT)
    head = record.http_headers
    if head.get_statuscode() != "200":
        raise UnusableError(OTHER_STATUS)
    headers: dict[str, str] = {}
    for name, value in head.headers:
        headers.setdefault(name.lower(), value)
    if why := not_html(content_type(headers)):
        raise UnusableError(why)
    body, reason = _read_body(record, headers, max_bytes), head.statusline.partition(" ")[2]
    return Stored(capture.url, 200, headers, body, captured=capture.time, reason=reason)


def _decompress(content: bytes, max_bytes: int) -> bytes:
    """Decompresses one record, which gzip checks by itself; some WARC files are not compressed."""
    if not content.startswith(MAGIC):
        return content
    unzip = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        text = unzip.decompress(content, max_bytes + HEAD_BYTES)
    except zlib.error:
        raise UnusableError(CUT_SHORT) from None
    if not unzip.eof:
        raise UnusableError(TOO_LARGE if len(text) >= max_bytes + HEAD_BYTES else CUT_SHORT)
    return text


def _parse_record(content: bytes) -> Any:
    """Parses a response; digests are not checked, because tools do not agree on what they are made from."""
    from warcio.archiveiterator import WARCIterator
    from warcio.exceptions import ArchiveLoadFailed
    from warcio.statusandheaders import StatusAndHeadersParserException

    # It would write to the screen about addresses with spaces.
    logging.getLogger("warcio.recordloader").setLevel(logging.ERROR)
    records = WARCIterator(BytesIO(content))
    try:
        record = next(records, None)
    except (ArchiveLoadFailed, StatusAndHeadersParserException, *_BROKEN):
        record = None
    if record is None or record.rec_type != "response" or record.http_headers is None:
        raise UnusableError(NO_RECORD)
    length = record.rec_headers.get_header("Content-Length", "")
    # A record that is not compressed has no other sign of its end.
    if not length.isdecimal() or content.find(_END_OF_HEAD) + len(_END_OF_HEAD) + int(length) > len(content):
        raise UnusableError(CUT_SHORT)
    return record


def _is_same_page(target: str, capture: Capture) -> bool:
    try:
        return target == capture.url or make_surt(target) == make_surt(capture.url)
    except ValueError:
        return False


def _read_body(record: Any, headers: dict[str, str], max_bytes: int) -> bytes:
    """Reads a body without chunks and compression, within the limit of bytes."""
    from warcio.bufferedreaders import ChunkedDataException, ChunkedDataReader

    is_chunked = headers.get("transfer-encoding", "").lower() == "chunked"
    stream = ChunkedDataReader(record.raw_stream) if is_chunked else record.raw_stream
    try:
        raw = stream.read()
        # Some crawlers store the body decompressed and leave the header field.
        encoding = headers.get("content-encoding", "")
        decompress = decompressor("" if "gzip" in encoding and not raw.startswith(MAGIC) else encoding)
        body = b"".join(decompress(raw, max_bytes + 1))
    except (ChunkedDataException, NoResponseError) as error:
        raise UnusableError(str(error) if isinstance(error, NoResponseError) else CUT_SHORT) from None
    if len(body) > max_bytes:
        raise UnusableError(TOO_LARGE)
    if not decompress.is_whole:
        raise UnusableError(CUT_SHORT)
    return body
