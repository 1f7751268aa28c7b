"""Runs tests for the mutants in a server process: traced, or chosen ones with a mutant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

from own_tests import ROOT

# What is known about tests, and what Python has compiled.
CACHE = ROOT / ".cache" / "mutation"
# No further test is started after this time: a mutant that passed until then counts as not noticed.
SECONDS = 120
# A test that takes longer has an endless loop; traced tests are slower.
TEST_SECONDS, TRACED_SECONDS = 90, 600
# All tests passed, or there was none.
PASSED = {0, 5}


class Trace(NamedTuple):
    """What a file of tests did without a mutant."""

    status: int
    # The seconds of each test, and whether it passed.
    tests: dict[str, tuple[float, bool]]
    # The test, the file and the line, one of each per line.
    lines: str
    packages: list[str]


class Tester:
    """A server process that runs tests. Its packages stay imported."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        # A tracer makes imports slow: what one file has imported is there for the next.
        self._packages: list[str] = []
        hook = str(ROOT / "scripts" / "mutation")
        search = os.pathsep.join(filter(None, [hook, os.environ.get("PYTHONPATH", "")]))
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._server = subprocess.Popen(
            [sys.executable, str(ROOT / "scripts" / "mutation" / "pytest_server.py")],
            cwd=ROOT,
            env={**kept, "PYTHONPATH": search, "PYTHONPYCACHEPREFIX": str(CACHE / "compiled")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.communicate()
        self._folder.cleanup()

    def trace(self, file: str) -> Trace:
        """Runs a file of tests without a mutant."""
        lines, traced = Path(self._folder.name, "lines"), Path(self._folder.name, "traced")
        lines.write_text("")
        traced.write_text('{"tests": {}, "packages": []}')
        status = self._ask(
            files=[file],
            timeout=TRACED_SECONDS,
            environment={"SHADOWPROBE_TRACE": str(lines)},
            traced=str(traced),
            packages=self._packages,
        )
        trace = Trace(status, **json.loads(traced.read_text()), lines=lines.read_text())
        self._packages = trace.packages
        return trace

    def run(self, order: list[str], others: list[str], packages: list[str], mutant: str = "") -> str | None:
        """The first of some tests that fails, in this order; None if all pass."""
        note = Path(self._folder.name, "note")
        files = list(dict.fromkeys(test.partition("::")[0] for test in order))
        note.write_text(files[0])
        status = self._ask(
            files=files,
            timeout=TEST_SECONDS,
            environment={"SHADOWPROBE_MUTANT": mutant},
            chosen={"order": order, "others": others, "seconds": SECONDS, "note": str(note)},
            packages=packages,
        )
        return None if status in PASSED else note.read_text()

    def _ask(self, **request: Any) -> int:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())
