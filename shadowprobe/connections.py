"""HTTP connections for requests that go out side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import h11
import httpx

from shadowprobe.errors import ItemError

CHUNK = 65536
MOST_BYTES = 32 * 2**20
# What an answer may be packed in; the others that httpx can unpack make gigabytes of a few bytes in one step, and so
# does one inside another.
PACKINGS, OTHER_PACKINGS = ("gzip", "deflate"), ("br", "zstd")
# What was said of a body on its way, and is not true of it when it was unpacked.
_OF_THE_JOURNEY = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Connections:
    """Sends as one `httpx.AsyncClient` does, from several that have one connection each.

    A client with many connections looks through all of them for every request and again for every answer, which for 32
    takes several times as long as all the rest.
    """

    def __init__(self, url: str, **settings: Any) -> None:
        hooks = settings.get("event_hooks", {})
        self._settings = settings | {
            "event_hooks": {**hooks, "response": [_check_packing, *hooks.get("response", [])]},
            "headers": {"Accept-Encoding": ", ".join(PACKINGS)},
        }
        # A proxy of the environment, and a secure connection, are httpx's own affair.
        self._plain = urlsplit(url).scheme == "http" and not _by_proxy(url)
        if not self._plain:
            self._settings |= {"limits": httpx.Limits(max_connections=1), "verify": httpx.create_ssl_context()}
        self._clients = [self._make()]
        # The last used comes first, so that no more connections are open than are needed.
        self._idle = list(self._clients)

    def _make(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=PlainConnection() if self._plain else None, **self._settings)

    def build_request(self, method: str, url: str, **parts: Any) -> httpx.Request:
        """A request with the headers that every client sends."""
        return self._clients[0].build_request(method, url, **parts)

    async def send(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request; the caller sees to it that no more are under way than it wants connections."""
        if not self._idle:
            self._clients.append(self._make())
            self._idle.append(self._clients[-1])
        client = self._idle.pop()
        try:
            response = await client.send(request, stream=True)
            if self._plain and "Content-Encoding" not in response.headers:
                # A plain connection has counted what it read; to do it twice would cost a fifth of the speed.
                await response.aread()
                return response
            return await _read(response)
        finally:
            self._idle.append(client)

    async def aclose(self) -> None:
        """Lets go of all connections."""
        for client in self._clients:
            await client.aclose()


async def _check_packing(response: httpx.Response) -> None:
    """Refuses an answer whose unpacking could fill the memory."""
    if response.has_redirect_location:
        # Nobody looks at it, but httpx reads all of it before it goes on.
        response.headers.pop("Content-Encoding", None)
    said = response.headers.get("Content-Encoding", "")
    # Some services give their charset here, which packs nothing.
    packed = [name for part in said.lower().split(",") if (name := part.strip()) in {*PACKINGS, *OTHER_PACKINGS}]
    if len(packed) > 1 or not set(packed) <= set(PACKINGS):
        raise ItemError(f"the answer is packed as {said!r}, which was not asked for")


async def _read(response: httpx.Response) -> httpx.Response:
    """The answer with its body, unpacked; one that does not end is given up."""
    parts, size = [], 0
    try:
        async for part in response.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > MOST_BYTES:
                raise ItemError(f"the answer is larger than {MOST_BYTES // 2**20} MB")
    finally:
        await response.aclose()
    headers = [item for item in response.headers.multi_items() if item[0] not in _OF_THE_JOURNEY]
    return httpx.Response(response.status_code, headers=headers, content=b"".join(parts), request=response.request)


