"""A process that runs tests in copies of itself, so that pytest and other packages are imported only once.

It reads one request in JSON per line, and answers each with one line.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import site
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sitecustomize
from tracing import Tracer

# The first test that fails, or that takes too long (it has an endless loop), ends the others.
OPTIONS = [
    *("-q", "-p", "no:cacheprovider", "-m", "not slow", "-c", "pyproject.toml", "--rootdir", "."),
    # pytest would have imported its plugins later.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("-o", "faulthandler_exit_on_timeout=true", "-o"),
]
# Modules that only exist inside of their package.
_FAILED: set[str] = set()


class Traced:
    """Tells the tracer which test runs, and collects the time and the outcome of each."""

    def __init__(self, output: str) -> None:
        self.tests: dict[str, list[Any]] = {}
        self.tracer = Tracer(output)
        self.tracer.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Everything until the end of a test belongs to it."""
        self.tracer.test = item.nodeid
        yield
        self.tracer.test = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """A fixture of a whole module is made in its first test, and used by all."""
        is_shared = fixturedef.scope != "function"
        self.tracer.depth_of_shared += is_shared
        try:
            return (yield)
        finally:
            self.tracer.depth_of_shared -= is_shared

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds the time of one phase of a test."""
        seconds, has_passed = self.tests.get(report.nodeid, [0.0, True])
        self.tests[report.nodeid] = [round(seconds + report.duration, 3), has_passed and not report.failed]


class Chosen:
    """Runs chosen tests in a given order, and knows which one was the last."""

    def __init__(self, order: list[str], others: list[str], seconds: float, note: str) -> None:
        self.places = {test: place for place, test in enumerate(order)}
        self.others = set(others)
        self.end = time.monotonic() + seconds
        self.note = Path(note)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves out the known tests that were not chosen; a new name comes from a mutant that changes the names."""
        kept = [item for item in items if item.nodeid not in self.others]
        items[:] = sorted(kept, key=lambda item: self.places.get(item.nodeid, len(self.places)))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keeps the name of a file that cannot be imported."""
        if report.failed:
            self.note.write_text(report.nodeid, encoding="utf-8")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Keeps the name of a test before it starts, and starts none after the time is over."""
        if time.monotonic() > self.end:
            return True
        self.note.write_text(item.nodeid, encoding="utf-8")
        return None


def run_request(request: dict[str, Any]) -> int:
    """Runs the tests of a request in this process."""
    os.environ.update(request["environment"])
    options = [*OPTIONS, f"faulthandler_timeout={request['timeout']}", *request["files"]]
    if "traced" not in request:
        sitecustomize.change_modules()
        return int(pytest.main(["-x", *options], plugins=[Chosen(**request["chosen"])]))
    plugin = Traced(request["environment"]["SHADOWPROBE_TRACE"])
    sitecustomize.change_modules(plugin.tracer)
    status = int(pytest.main(options, plugins=[plugin]))
    answer = {"tests": plugin.tests, "packages": list_packages()}
    Path(request["traced"]).write_text(json.dumps(answer), encoding="utf-8")
    return status


def list_packages() -> list[str]:
    """The modules of other projects that this process has imported."""
    folders = (*site.getsitepackages(), sysconfig.get_path("stdlib"))
    files = {name: getattr(module, "__file__", None) or "" for name, module in list(sys.modules.items())}
    return [name for name, file in files.items() if "site-packages" in file or file.startswith(folders)]


def import_packages(names: list[str]) -> None:
    """Imports what the tests are going to import."""
    missing = [name for name in names if name not in sys.modules and name not in _FAILED]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in missing:
            try:
                importlib.import_module(name)
            except Exception:
                _FAILED.add(name)
    # The copies share the memory of what is imported here.
    gc.freeze()


def run_copy(request: dict[str, Any]) -> int:
    """Runs a request in a copy of this process, and ends every process that it leaves."""
    copy = os.fork()
    if not copy:
        status = 1
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            status = run_request(request)
        finally:
            os._exit(status)
    _, status = os.waitpid(copy, 0)
    with suppress(ProcessLookupError):
        os.killpg(copy, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    """Answers each request with the exit code of pytest."""
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        import_packages(request.get("packages", []))
        os.write(answers, f"{run_copy(request)}\n".encode())


if __name__ == "__main__":
    main()
