"""What asking a web service costs, against the loop that one would write with aiohttp.

A stand-in for REL on loopback, in a process of its own, takes 20 ms over every answer. A whole `rel` job over 10,000
snippets asks it 32 at a time. The baseline does the same with one aiohttp session: it sends the request, reads the
JSON, and writes a line. CPU time of this process is compared, because other processes change the rest.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import aiohttp
from goals import Goal, Measured, parser, show
from synthetic import RELEASE_SPACES, Shape

from shadowprobe import Dataset, Snippet
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job

LIMIT = 2.5
SNIPPETS, CONCURRENCY, DELAY = 10_000, 32, 0.02
REPEATS = 3
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


async def ask_barely(url: str, snippets: Iterator[Snippet], out: Path) -> None:
    """Asks for every snippet with aiohttp and nothing else, and writes what the service says."""
    with out.open("w", encoding="utf-8") as file:

        async def work(session: aiohttp.ClientSession) -> None:
            for snippet in snippets:
                asked = {"text": snippet.text, "spans": [[snippet.start, snippet.end - snippet.start]]}
                async with session.post(url, json=asked) as response:
                    (row,) = await response.json()
                file.write(json.dumps({"id": snippet.id, "answer": row[3], "score": row[4]}) + "\n")

        connector = aiohttp.TCPConnector(limit=CONCURRENCY)
        async with aiohttp.ClientSession(connector=connector, raise_for_status=True) as session:
            await asyncio.gather(*(work(session) for _ in range(CONCURRENCY)))


def bare_loop(url: str, dataset: Dataset, out: Path) -> tuple[float, float]:
    """Seconds and CPU seconds of the loop with aiohttp."""
    started, cpu = time.perf_counter(), time.process_time()
    asyncio.run(ask_barely(url, dataset.snippets(), out))
    return time.perf_counter() - started, time.process_time() - cpu


def job(url: str, dataset: Dataset, out: Path) -> tuple[float, float, float]:
    """Seconds of the whole job, CPU seconds of its linking, and those of the probes and everything else."""
    linker = make_linker("rel", {"url": url, "concurrency": str(CONCURRENCY)})
    started, cpu = time.perf_counter(), time.process_time()
    outcome = make_linking_job(linker, dataset, out=out).ask()
    linking = time.process_time() - cpu
    # The same job again has all answers, and measures them.
    results = make_linking_job(linker, dataset, out=out).run().results
    seconds, rest = time.perf_counter() - started, time.process_time() - cpu - linking
    assert (outcome.answered, outcome.repeated, outcome.failed) == (dataset.count(), 0, 0)
    # Fast is of no use unless right: the stand-in always names the top entity.
    assert [results["subsets"][subset]["recall"] for subset in ("top", "shadow")] == [1.0, 0.0]
    return seconds, linking, rest


def measure(scratch: Path) -> Measured:
    """Both in turn, the least CPU time of several repeats of each."""
    dataset = Shape(RELEASE_SPACES, SNIPPETS).write(scratch / "dataset")
    jobs, loops = [], []
    with service() as url:
        for repeat in range(REPEATS):
            jobs.append(job(url, dataset, scratch / f"run-{repeat}"))
            loops.append(bare_loop(url, dataset, scratch / f"bare-{repeat}.jsonl"))
    linking, bare = min(cpu for _, cpu, _ in jobs), min(cpu for _, cpu in loops)
    return Measured(
        Goal(
            f"{SNIPPETS:,} snippets to a service that takes {DELAY * 1000:g} ms, {CONCURRENCY} at a time: at most"
            f" {LIMIT:g} times the CPU time of bare aiohttp",
            linking / bare,
            "times",
            linking / bare <= LIMIT,
        ),
        {
            "snippets": SNIPPETS,
            "linking, ms of CPU a snippet": linking * 1000 / SNIPPETS,
            "probes and results, ms of CPU a snippet": min(rest for _, _, rest in jobs) * 1000 / SNIPPETS,
            "baseline: bare aiohttp, ms of CPU a snippet": bare * 1000 / SNIPPETS,
            "whole job, snippets a second": SNIPPETS / min(seconds for seconds, _, _ in jobs),
            "bare aiohttp, snippets a second": SNIPPETS / min(seconds for seconds, _ in loops),
            "the service's own bound, snippets a second": CONCURRENCY / DELAY,
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
