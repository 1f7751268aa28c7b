"""Kills runs of every kind, the making of sets and a build at random points of their work, and lets them go on.

`scripts/kill --count 20` kills each of them so often. No answer may be lost, none that is stored may be asked for
again, and in the end all files must be those of a run that was never disturbed. Exit 1: something differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from killing import NAMES, kill_repeatedly, make_victim


def main(arguments: Sequence[str] | None = None) -> int:
    """Kills what the options name; returns 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="kills of each command")
    parser.add_argument("--seed", type=int, default=7, help="the same seed draws the same points of the work")
    parser.add_argument("--only", choices=NAMES, help="kill only this command")
    options = parser.parse_args(arguments)
    has_problems = False
    for name in (options.only,) if options.only else NAMES:
        with (
            tempfile.TemporaryDirectory(prefix="shadowprobe-kill-") as directory,
            make_victim(name, Path(directory)) as victim,
        ):
            report = kill_repeatedly(victim, options.count, Random(f"{options.seed}-{name}"))
        print(report.describe(), flush=True)
        for problem in report.problems:
            print(f"  {problem}", flush=True)
        has_problems = has_problems or bool(report.problems)
    return int(has_problems)


if __name__ == "__main__":
    sys.exit(main())
