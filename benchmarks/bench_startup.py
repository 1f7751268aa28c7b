"""How long `shadowprobe --help` takes, against the import of the libraries that draw a command line.

The two are started in turn, so that a busy moment of the machine meets both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from goals import Goal, Measured, parser, show

LIMIT = 1.5
STARTS = 15
BASELINE = [sys.executable, "-c", "import typer, rich.console"]


def help_command() -> list[str]:
    """The installed command, or what it does where the package is only on the path."""
    script = Path(sysconfig.get_path("scripts")) / "shadowprobe"
    if script.exists():
        return [str(script), "--help"]
    return [sys.executable, "-c", "from shadowprobe.cli import main; main()", "--help"]


def seconds(command: list[str]) -> float:
    """Wall time of one process."""
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def measure(starts: int = STARTS) -> Measured:
    """Medians over the starts of each."""
    command = help_command()
    # Once before the clock runs: the first start may have to compile, and reads from the disk.
    seconds(command)
    seconds(BASELINE)
    helps, baselines = [], []
    for _ in range(starts):
        helps.append(seconds(command))
        baselines.append(seconds(BASELINE))
    ratio = statistics.median(helps) / statistics.median(baselines)
    return Measured(
        Goal(
            f"`shadowprobe --help`: at most {LIMIT:g} times `python -c 'import typer, rich.console'`",
            ratio,
            "times",
            ratio <= LIMIT,
        ),
        {
            "starts of each": starts,
            "shadowprobe --help, median s": statistics.median(helps),
            "baseline: import typer, rich.console, median s": statistics.median(baselines),
        },
    )


def main() -> None:
    """Measures the installed command."""
    given = parser(__doc__).parse_args()
    show(measure(), json=given.json)


if __name__ == "__main__":
    main()
