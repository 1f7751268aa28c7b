"""Changes one place of the source at random and runs the tests of its module: do they notice?

`scripts/mutate --count N --seed S` tries N such mutants, the same ones for the same seed. `--only FILE:NUMBER` tries
one again. No file is changed: a mutant exists only in the memory of the processes that run its tests.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mutants import find_places, mutate_source

ROOT = Path(__file__).resolve().parents[2]

SOURCES = ("shadowprobe", "linkers", "retrievers", "probes")
# Longer than the tests of any module take; an endless loop counts as noticed.
SECONDS = 300
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


def find_tests(path: Path) -> list[str]:
    """The test files of a module: those with its name, and those that import it.

    A module without such tests is tested through the modules that import it, or by the tests of its folder.
    """
    sources = [path]
    tests = _find_own_tests(path)
    while not tests and (importers := _find_importers(sources)):
        sources = importers
        tests = [test for importer in importers for test in _find_own_tests(importer)]
    folder = ROOT / "tests" / path.relative_to(ROOT).parent
    while not tests:
        tests, folder = sorted(folder.glob("test_*.py")), folder.parent
    return [str(test.relative_to(ROOT)) for test in dict.fromkeys(tests)]


def _find_own_tests(path: Path) -> list[Path]:
    stem = path.stem if path.stem != "__init__" else path.parent.name
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    named = [test for test in tests if test.stem in {f"test_{stem}", f"test_{stem}_command", f"test_{stem}_probe"}]
    return [*named, *(test for test in tests if _imports(test, path))]


def _find_importers(paths: list[Path]) -> list[Path]:
    """The modules of the package that import one of some others."""
    files = [file for folder in SOURCES for file in sorted((ROOT / folder).rglob("*.py"))]
    return [file for file in files if file not in paths and any(_imports(file, path) for path in paths)]


def _imports(file: Path, path: Path) -> bool:
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = ".".join(parts if parts[0] == "shadowprobe" else ("shadowprobe", *parts)).removesuffix(".__init__")
    owner, _, name = module.rpartition(".")
    source = file.read_text(encoding="utf-8")
    return any(line in source for line in (f"from {module} import", f"import {module}", f"from {owner} import {name}"))


def is_noticed(mutant: Mutant) -> bool:
    """True if a test fails with the mutant in place of the module."""
    hook = str(ROOT / "scripts" / "mutation")
    search = os.pathsep.join(filter(None, [hook, os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "SHADOWPROBE_MUTANT": f"{mutant.path}:{mutant.number}", "PYTHONPATH": search}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *find_tests(mutant.path)]
    try:
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return True
    # 5: no test was collected.
    return ended.returncode not in {0, 5}


def choose_mutants(arguments: argparse.Namespace) -> Iterator[Mutant]:
    """The mutants that a user asks for."""
    if arguments.only:
        name, _, number = arguments.only.rpartition(":")
        yield Mutant(ROOT / name, int(number))
        return
    mutants = list_mutants()
    yield from random.Random(arguments.seed).sample(mutants, min(arguments.count, len(mutants)))


def main() -> None:
    """Prints every mutant with its change; exits with 1 where fewer than nine in ten are noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, help="how many mutants [100]")
    parser.add_argument("--seed", type=int, default=0, help="which ones [0]")
    parser.add_argument("--only", metavar="FILE:NUMBER", help="only this one")
    arguments = parser.parse_args()
    noticed = tried = 0
    for mutant in choose_mutants(arguments):
        _, line, change = mutate_source(mutant.path.read_text(encoding="utf-8"), mutant.number)
        seen = is_noticed(mutant)
        tried, noticed = tried + 1, noticed + seen
        print(f"{'noticed ' if seen else 'SURVIVED'} {mutant} (line {line}: {change})", flush=True)
    print(f"{noticed} of {tried} mutants were noticed")
    sys.exit(noticed < GOAL * tried)


if __name__ == "__main__":
    main()
