"""What a pool of processes costs and gains where snippets are cut, against a single process.

Made-up pages of 5 to 50 kB are stored in an archive, and the parts of a build are cut from it: in this process, by a
pool of one worker, and by two workers. CPU time includes the workers, and their start is in no time. One worker shows
what the pool itself costs: two processes at the same time also slow each other down, because they share caches. The
gain in wall time needs two idle cores. Beside that stands the CPU time of trafilatura alone on the same pages.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench_extract import Page, Writer, extracted
from goals import Goal, Measured, parser, show

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.page_cutting import CutPart, CutSettings, PageWork, Wanted, cut_pages
from shadowprobe.build.warc_record import Stored
from shadowprobe.compute.executor import Executor, SerialExecutor
from shadowprobe.compute.process_pool import ProcessExecutor

LIMIT, SPEED = 1.1, 1.7
PAGES, PART, REPEATS, WORKERS = 200, 10, 5, 2
SETTINGS = CutSettings("en", 0, 10)


class Times(NamedTuple):
    """CPU and wall seconds of all pages, and what was cut."""

    cpu: float
    wall: float
    cuts: list[CutPart]


def write_archive(pages: list[Page], path: Path) -> list[list[PageWork]]:
    """Stores the pages; returns the parts of the work."""
    headers = {"Content-Type": "text/html; charset=utf-8"}
    works = []
    with closing(Archive(path, software="benchmark")) as archive:
        for page in pages:
            key = key_of("GET", page.url)
            archive.put(key, Stored(page.url, 200, headers, page.html.encode()))
            works.append(PageWork(archive.locate(key), page.url, (Wanted(page.entity, page.space, (), ()),)))
    return [works[first : first + PART] for first in range(0, len(works), PART)]


def count_cpu() -> float:
    """CPU seconds of this process and of its workers that run."""
    own = time.process_time()
    ticks = os.sysconf("SC_CLK_TCK")
    for process in _list_descendants(os.getpid()):
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        own += (int(fields[11]) + int(fields[12])) / ticks
    return own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def _list_descendants(parent: int) -> list[int]:
    found, waiting = [], [parent]
    while waiting:
        process = waiting.pop()
        for task in Path(f"/proc/{process}/task").iterdir():
            children = [int(child) for child in (task / "children").read_text(encoding="ascii").split()]
            found += children
            waiting += children
    return found


def cut(executor: Executor, parts: list[list[PageWork]]) -> Times:
    """Cuts all parts."""
    cpu, wall = count_cpu(), time.perf_counter()
    cuts = list(executor.map(partial(cut_pages, SETTINGS), parts))
    return Times(count_cpu() - cpu, time.perf_counter() - wall, cuts)


def measure(scratch: Path) -> Measured:
    """Both in turn, the least of several repeats of each."""
    writer = Writer()
    pages = [writer.page(number) for number in range(PAGES)]
    parts = write_archive(pages, scratch / "web.warc.gz")
    serial, one, two = [], [], []
    with ProcessExecutor(1) as single, ProcessExecutor(WORKERS) as pool:
        # Once before the clock runs: every worker loads and compiles what it needs.
        for executor in (SerialExecutor(), single, pool):
            cut(executor, parts[: 4 * WORKERS])
        for _ in range(REPEATS):
            serial.append(cut(SerialExecutor(), parts))
            one.append(cut(single, parts))
            two.append(cut(pool, parts))
    assert serial[0].cuts == one[0].cuts == two[0].cuts
    bare = min(extracted(pages) for _ in range(REPEATS))
    alone, pooled, together = (min(each.cpu for each in times) for times in (serial, one, two))
    gain = min(each.wall for each in serial) / min(each.wall for each in two)
    idle = os.getloadavg()[0] < WORKERS + 0.5
    return Measured(
        Goal(
            f"cutting in a pool: at most {LIMIT:g} times the CPU time of this process, and with {WORKERS} workers on"
            f" {WORKERS} idle cores at least {SPEED:g} times as fast",
            pooled / alone,
            "times",
            pooled / alone <= LIMIT and (gain >= SPEED or not idle),
        ),
        {
            "pages": PAGES,
            "this process, CPU ms a page": alone / PAGES * 1000,
            "a pool of one worker, CPU ms a page": pooled / PAGES * 1000,
            f"{WORKERS} workers, CPU ms a page": together / PAGES * 1000,
            "baseline: trafilatura.extract, CPU ms a page": bare / PAGES * 1000,
            "this process / trafilatura.extract": alone / bare,
            f"{WORKERS} workers, times as fast": gain,
            "load of the machine": os.getloadavg()[0],
        },
    )


def main() -> None:
    """Measures one process and two workers."""
    given = parser(__doc__).parse_args()
    if not sys.platform.startswith("linux"):
        sys.exit("the CPU time of workers is read from /proc, which only Linux has")
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
