"""Web pages on loopback, under several addresses of 127.0.0.0/8, that can misbehave in every way a test wants."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from socket import create_server, socket
from typing import Any, NamedTuple

import pytest

LOOPBACK = ("127.0.0.0/8",)
Send = Callable[[bytes], Coroutine[Any, Any, None]]
# A page is a whole answer with its head, or a function that sends one piece by piece.
Page = bytes | Callable[[Send], Coroutine[Any, Any, None]]


class Asked(NamedTuple):
    """A request as a host got it; `began` and `ended` are the times of its answer."""

    host: str
    path: str
    headers: dict[str, str]
    began: float
    ended: float


def answer(status: str, body: bytes = b"", **headers: str) -> bytes:
    """A whole answer; underscores in the names of header fields are hyphens."""
    fields = {"Content-Length": str(len(body)), **{name.replace("_", "-"): value for name, value in headers.items()}}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body


def html(text: str | bytes, **headers: str) -> bytes:
    """An HTML page."""
    body = text if isinstance(text, bytes) else text.encode()
    return answer("200 OK", body, **{"Content-Type": "text/html; charset=utf-8", **headers})


def redirect(location: str, status: str = "302 Found") -> bytes:
    """An answer that sends its reader elsewhere."""
    return answer(status, Location=location)


class Web:
    """The hosts; `pages` has a page, or a list of pages one after the other, by path or by host and path."""

    def __init__(self, hosts: int, pages: dict[str, Page | list[Page]]) -> None:
        self.hosts = [f"127.0.0.{number}" for number in range(1, hosts + 1)]
        self.pages = pages
        self.asked: list[Asked] = []
        self.most_at_once: Counter[str] = Counter()
        # Called with every path before it is answered.
        self.watch: Callable[[str], None] = lambda path: None
        self._now: Counter[str] = Counter()
        self._served: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()

    def url(self, path: str, host: int = 1) -> str:
        """The URL of a path on one of the hosts, counted from 1."""
        return f"http://127.0.0.{host}:{self.port}{path}"

    def begin_anew(self) -> None:
        """Lets pages that come one after the other come from the first again."""
        self._served.clear()

    def paths(self, *, robots: bool = False) -> list[str]:
        """The paths that were asked for."""
        return [asked.path for asked in self.asked if robots or asked.path != "/robots.txt"]

    def _page(self, host: str, path: str) -> Page:
        key = next((key for key in (f"{host}{path}", path) if key in self.pages), "")
        page: Page | list[Page] = self.pages[key] if key else answer("404 Not Found")
        if isinstance(page, list):
            self._served[key] += 1
            return page[min(self._served[key], len(page)) - 1]
        return page

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer(reader, writer):
                    pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        host = writer.get_extra_info("sockname")[0]
        began = time.monotonic()
        self._now[host] += 1
        self.most_at_once[host] = max(self.most_at_once[host], self._now[host])
        self.watch(path)
        page = self._page(host, path)

        async def send(part: bytes) -> None:
            writer.write(part)
            await writer.drain()

        try:
            await (send(page) if isinstance(page, bytes) else page(send))
        finally:
            self._now[host] -= 1
            self.asked.append(Asked(host, path, headers, began, time.monotonic()))
        # What is sent piece by piece ends with its connection.
        return isinstance(page, bytes)

    def _serve(self, sockets: list[socket]) -> None:
        async def serve() -> None:
            connections: set[asyncio.Task[None]] = set()

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                task = asyncio.ensure_future(self._connected(reader, writer))
                connections.add(task)
                task.add_done_callback(connections.discard)

            servers = [await asyncio.start_server(connected, sock=each) for each in sockets]
            await self._stopped.wait()
            for server in servers:
                server.close()
            for task in connections:
                task.cancel()
            await asyncio.gather(*connections, return_exceptions=True)

        self._loop.run_until_complete(serve())
        self._loop.close()

    @contextmanager
    def running(self) -> Iterator[Web]:
        """Serves while the block runs."""
        with ExitStack() as stack:
            try:
                sockets = [stack.enter_context(create_server((self.hosts[0], 0), backlog=128))]
                self.port: int = sockets[0].getsockname()[1]
                sockets += [stack.enter_context(create_server((host, self.port))) for host in self.hosts[1:]]
            except OSError as error:
                pytest.skip(f"this machine does not serve all of 127.0.0.0/8 ({error})")
            thread = threading.Thread(target=self._serve, args=(sockets,))
            thread.start()
            try:
                yield self
            finally:
                self._loop.call_soon_threadsafe(self._stopped.set)
                thread.join()


@contextmanager
def web(pages: dict[str, Page | list[Page]], hosts: int = 1) -> Iterator[Web]:
    """Hosts 127.0.0.1 and on, on one port, with these pages; what they do not have is a 404."""
    with Web(hosts, pages).running() as served:
        yield served
