"""The size of a report of many names, and the memory that writing it needs.

The dataset has the shape of the release, with 50,000 names instead of 904. A child process writes the report of a
finished run of `prior` over it. It reads the run first; what that alone needs is given too.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from goals import Goal, Measured, parser, peak, show

from shadowprobe.reporting.html.page import write_report
from shadowprobe.running.finished import read_runs

NAMES = 50_000
SIZE_LIMIT, MEMORY_LIMIT = 15.0, 300.0


class Written(msgspec.Struct, frozen=True):
    """A report that was written, in megabytes and seconds."""

    size: float
    peak: float
    # The peak when the run was read and nothing was written yet.
    reading: float
    seconds: float


def child(directory: str, out: str) -> None:
    """Writes the report and prints what it took."""
    runs = read_runs([Path(directory)])
    # Not kept: the report frees them as soon as it can.
    len(runs[0].answers)
    reading = peak() / 1e6
    started = time.perf_counter()
    path = write_report(runs, Path(out))
    seconds = time.perf_counter() - started
    written = Written(path.stat().st_size / 1e6, peak() / 1e6, reading, seconds)
    print(msgspec.json.encode(written).decode())


def measure(scratch: Path, names: int) -> Measured:
    """The report of a run over so many names."""
    # Not in the child, whose memory is measured.
    from synthetic import RELEASE_SNIPPETS, RELEASE_SPACES, Shape

    from shadowprobe import run

    Shape(names, names * (RELEASE_SNIPPETS // RELEASE_SPACES), natural=True).stream(scratch / "dataset")
    run("prior", str(scratch / "dataset"), out=scratch / "run")
    command = [sys.executable, __file__, "--child", str(scratch / "run"), str(scratch / "report.html")]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    written = msgspec.json.decode(done.stdout, type=Written)
    worst = max(written.size / SIZE_LIMIT, written.peak / MEMORY_LIMIT)
    return Measured(
        Goal(
            f"report of {names:,} names: at most {SIZE_LIMIT:g} MB, and {MEMORY_LIMIT:g} MB of memory to write it",
            worst,
            "times the limit",
            worst <= 1,
        ),
        {
            "size of the file, MB": written.size,
            "peak memory, MB": written.peak,
            "peak memory of reading the run alone, MB": written.reading,
            "time to write it, s": written.seconds,
        },
    )


def main() -> None:
    """Measures the report."""
    options = parser(__doc__)
    options.add_argument("--names", type=int, default=NAMES, help="how many names [%(default)s]")
    options.add_argument("--child", nargs=2, metavar=("RUN", "OUT"), help="write one report and print what it took")
    given = options.parse_args()
    if given.child:
        child(*given.child)
        return
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory), given.names), json=given.json)


if __name__ == "__main__":
    main()
