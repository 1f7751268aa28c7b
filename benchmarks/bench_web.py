"""How fast a web service is asked, against the loop that one would write with `requests`.

A stand-in for REL on loopback, in a process of its own, takes 20 ms over every answer. A whole `rel` job over 10,000
snippets asks it 32 at a time. The baseline asks one after the other over one kept connection. The service would let
32 times as much through, so what is missing to 32 is our own work.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from goals import Goal, Measured, parser, show
from synthetic import RELEASE_SPACES, Shape

from shadowprobe import Dataset, Snippet
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job

try:
    import requests
except ImportError:
    sys.exit("the baseline needs the package requests: pip install requests")

LIMIT = 20.0
SNIPPETS, CONCURRENCY, DELAY = 10_000, 32, 0.02
# The loop is too slow for all snippets; it gets the first of them, before the job and again after it.
SAMPLE = 300
# The service ends with the benchmark, whose end closes its input, and after so many seconds in any case.
LONGEST = 600
LENGTH = re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)


class Rel(asyncio.Protocol):
    """One connection to the stand-in: every mention means the top entity of its name, after a while."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins with nothing read."""
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.read = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answers once head and body are there; a client may send them apart."""
        self.read += data
        head, end, body = self.read.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if end and length and len(body) == int(length[1]):
            self.read = b""
            asyncio.get_running_loop().call_later(DELAY, self.transport.write, reply(body))


def reply(body: bytes) -> bytes:
    """The answer to a request, as REL words it."""
    asked = json.loads(body)
    rows = [
        [start, length, name, f"{name} (top)".replace(" ", "_"), 0.5, 0.0, "NULL"]
        for start, length in asked["spans"]
        for name in [asked["text"][start : start + length]]
    ]
    content = json.dumps(rows).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(content),
        content,
    )


async def serve() -> None:
    """Says the port, and serves until the input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Rel, "127.0.0.1", 0, backlog=CONCURRENCY * 2)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop.add_reader(sys.stdin, ended.set)
    with suppress(TimeoutError):
        await asyncio.wait_for(ended.wait(), LONGEST)


@contextmanager
def service() -> Iterator[str]:
    """The address of a stand-in that runs while the block does."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        # Leaving the block closes the input, and the service ends.
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/api"


def one_by_one(post: Callable[..., Any], url: str, snippets: list[Snippet]) -> float:
    """Answers a second of the plain loop."""
    started = time.perf_counter()
    for snippet in snippets:
        asked = {"text": snippet.text, "spans": [[snippet.start, snippet.end - snippet.start]]}
        response = post(url, json=asked, timeout=30)
        response.raise_for_status()
        (row,) = response.json()
        assert row[:2] == asked["spans"][0]
    return len(snippets) / (time.perf_counter() - started)


def job(url: str, dataset: Dataset, out: Path) -> tuple[float, float, float]:
    """Answers a second of the whole job and of its linking, and the CPU seconds that the job took."""
    linker = make_linker("rel", {"url": url, "concurrency": str(CONCURRENCY)})
    started, cpu = time.perf_counter(), time.process_time()
    finished = make_linking_job(linker, dataset, out=out).run()
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    outcome, count = finished.outcome, dataset.count()
    assert outcome is not None
    assert (outcome.answered, outcome.repeated, outcome.failed) == (count, 0, 0)
    # Fast is of no use unless right: the stand-in always names the top entity.
    assert [finished.results["subsets"][subset]["recall"] for subset in ("top", "shadow")] == [1.0, 0.0]
    return count / seconds, count / outcome.seconds, cpu


def measure(scratch: Path) -> Measured:
    """The loop before and after the job, and the faster of the two counts."""
    dataset = Shape(RELEASE_SPACES, SNIPPETS).write(scratch / "dataset")
    sample = list(dataset.snippets())[:SAMPLE]
    with service() as url, requests.Session() as session:
        # Once before the clock runs: the first request connects, and imports what decodes an answer.
        one_by_one(session.post, url, sample[:1])
        before = one_by_one(session.post, url, sample)
        whole, linking, cpu = job(url, dataset, scratch / "run")
        after = one_by_one(session.post, url, sample)
        unkept = one_by_one(requests.post, url, sample)
    baseline = max(before, after)
    return Measured(
        Goal(
            f"{SNIPPETS:,} snippets to a service that takes {DELAY * 1000:g} ms, {CONCURRENCY} at a time: at least"
            f" {LIMIT:g} times a sequential loop with `requests`",
            whole / baseline,
            "times",
            whole / baseline >= LIMIT,
        ),
        {
            "snippets": SNIPPETS,
            "whole job, snippets a second": whole,
            "linking alone, snippets a second": linking,
            "whole job, ms of CPU a snippet": cpu * 1000 / SNIPPETS,
            "the service's own bound, snippets a second": CONCURRENCY / DELAY,
            "snippets of the loop": SAMPLE,
            "baseline: loop with a session, snippets a second": baseline,
            "loop without a session, snippets a second": unkept,
            "linking alone / baseline": linking / baseline,
            "whole job / loop without a session": whole / unkept,
        },
    )


def main() -> None:
    """Measures synthetic snippets."""
    options = parser(__doc__)
    options.add_argument("--serve", action="store_true", help="be the stand-in until the input ends")
    given = options.parse_args()
    if given.serve:
        asyncio.run(serve())
        return
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
