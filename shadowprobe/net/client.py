"""The one HTTP client: every request of the package is sent here, within the same kinds of limits.

aiohttp does the transport. What is decided here: which addresses are connected to, which redirects are followed and
with which headers, how many bytes and seconds a response may take, and which proxy is used.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx
import yarl
from multidict import CIMultiDict

import shadowprobe
from shadowprobe.base.secrets import shorten_url
from shadowprobe.net.addresses import PRIVATE, Lookup, PinnedResolver
from shadowprobe.net.charsets import set_encoding
from shadowprobe.net.connections import CUT_OFF, WatchedRequest, send_on_open_connection
from shadowprobe.net.decompression import ACCEPTED, IDENTITY, decompressor
from shadowprobe.net.failures import (
    BrokenResponseError,
    ConnectionFailedError,
    NoResponseError,
    RedirectError,
    RefusedError,
    TimeLimitError,
    TooLargeError,
)
from shadowprobe.net.limits import MEGABYTE, Limits
from shadowprobe.net.urls import REDIRECTS, follow_redirect, is_same_server

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

DEFAULT = Limits()
CONNECT_SECONDS, KEEP_ALIVE_SECONDS = 10.0, 5.0
# Of one line in the head of a response, of which there may be 128.
HEADER_BYTES = 16_384
# These describe the body on its way, and are no longer true when it has been read.
_TRANSPORT_HEADERS = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
_LOG = logging.getLogger("shadowprobe.net")


class Client:
    """Sends requests and reads their responses within limits; it belongs to one event loop.

    `allow_private` is True, or False, or the networks that may be connected to though they are not on the open
    internet. True is for a server that the user has named: where its redirects lead elsewhere, only the open internet
    is allowed. With `use_environment` a proxy and certificates of the environment are used. Without `keep_alive` every
    request has its own connection, so that none is ever sent twice.
    """

    def __init__(
        self,
        *,
        allow_private: bool | Iterable[str] = True,
        use_environment: bool = True,
        user_agent: str = "",
        keep_alive: bool = True,
        lookups: int = 32,
        lookup: Lookup | None = None,
    ) -> None:
        self._resolver = self._redirect_resolver = PinnedResolver(allow_private, lookups=lookups, lookup=lookup)
        if allow_private is True:
            self._redirect_resolver = PinnedResolver(lookups=lookups, lookup=lookup)
        self._use_environment, self._keep_alive = use_environment, keep_alive
        self._defaults = {
            "User-Agent": user_agent or f"shadowprobe/{shadowprobe.__version__}",
            "Accept": "*/*",
            "Accept-Encoding": ACCEPTED,
        }
        # One per rule: a connection that was allowed for one is not used by the other.
        self._sessions: dict[PinnedResolver, aiohttp.ClientSession] = {}
        self._proxy = lru_cache(_find_proxy)

    async def send(
        self, request: httpx.Request, limits: Limits = DEFAULT, *, follow: bool = True, stay: bool = False
    ) -> httpx.Response:
        """The response to a request, with its whole body; see `stream`."""
        began = time.monotonic()
        async with self.stream(request, limits, follow=follow, stay=stay) as incoming:
            response = incoming.with_body(await incoming.read())
        response.elapsed = timedelta(seconds=time.monotonic() - began)
        return response

    @asynccontextmanager
    async def stream(
        self, request: httpx.Request, limits: Limits = DEFAULT, *, follow: bool = True, stay: bool = False
    ) -> AsyncIterator[Incoming]:
        """The response to a request as soon as its head is there; raises NoResponseError.

        With `stay` a redirect to another server is an error: the request may hold a token.
        """
        heard: list[int] = []
        try:
            async with asyncio.timeout(limits.seconds) as clock:
                last, response = await self._follow(_with_login(request), limits, follow, stay, heard)
                try:
                    yield Incoming(last, response, limits)
                finally:
                    response.release()
        except TimeoutError:
            if not clock.expired():
                raise
            reason = f"no answer in {limits.seconds:g} s"
            raise TimeLimitError(reason, passing=True, silent=not heard) from None

    async def _follow(
        self, request: httpx.Request, limits: Limits, follow: bool, stay: bool, heard: list[int]
    ) -> tuple[httpx.Request, aiohttp.ClientResponse]:
        first = request.url
        for _ in range(limits.redirects + 1):
            if is_same_server(first, request.url):
                response = await self._open(request, limits, self._resolver)
            else:
                response = await self._open_elsewhere(request, limits)
            heard.append(response.status)
            if _LOG.isEnabledFor(logging.DEBUG):
                # Without the query, where some services want the token.
                _LOG.debug("HTTP Request: %s %s %d", request.method, shorten_url(str(request.url)), response.status)
            if not follow or response.status not in REDIRECTS or "Location" not in response.headers:
                return request, response
            # Closed, since its body is of no interest and may be endless.
            response.close()
            location = httpx.Headers(response.raw_headers)["Location"]
            request = follow_redirect(request, response.status, location, stay=stay)
        raise RedirectError("too many redirects")

    async def _open_elsewhere(self, request: httpx.Request, limits: Limits) -> aiohttp.ClientResponse:
        """The response of a server that nobody has named, but a redirect has."""
        resolver = self._redirect_resolver
        try:
            if self._use_environment and self._proxy(request.url.scheme, request.url.host):
                # The proxy looks names up, and may have a private address itself: here only the URL can be checked.
                resolver.check_host(request.url.host)
                resolver = self._resolver
            return await self._open(request, limits, resolver)
        except RefusedError as error:
            if str(error) != PRIVATE:
                raise
            raise RedirectError(f"a redirect to {PRIVATE}", shorten_url(str(request.url))) from None

    async def _open(self, request: httpx.Request, limits: Limits, resolver: PinnedResolver) -> aiohttp.ClientResponse:
        url, body = request.url, request.read()
        if url.scheme not in {"http", "https"}:
            raise RefusedError("neither http nor https")
        with _translate_errors():
            return await self._get_session(resolver).request(
                request.method,
                yarl.URL(str(url), encoded=True),
                headers=self._headers(request),
                # aiohttp warns of longer bodies unless they can be read piece by piece.
                data=BytesIO(body) if len(body) > MEGABYTE else body or None,
                allow_redirects=False,
                proxy=self._proxy(url.scheme, url.host) if self._use_environment else None,
                ssl=_make_ssl_context(self._use_environment) if url.scheme == "https" else True,
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=limits.idle_seconds),
            )

    def _headers(self, request: httpx.Request) -> CIMultiDict[str]:
        headers = CIMultiDict(self._defaults)
        headers.update(request.headers.multi_items())
        return headers

    def _get_session(self, resolver: PinnedResolver) -> aiohttp.ClientSession:
        """aiohttp's session, which can only be made inside the loop."""
        if resolver not in self._sessions:
            self._sessions[resolver] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    # The caller decides how many requests run at once.
                    limit=0,
                    resolver=cast("AbstractResolver", resolver),
                    # A new connection looks the name up again, and its addresses are checked again.
                    use_dns_cache=False,
                    socket_factory=resolver.open_socket,
                    **{"keepalive_timeout": KEEP_ALIVE_SECONDS} if self._keep_alive else {"force_close": True},
                ),
                request_class=WatchedRequest,
                middlewares=[send_on_open_connection],
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=[*self._defaults, "Content-Type"],
                max_line_size=HEADER_BYTES,
                max_field_size=HEADER_BYTES,
            )
        return self._sessions[resolver]

    async def close(self) -> None:
        """Closes the connections."""
        for resolver in {self._resolver, self._redirect_resolver}:
            await resolver.close()
        for session in self._sessions.values():
            await session.close()
            # The loop closes a socket in its next round, and there may be no other.
            await asyncio.sleep(0)