class PlainConnection(httpx.AsyncBaseTransport):
    """One connection without encryption, kept from request to request: half the work of httpx's own.

    A redirect may lead to a secure address; that is asked by httpx's own transport.
    """

    def __init__(self) -> None:
        self._origin: tuple[str, int | None] | None = None
        self._secure: httpx.AsyncHTTPTransport | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request and reads the whole answer."""
        if request.url.scheme != "http":
            self._secure = self._secure or httpx.AsyncHTTPTransport(verify=httpx.create_ssl_context())
            return await self._secure.handle_async_request(request)
        origin = request.url.host, request.url.port
        # What has come unasked since the last answer would be taken for the next.
        kept = self._origin == origin and not self._reader.at_eof() and not self._reader.unread
        try:
            try:
                if not kept:
                    await self._connect(*origin)
                return await self._exchange(request)
            except (httpx.ReadError, httpx.RemoteProtocolError):
                # A service may close a kept connection at any time; only on a fresh one does that mean anything.
                if not kept or self._answering:
                    raise
                await self._connect(*origin)
                return await self._exchange(request)
        except BaseException:
            # Whatever is still to come on it would be taken for the answer to the next request.
            self._drop()
            raise

    async def aclose(self) -> None:
        """Lets go of the connection."""
        self._drop()
        if self._secure is not None:
            await self._secure.aclose()

    async def _connect(self, host: str, port: int | None) -> None:
        self._drop()
        loop = asyncio.get_running_loop()
        self._reader = _Reader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(self._reader, loop=loop)
        try:
            transport, _ = await loop.create_connection(lambda: protocol, host, port or 80)
        except (OSError, OverflowError, ValueError) as error:
            raise httpx.ConnectError(str(error)) from error
        self._writer = asyncio.StreamWriter(transport, protocol, self._reader, loop)
        self._http = h11.Connection(h11.CLIENT)
        self._origin = host, port

    def _drop(self) -> None:
        if self._origin is not None:
            self._writer.close()
            self._origin = None

    async def _exchange(self, request: httpx.Request) -> httpx.Response:
        self._answering = False
        body = await request.aread()
        try:
            asked = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
            sent = self._http.send(asked) or b""
            if body:
                sent += self._http.send(h11.Data(data=body)) or b""
            sent += self._http.send(h11.EndOfMessage()) or b""
        except h11.LocalProtocolError as error:
            raise ItemError(f"the request cannot be made ({error})") from None
        try:
            self._writer.write(sent)
            answer, parts = await self._answer()
        except OSError as error:
            raise httpx.ReadError(str(error)) from error
        except h11.RemoteProtocolError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        whole = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if whole and not self._http.trailing_data[0]:
            self._http.start_next_cycle()
        else:
            self._drop()
        return httpx.Response(answer.status_code, headers=list(answer.headers), stream=_Read(parts), request=request)

    async def _answer(self) -> tuple[h11.Response, list[bytes]]:
        answer, parts, size = None, list[bytes](), 0
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                received = await self._reader.read(CHUNK)
                self._answering = self._answering or bool(received)
                self._http.receive_data(received)
            elif isinstance(event, h11.Response):
                answer = event
            elif isinstance(event, h11.Data):
                parts.append(bytes(event.data))
                size += len(event.data)
                if size > MOST_BYTES:
                    raise ItemError(f"the answer is larger than {MOST_BYTES // 2**20} MB")
            elif isinstance(event, h11.EndOfMessage):
                assert answer is not None
                return answer, parts
            elif isinstance(event, h11.ConnectionClosed):
                raise h11.RemoteProtocolError("the connection was closed without an answer")


class _Reader(asyncio.StreamReader):
    """A reader that can tell how much has come and was not read."""

    unread = 0

    def feed_data(self, data: Any) -> None:
        """Takes what has come."""
        self.unread += len(data)
        super().feed_data(data)

    async def read(self, n: int = -1) -> bytes:
        """Gives what there is, or waits for it."""
        data = await super().read(n)
        self.unread -= len(data)
        return data


class _Read(httpx.AsyncByteStream):
    """A body that was read already; httpx unpacks it."""

    def __init__(self, parts: list[bytes]) -> None:
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part


def _by_proxy(url: str) -> bool:
    """True where the environment names a proxy for an address."""
    parts = urlsplit(url)
    proxies = getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    return bool(named) and not proxy_bypass(parts.hostname or "")
