"""One page of the web: its request, and the limits within which its answer is read."""

from __future__ import annotations

import asyncio
import codecs
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, cast

from shadowprobe.build.addresses import Lookup, PinnedBackend, RefusedError, UnknownHostError
from shadowprobe.build.archive import Stored
from shadowprobe.build.politeness import BROKEN_ROBOTS, ROBOTS_BYTES, Manners

# A pool looks through all its connections for every request, and again for every answer: several small ones are faster.
POOLS = 16
REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Statuses that may be gone at the next try.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_PASSING_REASONS = ("no answer in", "no connection", "an answer that breaks off", "the host name cannot be looked up")
HTML = frozenset({"text/html", "application/xhtml+xml"})
_TYPE = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,60}", re.ASCII)
_META = re.compile(
    rb"""<meta[^>]{1,300}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{1,100}?encoding\s*=\s*["']([\w.:-]{2,40})""",
    re.IGNORECASE,
)
# So far a page is searched for the name of its charset.
_META_BYTES = 4096
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# As browsers read these names: the larger charset that has grown out of each.
_LARGER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
_OTHER_NAMES = {
    "x-sjis": "cp932",
    "ks_c_5601-1987": "cp949",
    "unicode": "utf-8",
    "x-gbk": "gb18030",
    "x-cp1251": "cp1251",
}
# Python's codecs for other things than pages; no browser reads a page in one of them.
_NO_CHARSETS = frozenset({"charmap", "idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"})


class NoAnswerError(Exception):
    """A page that did not come; the text is the reason, in words that can be counted."""

    def __init__(self, why: str, *, passing: bool = False, silent: bool = False) -> None:
        super().__init__(why)
        # `passing`: the next try may bring it. `silent`: nothing at all was heard of the host.
        self.passing, self.silent = passing, silent


class Answer(NamedTuple):
    """What a server said; only a page that is wanted has a body."""

    status: int
    reason: str
    headers: dict[str, str]
    body: bytes = b""


