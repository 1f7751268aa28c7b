"""How soon a crawl of a million URLs that was stopped sends its next request, and in how much memory.

The index of the archive is made up: a million responses, redirects and failures of 50,000 hosts. The records
themselves are a hole in the file, because nothing may be read from them. One page is missing, and the time counts
until its host on loopback gets the request: CPU time, which on an idle core is the time itself. The baseline is to
decode the lines of the index and nothing more.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import msgspec
from goals import Goal, Measured, parser, peak, show

from shadowprobe.base.jsonl import encode_json
from shadowprobe.build.archive import Archive, Entry, key_of
from shadowprobe.build.records import WebReference
from shadowprobe.build.web.crawl import crawl
from shadowprobe.build.web.politeness import Manners

SECONDS, MEGABYTES = 30.0, 1_000.0
URLS, HOSTS, LENGTH = 1_000_000, 50_000, 9_000


class Host(BaseHTTPRequestHandler):
    """The host of the missing page; notes when it gets its first request."""

    asked: ClassVar[list[tuple[float, float]]] = []

    def do_GET(self) -> None:
        """Answers with a page."""
        self.asked.append((time.perf_counter(), time.process_time()))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<p>A page.</p>")

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def list_urls() -> Iterator[str]:
    """The URLs of the references; of every hundred one leads elsewhere, and five are dead."""
    return (f"https://www.host{number % HOSTS}.example/articles/2015/{number}/a-title.html" for number in range(URLS))


def write_index(path: Path) -> None:
    """Writes the index of an archive, and a file as large as the archive would be."""
    encode, offset = msgspec.json.Encoder().encode, 0
    with path.with_suffix(".gz.index").open("wb") as file:
        for number, url in enumerate(list_urls()):
            key, kind = key_of("GET", url), number % 100
            entry = Entry(key, offset, LENGTH, "404") if kind < 6 else Entry(key, offset, LENGTH, status=200)
            if kind == 0 and number >= HOSTS:
                # Another page of the same host.
                target = url.replace(f"/{number}/", f"/{number - HOSTS + 1}/")
                entry = Entry(key, offset, LENGTH, status=301, location=target)
            file.write(encode(entry) + b"\n")
            offset += LENGTH
    with path.open("wb") as file:
        file.truncate(offset)


def continue_crawl(path: Path) -> dict[str, float]:
    """Continues the crawl; returns the seconds until the first request, and the peak of memory."""
    server = HTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    missing = WebReference("E", f"http://127.0.0.1:{server.server_port}/page")
    manners = Manners(user_agent="benchmark", delay=0.0, allow_private=("127.0.0.0/8",))
    started, cpu = time.perf_counter(), time.process_time()
    with closing(Archive(path, software="benchmark")) as archive:
        references = (WebReference("E", url) for url in list_urls())
        outcomes = crawl(_chain(missing, references), archive, manners, is_online=lambda: True)
        pages = sum(found.page is not None for found in outcomes)
    assert pages > URLS * 0.9
    first = Host.asked[0]
    found = {"wall": first[0] - started, "cpu": first[1] - cpu, "all": time.process_time() - cpu, "peak": float(peak())}
    server.shutdown()
    return found


def _chain(first: WebReference, rest: Iterator[WebReference]) -> Iterator[WebReference]:
    yield first
    yield from rest


def decode_index(path: Path) -> float:
    """CPU seconds to decode the index alone."""
    started, decode = time.process_time(), msgspec.json.Decoder(Entry).decode
    with path.with_suffix(".gz.index").open("rb") as file:
        entries = {entry.key: entry for entry in map(decode, file)}
    assert len(entries) >= URLS
    return time.process_time() - started


def measure(scratch: Path) -> Measured:
    """The crawl in a process of its own, for its memory; then the baseline."""
    path = scratch / "web.warc.gz"
    write_index(path)
    command = [sys.executable, __file__, "--child", str(path)]
    found = msgspec.json.decode(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    seconds, megabytes = found["cpu"], found["peak"] / 1e6
    return Measured(
        Goal(
            f"a crawl of {URLS:,} URLs that continues sends its next request within {SECONDS:g} s of CPU time"
            f" and {MEGABYTES:g} MB",
            seconds,
            "CPU s",
            seconds <= SECONDS and megabytes <= MEGABYTES,
        ),
        {
            "to the first request, CPU seconds": seconds,
            "to the first request, seconds": found["wall"],
            "in all, CPU seconds": found["all"],
            "peak, MB": megabytes,
            "bytes per URL": found["peak"] / URLS,
            "baseline: decoding the index, CPU seconds": decode_index(path),
        },
    )


def main() -> None:
    """Measures the crawl."""
    options = parser(__doc__)
    options.add_argument("--child", metavar="ARCHIVE", help="continue and print what it took")
    given = options.parse_args()
    if given.child:
        print(encode_json(continue_crawl(Path(given.child))).decode())
        return
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
