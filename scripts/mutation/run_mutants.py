"""Changes one place of the source at random and runs the tests of its module: do they notice?

`scripts/mutate --count N --seed S` tries N such mutants, the same ones for the same seed. `--only FILE:NUMBER` tries
one again. No file is changed: a mutant exists only in the memory of the processes that run its tests.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from mutants import find_places, mutate_source
from own_tests import ROOT, SOURCES, find_tests

# No further file of tests is started after this time: a mutant that passed until then counts as not noticed.
SECONDS = 120
# A file ends with the first test that fails, or that takes more than 90 s: that one has an endless loop.
PYTEST_OPTIONS = [
    *("-x", "-q", "-p", "no:cacheprovider", "-m", "not slow"),
    *("-o", "faulthandler_timeout=90", "-o", "faulthandler_exit_on_timeout=true"),
]
# All tests passed, or there was none.
PASSED = {0, 5}
GOAL = 0.9


class Mutant(NamedTuple):
    """A place in a file, by its number there."""

    path: Path
    number: int

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.number}"


def list_mutants() -> list[Mutant]:
    """Every place of the source that can be changed."""
    files = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    return [
        Mutant(path, number) for path in files for number, _ in enumerate(find_places(path.read_text(encoding="utf-8")))
    ]


def make_environment(compiled: Path) -> dict[str, str]:
    """The environment of the tests: with the hook for a mutant, and with what is compiled in a folder of its own."""
    hook = str(ROOT / "scripts" / "mutation")
    search = os.pathsep.join(filter(None, [hook, os.environ.get("PYTHONPATH", "")]))
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPATH": search, "PYTHONPYCACHEPREFIX": str(compiled)}


def run_tests(mutant: Mutant, environment: dict[str, str]) -> str | None:
    """The first test that fails with the mutant in place of the module; None if all pass."""
    environment = {**environment, "SHADOWPROBE_MUTANT": f"{mutant.path}:{mutant.number}"}
    end = time.monotonic() + SECONDS
    # One file after the other: the nearest one notices most mutants, and pytest would first import them all.
    for test in find_tests(mutant.path):
        if time.monotonic() > end:
            break
        command = [sys.executable, "-m", "pytest", *PYTEST_OPTIONS, test]
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        if ended.returncode not in PASSED:
            failed = re.search("^(?:FAILED|ERROR) (\\S+)", ended.stdout, flags=re.MULTILINE)
            # A test that does not end, and a module that cannot be imported, have no name there.
            name = failed[1] if failed else test
            check_healthy(name.partition("[")[0], environment["PYTHONPYCACHEPREFIX"])
            return name
    return None


@cache
def check_healthy(test: str, compiled: str) -> None:
    """Ends with a message if a test fails without a mutant too: it would notice every mutant."""
    command = [sys.executable, "-m", "pytest", *PYTEST_OPTIONS, test]
    environment = make_environment(Path(compiled))
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode not in PASSED:
        sys.exit(f"{test} fails without a mutant: mend it first")


def choose_mutants(arguments: argparse.Namespace) -> Iterator[Mutant]:
    """The mutants that a user asks for."""
    if arguments.only:
        name, _, number = arguments.only.rpartition(":")
        yield Mutant(ROOT / name, int(number))
        return
    mutants = list_mutants()
    yield from random.Random(arguments.seed).sample(mutants, min(arguments.count, len(mutants)))


def main() -> None:
    """Tries the mutants; exits with 1 where fewer than nine in ten are noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, help="how many mutants [100]")
    parser.add_argument("--seed", type=int, default=0, help="which ones [0]")
    parser.add_argument("--only", metavar="FILE:NUMBER", help="only this one")
    arguments = parser.parse_args()
    with TemporaryDirectory() as compiled:
        noticed, tried = try_mutants(choose_mutants(arguments), make_environment(Path(compiled)))
    print(f"{noticed} of {tried} mutants were noticed")
    sys.exit(noticed < GOAL * tried)


def try_mutants(mutants: Iterable[Mutant], environment: dict[str, str]) -> tuple[int, int]:
    """Prints every mutant with its change; returns how many were noticed, and how many there were."""
    noticed = tried = 0
    for mutant in mutants:
        _, line, change = mutate_source(mutant.path.read_text(encoding="utf-8"), mutant.number)
        failed = run_tests(mutant, environment)
        tried, noticed = tried + 1, noticed + (failed is not None)
        print(f"{'noticed ' if failed else 'SURVIVED'} {mutant} (line {line}: {change})", failed or "", flush=True)
    return noticed, tried


if __name__ == "__main__":
    main()
