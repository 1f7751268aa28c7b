"""A web on loopback with a page for every address, and the API of a wiki: what a simulated build requests.

An address names an entity: `/page/TITLE/NUMBER`. Its page is always the same, has the size of a usual page, and names
the entity in some sentences. Of a hundred pages five have moved and four are gone.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from subprocess import PIPE, Popen
from urllib.parse import unquote
from zlib import crc32

from bench_extract import Writer

# The hosts are 127.77.0.1 and on, as the dump of `scripts/make_dump.py` names them.
HOSTS = 500
# It ends when its input does, and after so many seconds in any case.
LONGEST = 6 * 3600
PARAGRAPHS = 2_000
SMALLEST, LARGEST = 5_000, 50_000
# The sentences of a page that name its entity, and the share of them with the whole title.
NAMED, WHOLE = 4, 0.5
MOVED, GONE = 5, 4
WIKI = json.dumps(
    {
        "query": {
            "general": {
                "lang": "en",
                "generator": "MediaWiki 1.39.0",
                "sitename": "Synthetic",
                "server": "http://127.0.0.1",
                "articlepath": "/wiki/$1",
                "case": "first-letter",
            },
            "extensions": [{"name": "Disambiguator"}],
            "statistics": {"pages": 1000},
        }
    }
).encode()


class Pages:
    """Makes the pages from paragraphs that all of them share."""

    def __init__(self) -> None:
        writer = Writer()
        self._paragraphs = [writer.paragraph() for _ in range(PARAGRAPHS)]

    def make(self, path: str) -> bytes:
        """The page of a path."""
        title = unquote(path.split("/")[2]).replace("_", " ")
        writer = Writer(crc32(path.encode()))
        choose = writer.lot
        size, parts = choose.randint(SMALLEST, LARGEST), list[str]()
        while sum(map(len, parts)) < size:
            parts += choose.choices(self._paragraphs, k=5)
        short = title.partition(" (")[0]
        for _ in range(NAMED):
            name = title if choose.random() < WHOLE else short
            parts.insert(choose.randrange(len(parts)), f"<p>{writer.sentence(name)}</p>")
        return (
            f"<!DOCTYPE html><html lang='en'><head><title>{short}</title></head><body><main><article>"
            f"<h1>{short}</h1>{''.join(parts)}</article></main></body></html>"
        ).encode()


class Connection(asyncio.Protocol):
    """One connection to a host of the web, or to the wiki."""

    transport: asyncio.Transport
    pages: Pages

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins with nothing."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answers every request that is complete."""
        self.received += data
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if len(body) >= length:
            self.received = b""
            self.answer(head.split(b" ", 2)[1].decode())

    def answer(self, path: str) -> None:
        """Sends the response to a request for a path."""
        kind, status, more, content = "text/html; charset=utf-8", "200 OK", "", b""
        fate = crc32(path.encode()) % 100
        if path.endswith("/api.php"):
            kind, content = "application/json; charset=utf-8", WIKI
        elif path == "/robots.txt":
            kind, content = "text/plain", b"User-agent: *\nDisallow: /private/\n"
        elif path.startswith("/page/") and fate < MOVED:
            status, more = "301 Moved Permanently", f"Location: {path.replace('/page/', '/moved/', 1)}\r\n"
        elif not path.startswith(("/page/", "/moved/")) or MOVED <= fate < MOVED + GONE:
            status, content = "404 Not Found", b"<p>Not found.</p>"
        else:
            content = self.pages.make(path)
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(content)}\r\n\r\n"
        self.transport.write(head.encode() + content)


async def serve(port: int) -> None:
    """Prints the port, any free one for 0, and serves until the input ends."""
    Connection.pages = Pages()
    loop = asyncio.get_running_loop()
    wiki = await loop.create_server(Connection, "127.0.0.1", port)
    port = wiki.sockets[0].getsockname()[1]
    hosts = [f"127.77.{number // 250}.{number % 250 + 1}" for number in range(1, HOSTS + 1)]
    web = await loop.create_server(Connection, hosts, port)
    print(port, flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    with suppress(TimeoutError):
        await asyncio.wait_for(ended.wait(), LONGEST)
    for server in (wiki, web):
        server.close()


@contextmanager
def run_web(port: int = 0) -> Iterator[int]:
    """The port of a web in a process of its own, which runs while the block does."""
    with Popen([sys.executable, __file__, str(port)], stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        # Leaving the block closes the input, and the process ends.
        yield int(process.stdout.readline())


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