class Fetcher:
    """Asks for single pages, and only at public addresses: no cookies, no proxy, no password, no redirects."""

    def __init__(self, manners: Manners, *, lookup: Lookup | None = None) -> None:
        import httpcore
        import httpx

        self._manners = manners
        self._backend = PinnedBackend(manners.allow_private, lookups=manners.total, lookup=lookup)
        trusted = httpx.create_ssl_context(trust_env=False)
        # httpx's own transport has no place for a backend, so that its pool is used directly.
        self._pools = [
            httpcore.AsyncConnectionPool(
                ssl_context=trusted,
                max_connections=manners.total,
                max_keepalive_connections=-(-manners.total // POOLS),
                keepalive_expiry=10.0,
                network_backend=cast("httpcore.AsyncNetworkBackend", self._backend),
            )
            for _ in range(POOLS)
        ]

    async def get(self, url: str, *, robots: bool = False) -> Answer:
        """The answer to one request; of a robots.txt the beginning, of other pages all that is HTML."""
        import httpcore

        heard: list[int] = []
        try:
            async with asyncio.timeout(self._manners.timeout):
                return await self._get(url, robots, heard)
        except TimeoutError:
            why = f"no answer in {self._manners.timeout:g} s"
            raise NoAnswerError(why, passing=True, silent=not heard) from None
        except RefusedError as error:
            raise NoAnswerError(str(error)) from None
        except UnknownHostError as error:
            raise NoAnswerError(str(error), passing=error.passing, silent=error.passing) from None
        except httpcore.ConnectTimeout:
            raise NoAnswerError("no connection", passing=True, silent=True) from None
        except httpcore.ConnectError as error:
            if _caused_by(error, ssl.SSLCertVerificationError):
                raise NoAnswerError("a certificate that is not valid") from None
            if _caused_by(error, ssl.SSLError):
                raise NoAnswerError("no secure connection") from None
            raise NoAnswerError("no connection", silent=not _caused_by(error, ConnectionRefusedError)) from None
        except httpcore.LocalProtocolError:
            raise NoAnswerError("not a URL") from None
        except httpcore.RemoteProtocolError as error:
            if any(getattr(cause, "error_status_hint", 0) == 431 for cause in _causes(error)):
                raise NoAnswerError("headers too large") from None
            raise NoAnswerError("an answer that breaks off", passing=True) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError):
            raise NoAnswerError("an answer that breaks off", passing=True) from None

    async def _get(self, url: str, robots: bool, heard: list[int]) -> Answer:
        import httpx

        asked = httpx.URL(url)
        headers = {
            "Host": asked.netloc.decode("ascii"),
            "User-Agent": self._manners.user_agent,
            "Accept": "text/html, application/xhtml+xml" if not robots else "text/plain, */*;q=0.5",
            "Accept-Encoding": "gzip, deflate",
        }
        pool = self._pools[zlib.crc32(asked.netloc) % POOLS]
        async with pool.stream("GET", str(asked), headers=list(headers.items())) as response:
            heard.append(response.status)
            answer = Answer(
                response.status,
                bytes(response.extensions.get("reason_phrase", b"")).decode("latin-1"),
                _joined(response.headers),
            )
            if not 200 <= answer.status < 300:
                return answer
            if not robots and (why := not_html(answer.headers)):
                raise NoAnswerError(why)
            limit = ROBOTS_BYTES if robots else self._manners.max_bytes
            length = answer.headers.get("content-length", "")
            if not robots and length.isdecimal() and int(length) > limit:
                raise NoAnswerError("too large")
            packing = answer.headers.get("content-encoding", "")
            body = await unpacked(response.aiter_stream(), packing, limit, cut=robots)
            return answer._replace(body=body)

    async def close(self) -> None:
        """Lets go of the connections."""
        self._backend.close()
        for pool in self._pools:
            await pool.aclose()
        # The loop closes a socket in its next round, and there may be no other.
        await asyncio.sleep(0)


async def unpacked(chunks: AsyncIterator[bytes], packing: str, limit: int, *, cut: bool = False) -> bytes:
    """A body without its packing; above the limit it is cut off, or too large."""
    unpack = _unpacker(packing)
    body, received = bytearray(), 0
    async for chunk in chunks:
        received += len(chunk)
        body += unpack(chunk, limit + 1 - len(body))
        # The packed bytes count as well: an endless packed answer need not unpack to anything.
        if len(body) > limit or received > limit:
            if not cut:
                raise NoAnswerError("too large")
            return bytes(body[:limit])
    if not unpack.done:
        raise NoAnswerError("an answer that breaks off", passing=True)
    return bytes(body)


class _Plain:
    """A body that is not packed."""

    done = True

    def __call__(self, chunk: bytes, most: int) -> bytes:
        return chunk


