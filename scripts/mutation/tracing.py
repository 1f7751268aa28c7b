"""Writes down which lines of the source each test executes, also in the processes that a test starts."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
SOURCES = tuple(os.path.join(ROOT, name, "") for name in ("shadowprobe", "linkers", "retrievers", "readers", "probes"))  # noqa: PTH118
# What several tests share is executed by all tests of the file: imports, caches, and fixtures of more than one test.
ALL = ""


class Tracer:
    """One line of output for each line of the source that a test executes: the test, the file and the line."""

    def __init__(self, output: str, test: str = ALL) -> None:
        self.test = test
        self.depth_of_shared = 0
        # The lines of each function that the test has not executed yet: a function without them is not traced.
        self._missing: dict[tuple[str, int], set[int]] = {}
        # Kept, so that no other one gets its number.
        self._codes: list[CodeType] = []
        # Written at once: a process may be killed.
        self._output = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def start(self) -> None:
        """Traces this thread and all later ones."""
        functools.cache = self._share_cache(functools.cache)
        functools.lru_cache = self._share_cache(functools.lru_cache)
        threading.settrace(self._trace_call)
        sys.settrace(self._trace_call)

    def _trace_call(self, frame: FrameType, event: str, value: object) -> Any:
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        # The body of a module or a class is executed once, whichever test is the first to import it.
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return self._trace_line if self._find_missing(frame.f_code) else None
        self.depth_of_shared += 1
        return self._trace_import

    def _trace_import(self, frame: FrameType, event: str, value: object) -> Any:
        self._trace_line(frame, event, value)
        self.depth_of_shared -= event == "return"
        return self._trace_import

    def _trace_line(self, frame: FrameType, event: str, value: object) -> Any:
        missing = self._find_missing(frame.f_code)
        if frame.f_lineno in missing:
            missing.remove(frame.f_lineno)
            row = (self._find_test(), frame.f_code.co_filename, str(frame.f_lineno))
            os.write(self._output, "\t".join(row).encode() + b"\n")
        return self._trace_line

    def _find_missing(self, code: CodeType) -> set[int]:
        key = (self._find_test(), id(code))
        if key not in self._missing:
            self._missing[key] = {line for _, _, line in code.co_lines() if line}
            self._codes.append(code)
        return self._missing[key]

    def _find_test(self) -> str:
        return ALL if self.depth_of_shared else self.test

    def run_shared(self, function: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """Calls a function whose lines count for all tests of the file."""
        self.depth_of_shared += 1
        try:
            return function(*values, **options)
        finally:
            self.depth_of_shared -= 1

    def _share_cache(self, decorate: Callable[..., Any]) -> Callable[..., Any]:
        """The same decorator, with which the first call counts for all tests: it is the only one that is executed."""

        def decorate_shared(first: Any = None, *values: Any, **options: Any) -> Any:
            if not callable(first):
                decorate_next = decorate(*(() if first is None else (first,)), *values, **options)
                return lambda function: decorate_next(self._share(function))
            return decorate(self._share(first), *values, **options)

        return decorate_shared

    def _share(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(function)(functools.partial(self.run_shared, function))


def trace_process(output: str) -> None:
    """Traces a process that a test has started."""
    test, _, phase = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")
    # A process that was started before the test itself may serve several tests.
    Tracer(output, test if phase == "(call)" else ALL).start()
