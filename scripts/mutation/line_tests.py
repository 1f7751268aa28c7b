"""Which tests execute a line of a module, as a run without a mutant has shown."""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from own_tests import ROOT, TESTS, list_modules
from testing import CACHE, Tester

# pytest ran to its end, whether or not all tests passed.
COMPLETE = {0, 1, 5}


class FileTrace(NamedTuple):
    """What is stored of one file of tests."""

    key: str
    # The digest of every module when it was traced.
    modules: dict[str, str]
    # The seconds of each test; whether it passed is checked later, without the tracer.
    seconds: dict[str, float]
    # For each module and line, the tests that execute it; None if the file could not be traced to its end.
    lines: dict[str, dict[str, list[str]]] | None
    packages: list[str]

    def is_current(self, path: Path) -> bool:
        """True if a module is still as it was when it was traced."""
        return self.modules.get(_name(path)) == _digest(path)

    def find_tests(self, path: Path, line: int) -> list[str]:
        """The tests of the file that execute the statement at a line, the fastest first."""
        if self.lines is None:
            return sorted(self.seconds)
        tests = set(self.lines.get(_name(path), {}).get(str(line), []))
        chosen = self.seconds if "" in tests else tests & self.seconds.keys()
        return sorted(chosen, key=lambda test: (self.seconds[test], test))


def read_trace(file: str) -> FileTrace | None:
    """The stored trace of a file of tests; None if there is none, or if the file has changed since."""
    stored = _name_stored(file)
    if not stored.exists():
        return None
    trace = FileTrace(**json.loads(stored.read_text(encoding="utf-8")))
    return trace if trace.key == _digest_all(file) else None


def make_trace(file: str, tester: Tester) -> FileTrace:
    """Traces a file of tests, and stores the trace if it is complete."""
    trace = _trace(file, _digest_all(file), tester)
    if trace.lines is None and not trace.seconds:
        sys.exit(f"{file} cannot be run: `python -m pytest {file}` says why")
    if trace.lines is not None:
        stored = _name_stored(file)
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(json.dumps(trace._asdict()), encoding="utf-8")
    return trace


def _name_stored(file: str) -> Path:
    return CACHE / "traces" / f"{file.replace('/', '.')}.json"


def _trace(file: str, key: str, tester: Tester) -> FileTrace:
    made = tester.trace(file)
    lines: dict[str, dict[str, list[str]]] = {}
    for test, path, line in (row.split("\t") for row in made.lines.splitlines()):
        lines.setdefault(_name(Path(path)), {}).setdefault(line, []).append(test)
    modules = {_name(path): _digest(path) for path in list_modules()}
    seconds = {test: seconds for test, (seconds, _) in made.tests.items()}
    return FileTrace(key, modules, seconds, lines if made.status in COMPLETE else None, made.packages)


def find_statement(source: str, line: int) -> int:
    """The first line of the smallest statement with a line: the parts of one statement are executed together."""
    statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    around = [node for node in statements if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return min(around, key=lambda node: (node.end_lineno or node.lineno) - node.lineno).lineno


@cache
def _digest_all(file: str) -> str:
    """The digest of a file of tests and of what all tests share."""
    shared = [TESTS / "conftest.py", *sorted((TESTS / "support").rglob("*.py"))]
    return hashlib.sha256("".join(map(_digest, [ROOT / file, *shared])).encode()).hexdigest()


@cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
