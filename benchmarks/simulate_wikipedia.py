"""Builds a dataset from a synthetic dump and a synthetic web, and prints what each stage costs.

The dump has the files of a large wiki: tables, and texts in several files, packed by gzip at level 1. The web is 500
hosts on loopback in a process of its own. The build is the command `shadowprobe build`, once at the given size and
once at a tenth of it. Memory is that of all its processes together, and memory that they share counts once. Beside
each stage stands how its CPU time and its memory grow from the tenth to the whole. The last line says whether memory
grows while the dumps are read.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import msgspec
from process_tree import measure_tree
from simulated_web import run_web

from shadowprobe.build.status import STAGES, read_funnels

MAKE = Path(__file__).resolve().parent.parent / "scripts" / "make_dump.py"
DUMPS, READ = "dumps", "read back"
# Characters of running text and links of an article, and the files of the texts.
TEXT, LINKS, FILES = 6_000, 60, 16
PAUSE, PORT = 0.2, 18_077
# More than so many times the CPU time for ten times the work is not linear.
LINEAR = 12.0


class Cost(msgspec.Struct):
    """What a stage has cost, and how many items it had."""

    cpu: float = 0.0
    wall: float = 0.0
    peak: int = 0
    items: float = 0.0
    unit: str = ""
    # The CPU seconds of the stage so far, and the memory of all processes then.
    samples: list[tuple[float, int]] = []


class Simulation(msgspec.Struct):
    """What all stages of a build have cost."""

    gigabytes: float
    pages: int
    costs: dict[str, Cost]
    database: int = 0
    archive: int = 0


def find_stage(directory: Path) -> str:
    """The stage that a build is in, by the files that are there."""
    if not (directory / "dumps.duckdb").exists():
        return DUMPS
    return next((stage for stage in STAGES if not (directory / f"{stage}.json").exists()), READ)


def watch(process: subprocess.Popen[bytes], directory: Path, done: Simulation, path: Path) -> None:
    """Adds the costs of each stage of a build that runs, and stores them."""
    last, before = 0.0, time.perf_counter()
    while process.poll() is None:
        time.sleep(PAUSE)
        stage, usage, now = find_stage(directory), measure_tree(process.pid), time.perf_counter()
        cost = done.costs.setdefault(stage, Cost())
        # Processes that are just ending are in no list: the sum may fall for a moment.
        cost.cpu += max(0.0, usage.cpu - last)
        cost.wall += now - before
        cost.peak = max(cost.peak, usage.memory)
        cost.samples.append((cost.cpu, usage.memory))
        last, before = max(last, usage.cpu), now
        path.write_bytes(msgspec.json.encode(done))
    if process.returncode:
        sys.exit(f"the build ended with {process.returncode}")


def make_dump(directory: Path, gigabytes: float, pages: int, port: int) -> None:
    """Makes the dump."""
    shape = ["--gzip", "--text", str(TEXT), "--links", str(LINKS), "--files", str(FILES)]
    web = ["--port", str(port), "--pages", str(pages)]
    part = directory.with_suffix(".part")
    command = [sys.executable, str(MAKE), str(part), "--size", f"{gigabytes:g}GB", *shape, *web]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    part.rename(directory)


def simulate(scratch: Path, gigabytes: float, pages: int, port: int, options: list[str]) -> Simulation:
    """Makes dump and web and builds from them; what an earlier simulation has done is not done again."""
    scratch.mkdir(exist_ok=True)
    dump, out, path = scratch / "dump", scratch / "out", scratch / "costs.json"
    done = Simulation(gigabytes, pages, {})
    if path.exists():
        done = msgspec.json.decode(path.read_bytes(), type=Simulation)
    with run_web(port) as open_port:
        if not dump.exists():
            print(f"making a dump of {gigabytes:g} GB", file=sys.stderr, flush=True)
            make_dump(dump, gigabytes, pages, open_port)
        print(f"building from {gigabytes:g} GB and {pages:,} pages", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "shadowprobe", "build", "--out", str(out), "--dumps", str(dump)]
        command += ["--wiki", f"http://127.0.0.1:{open_port}", "--contact", "benchmark@localhost", "--delay", "0"]
        command += ["--allow-network", "127.0.0.0/8", "--tail", str(max(1, pages // 100)), *options]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            watch(process, out / "build", done, path)
    count_items(done, out)
    done.database = (out / "build" / "dumps.duckdb").stat().st_size
    done.archive = sum(each.stat().st_size for each in (out / "build" / "archive").iterdir())
    path.write_bytes(msgspec.json.encode(done))
    return done


def count_items(done: Simulation, out: Path) -> None:
    """Adds how much work each stage had."""
    funnels = {funnel.stage: funnel for funnel in read_funnels(out)}
    units = {
        DUMPS: (done.gigabytes, "GB"),
        "spaces": (funnels["spaces"].seen, "names"),
        "commonness": (funnels["commonness"].seen, "entities"),
        "references": (funnels["commonness"].seen, "entities"),
        "crawl": (funnels["crawl"].seen, "pages"),
        "snippets": (funnels["crawl"].kept, "pages"),
        "tail": (funnels["tail"].seen, "articles"),
        "assemble": (funnels["snippets"].kept, "snippets"),
        READ: (funnels["snippets"].kept, "snippets"),
    }
    for stage, cost in done.costs.items():
        cost.items, cost.unit = units[stage]


def print_table(small: Simulation, large: Simulation) -> None:
    """Prints a line per stage of the large build, compared with the small one."""
    print(
        f"{large.gigabytes:g} GB of dumps and {large.pages:,} cited pages, compared with {small.gigabytes:g} GB and"
        f" {small.pages:,}; database {large.database / 1e9:.2f} GB, archive {large.archive / 1e9:.2f} GB"
    )
    print(f"{'stage':<12}{'CPU s':>9}{'wall s':>9}{'items':>12} {'':<10}{'items per CPU s':>16}", end="")
    print(f"{'peak GB':>9}{'of a tenth':>12}{'CPU, times':>12}  linear?")
    for stage, cost in large.costs.items():
        before = small.costs.get(stage, Cost())
        # A tenth that is too short to be measured says nothing about the growth.
        times = cost.cpu / before.cpu if before.cpu >= 1.0 else 0.0
        work = cost.items / before.items if before.items else 0.0
        verdict = "-" if not times or not work else "yes" if times <= LINEAR / 10 * work else "NO"
        print(
            f"{stage:<12}{cost.cpu:>9.1f}{cost.wall:>9.1f}{cost.items:>12,.4g} {cost.unit:<10}"
            f"{cost.items / cost.cpu if cost.cpu else 0:>16,.4g}{cost.peak / 1e9:>9.2f}{before.peak / 1e9:>12.2f}"
            f"{times:>12.1f}  {verdict}"
        )
    tenths = ", ".join(f"{peak / 1e9:.2f}" for peak in find_peaks(large.costs[DUMPS]))
    print(f"peak GB in each tenth of the CPU time in which the dumps were read: {tenths}")


def find_peaks(cost: Cost, parts: int = 10) -> list[int]:
    """The highest memory in each of the equal parts of the CPU time of a stage."""
    peaks = [0] * parts
    for cpu, memory in cost.samples:
        place = min(int(parts * cpu / cost.cpu), parts - 1) if cost.cpu else 0
        peaks[place] = max(peaks[place], memory)
    return peaks


def main() -> None:
    """Simulates a tenth, then the whole."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--gigabytes", type=float, default=10.0, help="of all dump files together, decompressed")
    options.add_argument("--pages", type=int, default=100_000, help="web pages that articles of names cite")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--memory", default="1GB", help="of the database")
    options.add_argument("--port", type=int, default=PORT, help="of the web; addresses in the dump have it")
    options.add_argument("--keep", type=Path, help="a directory to work in; the same command continues there")
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = options.parse_args()
    shared = ["--workers", str(given.workers), "--memory", given.memory, "--concurrency", "64"]
    with ExitStack() as stack:
        directory = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        directory.mkdir(parents=True, exist_ok=True)
        small, large = (
            simulate(directory / name, given.gigabytes / part, given.pages // part, given.port, shared)
            for name, part in (("tenth", 10), ("whole", 1))
        )
    if given.json:
        print(msgspec.json.format(msgspec.json.encode([small, large]), indent=2).decode())
    else:
        print_table(small, large)


if __name__ == "__main__":
    main()
