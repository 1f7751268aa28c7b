"""Changes one place of the source at random and runs the tests that execute it: do they notice?

`scripts/mutate --count N --seed S` tries N such mutants, the same ones for the same seed. `--only FILE:NUMBER` tries
one again. No file is changed: a mutant exists only in the memory of the processes that run its tests.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import NamedTuple, TypeVar

from line_tests import FileTrace, find_statement, make_trace, read_trace
from mutants import find_places, mutate_source
from own_tests import ROOT, SOURCES, find_tests
from testing import Tester

GOAL = 0.9
Item = TypeVar("Item")
Value = TypeVar("Value")


class Mutant(NamedTuple):
    """A place in a file, by its number there."""

    path: Path
    number: int

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.number}"


class Outcome(NamedTuple):
    """Whether a mutant was noticed, and by which test, or why not."""

    is_noticed: bool
    reason: str = ""


def list_mutants(under: Sequence[Path]) -> list[Mutant]:
    """Every place of the source that can be changed, below some folders or in some files."""
    files = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    chosen = [path for path in files if not under or any(path.is_relative_to(folder) for folder in under)]
    return [
        Mutant(path, number)
        for path in chosen
        for number, _ in enumerate(find_places(path.read_text(encoding="utf-8")))
    ]


def choose_mutants(arguments: argparse.Namespace) -> list[Mutant]:
    """The mutants that a user asks for."""
    if arguments.only:
        name, _, number = arguments.only.rpartition(":")
        return [Mutant(ROOT / name, int(number))]
    mutants = list_mutants([Path(name).resolve() for name in arguments.under])
    return random.Random(arguments.seed).sample(mutants, min(arguments.count, len(mutants)))


class Trial:
    """Tries mutants with one or several servers at a time."""

    def __init__(self, testers: Sequence[Tester]) -> None:
        self._testers: SimpleQueue[Tester] = SimpleQueue()
        for tester in testers:
            self._testers.put(tester)
        self._workers = ThreadPoolExecutor(len(testers))
        # Tests that pass without a mutant, and those that fail.
        self._healthy: set[str] = set()
        self._broken: set[str] = set()
        self._traces: dict[str, FileTrace] = {}
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    def _map(self, function: Callable[[Tester, Item], Value], items: Sequence[Item]) -> Iterator[Value]:
        """Calls a function for each item, with a server that is free."""

        def call(item: Item) -> Value:
            tester = self._testers.get()
            try:
                return function(tester, item)
            finally:
                self._testers.put(tester)

        return self._workers.map(call, items)

    def run(self, mutants: Sequence[Mutant]) -> tuple[int, int]:
        """Prints every mutant with its change; returns how many were noticed, and how many there were."""
        noticed = tried = 0
        for mutant, outcome in zip(mutants, self._map(self._try, mutants), strict=True):
            _, line, change = mutate_source(mutant.path.read_text(encoding="utf-8"), mutant.number)
            tried, noticed = tried + 1, noticed + outcome.is_noticed
            word = "noticed " if outcome.is_noticed else "SURVIVED"
            print(f"{word} {mutant} (line {line}: {change})", outcome.reason, flush=True)
        return noticed, tried

    def _try(self, tester: Tester, mutant: Mutant) -> Outcome:
        """The outcome of the tests that execute the changed line."""
        source = mutant.path.read_text(encoding="utf-8")
        line = find_statement(source, mutate_source(source, mutant.number)[1])
        is_executed = False
        # The nearest file notices most mutants: then the others need not be traced.
        for files in find_tests(mutant.path):
            traces = [self._read_trace(file, mutant.path, tester) for file in files]
            order = [test for trace in traces for test in trace.find_tests(mutant.path, line)]
            packages = [name for trace in traces for name in trace.packages]
            while order := [test for test in order if not self._broken & _name_parts(test)]:
                is_executed = True
                others = [test for trace in traces for test in trace.seconds if test not in set(order)]
                failed = tester.run(order, others, packages, f"{mutant.path}:{mutant.number}")
                if failed is None:
                    break
                if self._is_healthy(failed.partition("[")[0], tester):
                    return Outcome(True, failed)
        return Outcome(False, "" if is_executed else "no test executes this line")

    def _read_trace(self, file: str, module: Path, tester: Tester) -> FileTrace:
        """What a file of tests executes, from a run with the module as it is now."""
        with self._locks[file]:
            trace = self._traces.get(file) or read_trace(file)
            if trace is None or not trace.is_current(module):
                trace = make_trace(file, tester)
            self._traces[file] = trace
        return trace

    def _is_healthy(self, test: str, tester: Tester) -> bool:
        """True if a test passes without a mutant: any other would notice every mutant, and is left out."""
        if test not in self._healthy | self._broken:
            (self._healthy if tester.run([test], [], []) is None else self._broken).add(test)
        return test in self._healthy


def _name_parts(test: str) -> set[str]:
    """The names of the file and of the function of a test."""
    return {test.partition("::")[0], test.partition("[")[0]}


def check_installed() -> None:
    """Ends with a message if the tests would import another copy of the package than the one that is changed."""
    package = find_spec("shadowprobe")
    if package is None or not package.origin or not Path(package.origin).is_relative_to(ROOT):
        sys.exit(f"{sys.executable} does not have shadowprobe from {ROOT}: ./scripts/test makes an environment with it")


def main() -> None:
    """Tries the mutants; exits with 1 where fewer than nine in ten are noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, help="how many mutants [100]")
    parser.add_argument("--seed", type=int, default=0, help="which ones [0]")
    parser.add_argument("--under", metavar="PATH", nargs="+", default=[], help="only in these folders or files")
    parser.add_argument("--only", metavar="FILE:NUMBER", help="only this one")
    parser.add_argument("--workers", type=int, default=1, help="how many at a time [1]")
    arguments = parser.parse_args()
    check_installed()
    with ExitStack() as stack:
        trial = Trial([stack.enter_context(Tester()) for _ in range(arguments.workers)])
        noticed, tried = trial.run(choose_mutants(arguments))
    print(f"{noticed} of {tried} mutants were noticed")
    sys.exit(noticed < GOAL * tried)


if __name__ == "__main__":
    main()
