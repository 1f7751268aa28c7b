"""How fast and how frugally pages are crawled, against the loop that one would write with `requests`.

Fifty hosts on loopback, 127.0.0.1 and on, in a process of their own, take 100 ms over every answer; each has twenty
pages and is asked for one at a time. The baseline asks for a sample of the pages one after the other over kept
connections. Memory is the peak of a crawl of 100 and of 10,000 pages in a process of its own, and its baseline is how
much more was read.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import ClassVar

import msgspec
from goals import Goal, Measured, parser, peak, show

from shadowprobe.build.archive import Archive
from shadowprobe.build.records import WebReference
from shadowprobe.build.web.crawl import crawl
from shadowprobe.build.web.politeness import Manners

try:
    import requests
except ImportError:
    sys.exit("the baseline needs the package requests: pip install requests")

LIMIT, MEMORY_LIMIT = 20.0, 0.05
HOSTS, PAGES, DELAY = 50, 20, 0.1
FEW, MANY = 100, 10_000
SAMPLE = 50
# The hosts end with the benchmark, whose end closes their input, and after so many seconds in any case.
LONGEST = 900
WORDS = b"<p>A page with some words of the kind that a reader, or a crawler, may come across. " * 240


class Page(asyncio.Protocol):
    """One connection to a host: every path is a page, those below /slow after a while."""

    transport: asyncio.Transport
    now: ClassVar[Counter[str]] = Counter()
    most: ClassVar[Counter[str]] = Counter()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Notes which of the hosts is asked."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.read = transport, b""
        self.host: str = transport.get_extra_info("sockname")[0]

    def data_received(self, data: bytes) -> None:
        """Answers once the head is there."""
        self.read += data
        if not self.read.endswith(b"\r\n\r\n"):
            return
        path = self.read.split(b" ", 2)[1]
        self.read = b""
        self.now[self.host] += 1
        self.most[self.host] = max(self.most[self.host], self.now[self.host])
        asyncio.get_running_loop().call_later(DELAY if path.startswith(b"/slow") else 0.0, self.answer, path)

    def answer(self, path: bytes) -> None:
        """Sends the page, or for /most how many requests a host ever had at once."""
        self.now[self.host] -= 1
        body = b"%d" % max(self.most.values()) if path == b"/most" else self.make_body(path)
        status = b"404 Not Found" if path == b"/robots.txt" else b"200 OK"
        self.transport.write(
            b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)
        )

    def make_body(self, path: bytes) -> bytes:
        """The page of a path."""
        return b"<title>%s</title>%s" % (path, WORDS)


async def serve(page: type[Page] = Page) -> None:
    """Says the port, and serves until the input ends."""
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(page, "127.0.0.1", 0)]
    port = servers[0].sockets[0].getsockname()[1]
    servers += [await loop.create_server(page, f"127.0.0.{number}", port) for number in range(2, HOSTS + 1)]
    print(port, flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    with suppress(TimeoutError):
        await asyncio.wait_for(ended.wait(), LONGEST)


@contextmanager
def hosts(script: str = __file__) -> Iterator[int]:
    """The port of hosts that run while the block does."""
    command = [sys.executable, script, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        # Leaving the block closes the input, and the hosts end.
        yield int(process.stdout.readline())


def urls(port: int, kind: str, count: int) -> list[str]:
    """So many pages, spread over the hosts."""
    return [f"http://127.0.0.{number % HOSTS + 1}:{port}/{kind}/{number}" for number in range(count)]


def crawled(asked: list[str], path: Path) -> float:
    """Pages a second of a whole crawl."""
    manners = Manners(user_agent="benchmark", total=HOSTS, delay=0.0, allow_private=("127.0.0.0/8",))
    with closing(Archive(path, software="benchmark")) as archive:
        started = time.perf_counter()
        references = [WebReference("E", url) for url in asked]
        found = crawl(references, archive, manners, is_online=lambda: True)
        pages = sum(each.page is not None for each in found)
        seconds = time.perf_counter() - started
    # Fast is of no use unless all came.
    assert pages == len(asked)
    return pages / seconds


def one_by_one(asked: list[str]) -> float:
    """Pages a second of the plain loop."""
    with requests.Session() as session:
        started = time.perf_counter()
        for url in asked:
            session.get(url, timeout=30).raise_for_status()
        return len(asked) / (time.perf_counter() - started)


def child(port: int, count: int, path: Path) -> None:
    """Crawls, and prints the most memory that this took."""
    crawled(urls(port, "fast", count), path)
    print(msgspec.json.encode(peak()).decode())


def footprint(port: int, count: int, path: Path) -> int:
    """The peak of a crawl in a process of its own."""
    command = [sys.executable, __file__, "--child", str(port), str(count), str(path)]
    return int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def measure(scratch: Path) -> Measured:
    """The loop before and after the crawl, of which the faster counts; then memory."""
    with hosts() as port:
        sample = urls(port, "slow", SAMPLE)
        # Once before the clock runs: what is imported only once is so now.
        one_by_one(sample[:1])
        crawled(urls(port, "fast", HOSTS), scratch / "first.warc.gz")
        before = one_by_one(sample)
        speed = crawled(urls(port, "slow", HOSTS * PAGES), scratch / "speed.warc.gz")
        after = one_by_one(sample)
        at_once = int(requests.get(f"http://127.0.0.1:{port}/most", timeout=30).text)
        few, many = (footprint(port, count, scratch / f"{count}.warc.gz") for count in (FEW, MANY))
    assert at_once == 1, "a host was asked for two pages at once"
    baseline = max(before, after)
    growth, more = many - few, (MANY - FEW) * len(WORDS)
    return Measured(
        Goal(
            f"{HOSTS * PAGES:,} pages of {HOSTS} hosts that take {DELAY * 1000:g} ms, one at a time from each: at least"
            f" {LIMIT:g} times a sequential loop with `requests`; memory from {FEW:,} to {MANY:,} pages grows by at"
            f" most {MEMORY_LIMIT:.0%} of what is read",
            speed / baseline,
            "times",
            speed / baseline >= LIMIT and growth <= MEMORY_LIMIT * more,
        ),
        {
            "crawl, pages a second": speed,
            "the hosts' own bound, pages a second": HOSTS / DELAY,
            "pages of the loop": SAMPLE,
            "baseline: loop with a session, pages a second": baseline,
            "crawl / baseline": speed / baseline,
            "most requests to a host at once": at_once,
            f"peak at {FEW:,} pages, MB": few / 1e6,
            f"peak at {MANY:,} pages, MB": many / 1e6,
            "growth of the peak, bytes per page": growth / (MANY - FEW),
            "baseline: bytes of a page": len(WORDS),
            "growth / what is read": growth / more,
        },
    )


def main() -> None:
    """Measures speed and memory."""
    options = parser(__doc__)
    options.add_argument("--serve", action="store_true", help="be the hosts until the input ends")
    options.add_argument("--child", nargs=3, metavar=("PORT", "PAGES", "ARCHIVE"), help="crawl and print the peak")
    given = options.parse_args()
    if given.serve:
        asyncio.run(serve())
    elif given.child:
        child(int(given.child[0]), int(given.child[1]), Path(given.child[2]))
    else:
        with tempfile.TemporaryDirectory() as directory:
            show(measure(Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