class _Inflate:
    """A body packed as gzip or deflate, never unpacked further than asked."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._inner: Any = None
        self.done = True

    def __call__(self, chunk: bytes, most: int) -> bytes:
        out = bytearray()
        while chunk and len(out) < most:
            if self._inner is None:
                if not self.done or not self._begins(chunk):
                    break
                self._inner, self.done = zlib.decompressobj(self._window(chunk)), False
            try:
                out += self._inner.decompress(chunk, most - len(out))
            except zlib.error:
                raise NoAnswerError("a broken packing") from None
            chunk = self._inner.unconsumed_tail
            if self._inner.eof:
                # A gzip file may be several, one behind the other.
                chunk, self._inner, self.done = self._inner.unused_data, None, True
        return bytes(out)

    def _begins(self, chunk: bytes) -> bool:
        """False for what some servers leave behind the end."""
        started, self._started = getattr(self, "_started", False), True
        return not started or (self._gzip and chunk[:1] == b"\x1f")

    def _window(self, chunk: bytes) -> int:
        if self._gzip:
            return zlib.MAX_WBITS | 16
        # Half of the servers that say deflate send it without the zlib header that belongs to it.
        return zlib.MAX_WBITS if chunk[0] & 0x0F == 8 else -zlib.MAX_WBITS


def _unpacker(packing: str) -> _Plain | _Inflate:
    name = packing.strip().lower()
    if name in {"", "identity"}:
        return _Plain()
    if name in {"gzip", "x-gzip", "deflate"}:
        return _Inflate(gzip="gzip" in name)
    raise NoAnswerError("a packing that was not asked for")


def content_type(headers: dict[str, str]) -> str:
    """The type of an answer without its charset."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def not_html(headers: dict[str, str]) -> str:
    """Why an answer is not read as HTML; empty where it is."""
    kind = content_type(headers)
    if kind in HTML:
        return ""
    return f"not HTML: {kind if _TYPE.fullmatch(kind) else 'no content type'}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The pause in seconds that an answer asks for, given as a number or as a date."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (OverflowError, TypeError, ValueError):
        return None


def may_pass(failed: str) -> bool:
    """True for the reason of a failure that need not come again on another day."""
    status = failed.removeprefix(BROKEN_ROBOTS)
    if status.isdecimal():
        return int(status) in PASSING or int(status) >= 500
    return failed.startswith(_PASSING_REASONS)


def decoded(stored: Stored) -> str:
    """The text of a stored page: by its first bytes, its header, its own word, and else as UTF-8 or Windows-1252."""
    body = stored.body
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(charset, "replace")
    header = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", stored.headers.get("content-type", ""), re.IGNORECASE)
    inside = _META.search(body[:_META_BYTES])
    told = [header[1] if header else "", (inside[1] or inside[2]).decode("ascii") if inside else ""]
    charsets = [charset for charset in map(_codec, told) if charset]
    for charset in charsets:
        # Many a server calls everything Latin-1; what is valid UTF-8 beyond ASCII was not written as Latin-1.
        for tried in ("utf-8", charset) if charset == "cp1252" else (charset,):
            try:
                return body.decode(tried)
            except UnicodeError:
                pass
    if _nearly_utf8(body):
        return body.decode("utf-8", "replace")
    return body.decode(next((charset for charset in charsets if charset != "utf-8"), "cp1252"), "replace")


def _nearly_utf8(body: bytes) -> bool:
    """True where the bytes that are not UTF-8 are few among those that are: a slip, and not another charset."""
    text = body.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return wrong * 10 <= sum(character > "\x7f" for character in text) or wrong == 0


def _codec(name: str) -> str:
    """Python's name of a charset that a page claims to have; empty where there is none of that name."""
    if not name:
        return ""
    try:
        known = codecs.lookup(_OTHER_NAMES.get(name.lower(), name)).name
    except (LookupError, ValueError):
        return ""
    # A page whose ASCII words could be read is not in UTF-16, whatever it says.
    if known.startswith(("utf-16", "utf-32")):
        return "utf-8"
    # Python also has codecs that make bytes of bytes, which no page is in.
    if known in _NO_CHARSETS or not getattr(codecs.lookup(known), "_is_text_encoding", True):
        return ""
    # Charsets of mainframes have no ASCII, and with it no markup.
    return _LARGER.get(known, known) if b"<html>".decode(known, "replace") == "<html>" else ""


def _joined(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """The header fields by their names in small letters; of a field that comes again the first counts."""
    found: dict[str, str] = {}
    for name, value in headers:
        try:
            text = value.decode("utf-8")
        except UnicodeDecodeError:
            text = value.decode("latin-1")
        found.setdefault(name.decode("latin-1").lower(), text)
    return found


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and those behind it; the pool hides some of them."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _caused_by(error: BaseException, kind: type[BaseException]) -> bool:
    return any(isinstance(cause, kind) for cause in _causes(error))
