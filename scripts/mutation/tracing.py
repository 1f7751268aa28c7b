"""Writes down which statements of the source each test executes, also in the processes that a test starts.

Each statement of the source gets a call before it that notes its line. Other packages run at full speed.
"""

from __future__ import annotations

import ast
import builtins
import functools
import os
from collections.abc import Callable
from types import CodeType
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
SOURCES = tuple(os.path.join(ROOT, name, "") for name in ("shadowprobe", "linkers", "retrievers", "readers", "probes"))  # noqa: PTH118
# What several tests share is executed by all tests of the file: imports, caches, and fixtures of more than one test.
ALL = ""
NOTE = "__note_line__"


class Tracer:
    """One line of output for each statement that a test executes: the test, the file and the line."""

    def __init__(self, output: str, test: str = ALL) -> None:
        self.test = test
        self.depth_of_shared = 0
        self._seen: set[tuple[str, str, int]] = set()
        # Written at once: a process may be killed.
        self._output = os.open(output, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def start(self) -> None:
        """Takes the notes of all modules that are compiled from now on."""
        functools.cache = self._share_cache(functools.cache)
        functools.lru_cache = self._share_cache(functools.lru_cache)
        setattr(builtins, NOTE, self.note)

    def note(self, path: str, line: int) -> None:
        """Notes a statement for the current test."""
        key = (ALL if self.depth_of_shared else self.test, path, line)
        if key not in self._seen:
            self._seen.add(key)
            os.write(self._output, "\t".join(map(str, key)).encode() + b"\n")

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


def compile_traced(source: str, path: str) -> CodeType:
    """The code of a source that notes its statements."""
    tree = ast.parse(source)
    for node in list(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if isinstance(statements, list):
                setattr(node, name, [part for statement in statements for part in _add_note(statement, path)])
    return compile(ast.fix_missing_locations(tree), path, "exec")


def _add_note(statement: ast.stmt, path: str) -> list[ast.stmt]:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    # A docstring and a future have to be the first.
    if is_text or is_future:
        return [statement]
    values: list[ast.expr] = [ast.Constant(path), ast.Constant(statement.lineno)]
    note = ast.Expr(ast.Call(ast.Name(NOTE, ast.Load()), values, []))
    return [ast.copy_location(note, statement), statement]


def trace_process(output: str) -> Tracer:
    """Traces a process that a test has started."""
    test, _, phase = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")
    # A process that was started before the test itself may serve several tests.
    tracer = Tracer(output, test if phase == "(call)" else ALL)
    tracer.start()
    return tracer
