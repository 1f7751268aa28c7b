"""What a page costs to crawl and to store, against bare aiohttp and against Scrapy, both with WARC writing.

CPU time per page, which other processes change little. Fifty hosts on loopback, in a process of their own, serve pages
of made-up words of 5 to 50 kB. Each crawler runs in a process of its own, asks one page at a time of each host, and
writes compressed records at the same level. The bare loop checks no robots.txt, no addresses and no limits. Scrapy
obeys robots.txt.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from bench_crawl import HOSTS, Page, crawled, hosts, serve, urls
from bench_extract import Writer
from goals import SKIPPED, Goal, Measured, parser, show

LIMIT, SCRAPY_LIMIT = 1.6, 0.6
PAGES, REPEATS = 2_000, 3
DIFFERENT = 64
LEVEL = 6


class VariedPage(Page):
    """One connection to a host, with pages that compress as real ones do."""

    bodies: tuple[bytes, ...] = ()

    def make_body(self, path: bytes) -> bytes:
        """One of the pages, by the number in its path."""
        number = int(path.rpartition(b"/")[2]) if path.startswith(b"/fast") else 0
        return self.bodies[number % len(self.bodies)]


def serve_pages() -> None:
    """Makes the pages, and serves them until the input ends."""
    writer = Writer()
    VariedPage.bodies = tuple(writer.page(number).html.encode() for number in range(DIFFERENT))
    asyncio.run(serve(VariedPage))


def store(file: BinaryIO, url: str, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    """Appends a response as warcio writes it, at the level of both crawlers."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    writer = WARCWriter(BytesIO(), gzip=False, warc_version="1.1")
    http = StatusAndHeaders(f"{status} OK", headers, "HTTP/1.1")
    writer.write_record(writer.create_warc_record(url, "response", payload=BytesIO(body), http_headers=http))
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    file.write(compressor.compress(writer.out.getvalue()) + compressor.flush())


async def crawl_bare(asked: list[str], path: Path) -> None:
    """The loop that one would write with aiohttp: a task for each host, one page at a time."""
    import aiohttp

    by_host: dict[str, list[str]] = {}
    for url in asked:
        by_host.setdefault(url.split("/")[2], []).append(url)
    with path.open("ab") as file:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:

            async def visit(own: list[str]) -> None:
                for url in own:
                    async with session.get(url) as response:
                        body = await response.read()
                        store(file, url, response.status, list(response.headers.items()), body)

            await asyncio.gather(*map(visit, by_host.values()))


def run_bare(port: int, path: Path) -> float:
    """CPU seconds of the bare loop."""
    asyncio.run(crawl_bare(urls(port, "fast", HOSTS), path))
    started = time.process_time()
    asyncio.run(crawl_bare(urls(port, "fast", PAGES), path))
    return time.process_time() - started


def run_ours(port: int, path: Path) -> float:
    """CPU seconds of our crawl."""
    crawled(urls(port, "fast", HOSTS), path.with_name("first.warc.gz"))
    started = time.process_time()
    crawled(urls(port, "fast", PAGES), path)
    return time.process_time() - started


def run_scrapy(port: int, path: Path) -> float:
    """CPU seconds of a spider, from its start to its end."""
    from scrapy import Request, Spider, signals
    from scrapy.crawler import CrawlerProcess

    times: list[float] = []
    file = path.open("ab")

    class Pages(Spider):
        name = "pages"

        async def start(self) -> Any:
            for url in urls(port, "fast", PAGES):
                yield Request(url)

        def parse(self, response: Any) -> None:
            headers = [(name.decode(), value.decode()) for name, (value, *_) in response.headers.items()]
            store(file, response.url, response.status, headers, response.body)

    settings = {
        "CONCURRENT_REQUESTS": HOSTS,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_ENABLED": False,
    }
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Pages)
    for signal in (signals.spider_opened, signals.spider_closed):
        crawler.signals.connect(lambda: times.append(time.process_time()), signal, weak=False)
    process.crawl(crawler)
    process.start()
    file.close()
    assert crawler.stats is not None
    assert crawler.stats.get_value("response_received_count") >= PAGES
    return times[1] - times[0]


RUNS = {"bare": run_bare, "ours": run_ours, "scrapy": run_scrapy}


def run_child(name: str, port: int) -> float:
    """CPU seconds per page of a crawler in a process of its own."""
    command = [sys.executable, __file__, "--child", name, str(port)]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout) / PAGES


def measure() -> Measured:
    """All in turn, the least of several repeats of each."""
    with hosts(__file__) as port:
        times = {name: min(run_child(name, port) for _ in range(REPEATS)) for name in RUNS}
    ratio, scrapy = times["ours"] / times["bare"], times["ours"] / times["scrapy"]
    return Measured(
        Goal(
            f"a page crawled and stored: at most {LIMIT:g} times the CPU time of bare aiohttp with WARC writing, and"
            f" {SCRAPY_LIMIT:g} times that of Scrapy",
            ratio,
            "times",
            ratio <= LIMIT and scrapy <= SCRAPY_LIMIT,
        ),
        {
            "pages": PAGES,
            "crawl, CPU ms a page": times["ours"] * 1000,
            "baseline: aiohttp and warcio, CPU ms a page": times["bare"] * 1000,
            "baseline: Scrapy and warcio, CPU ms a page": times["scrapy"] * 1000,
            "crawl / aiohttp": ratio,
            "crawl / Scrapy": scrapy,
        },
    )


def main() -> None:
    """Measures the three crawlers, or runs one of them."""
    options = parser(__doc__)
    options.add_argument("--serve", action="store_true", help="be the hosts until the input ends")
    options.add_argument("--child", nargs=2, metavar=("NAME", "PORT"), help="crawl and print the CPU seconds")
    given = options.parse_args()
    if given.serve:
        serve_pages()
    elif given.child:
        with tempfile.TemporaryDirectory() as directory:
            seconds = RUNS[given.child[0]](int(given.child[1]), Path(directory) / "pages.warc.gz")
        print(msgspec.json.encode(seconds).decode())
    else:
        try:
            import scrapy  # noqa: F401
        except ImportError:
            print("the baseline needs the package scrapy: pip install scrapy", file=sys.stderr)
            sys.exit(SKIPPED)
        show(measure(), json=given.json)


if __name__ == "__main__":
    main()