class Incoming:
    """A response whose head is there; its body is read within the limits of the request."""

    def __init__(self, request: httpx.Request, response: aiohttp.ClientResponse, limits: Limits) -> None:
        self._request, self._response, self._limits = request, response, limits
        self.status, self.reason = response.status, response.reason or ""
        self.headers = httpx.Headers(response.raw_headers)

    async def chunks(self, *, cut: bool = False) -> AsyncIterator[bytes]:
        """The body, decompressed; raises TooLargeError, with `cut` only after the last byte that is allowed."""
        limit, size, received = self._limits.max_bytes, 0, 0
        length = self.headers.get("Content-Length", "")
        if not cut and length.isdecimal() and int(length) > limit:
            raise self._too_large()
        is_requested = self._request.headers.get("Accept-Encoding") != IDENTITY
        decompress = decompressor(self.headers.get("Content-Encoding", ""), is_requested=is_requested)
        while True:
            with _translate_errors():
                chunk = await self._response.content.readany()
            if not chunk:
                break
            received += len(chunk)
            for content in decompress(chunk, limit + 1 - size):
                yield content[: limit - size]
                size += len(content)
            # The bytes as sent count as well: an endless compressed body need not become anything.
            if size > limit or received > limit:
                raise self._too_large()
        if not decompress.is_whole:
            raise BrokenResponseError(CUT_OFF, passing=True)

    async def read(self, *, cut: bool = False) -> bytes:
        """The whole body; with `cut` only its beginning where it is too large."""
        body = bytearray()
        try:
            async for chunk in self.chunks(cut=cut):
                body += chunk
        except TooLargeError:
            if not cut:
                raise
        return bytes(body)

    def _too_large(self) -> TooLargeError:
        return TooLargeError("too large", f"more than {self._limits.max_bytes / MEGABYTE:.3g} MB")

    def with_body(self, body: bytes) -> httpx.Response:
        """The response as the rest of the package reads it."""
        # As bytes: httpx reads header fields that it refuses to write.
        headers = [item for item in self._response.raw_headers if item[0].lower() not in _TRANSPORT_HEADERS]
        extensions = {"reason_phrase": self.reason.encode("ascii", "ignore")} if self.reason else {}
        return set_encoding(
            httpx.Response(self.status, headers=headers, content=body, request=self._request, extensions=extensions)
        )


def _with_login(request: httpx.Request) -> httpx.Request:
    """A request whose URL holds no password; the password is in a header, as servers want it."""
    if not request.url.userinfo:
        return request
    login = unquote(request.url.userinfo.decode()).encode()
    headers = {"Authorization": f"Basic {base64.b64encode(login).decode()}", **request.headers}
    url = request.url.copy_with(username=None, password=None)
    return httpx.Request(request.method, url, headers=headers, content=request.read() or None)


def _find_proxy(scheme: str, host: str) -> str | None:
    """The proxy that the environment names for a host."""
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    return proxy if proxy and not proxy_bypass(host) else None


@lru_cache
def _make_ssl_context(use_environment: bool) -> ssl.SSLContext:
    """The certificates to trust; made once, since it takes longer than many a request."""
    return httpx.create_ssl_context(trust_env=use_environment)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Turns the errors of aiohttp into those of this package."""
    try:
        yield
    except NoResponseError:
        raise
    except aiohttp.ClientConnectorCertificateError as error:
        raise ConnectionFailedError("a certificate that is not valid", str(error.certificate_error)) from None
    except aiohttp.ClientSSLError as error:
        raise ConnectionFailedError("no secure connection", str(error.os_error)) from None
    except aiohttp.ConnectionTimeoutError:
        detail = f"not within {CONNECT_SECONDS:g} s"
        raise ConnectionFailedError("no connection", detail, passing=True, silent=True) from None
    except aiohttp.ClientConnectorError as error:
        is_silent = not isinstance(error.os_error, ConnectionRefusedError)
        raise ConnectionFailedError("no connection", str(error.os_error), silent=is_silent) from None
    except aiohttp.ClientResponseError as error:
        # What aiohttp says of a line, and of a head, that is too long.
        if error.message.startswith(("Got more than", "Too many headers")):
            raise BrokenResponseError("headers too large") from None
        raise BrokenResponseError(CUT_OFF, error.message, passing=True) from None
    except aiohttp.InvalidURL as error:
        raise RefusedError("not a URL", str(error)) from None
    except ValueError as error:
        raise RefusedError("the request cannot be made", str(error)) from None
    except (aiohttp.ClientError, OSError) as error:
        raise BrokenResponseError(CUT_OFF, str(error), passing=True) from None
