"""Python reads this first where it is on the path: puts a mutant in the place of its module, or traces a process."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import traceback
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracing import Tracer

_get_code = importlib.machinery.SourceFileLoader.get_code
_exec_module = importlib.machinery.SourceFileLoader.exec_module
_tracers: list[Tracer] = []


def _is_mutated(path: str) -> bool:
    name = os.environ.get("SHADOWPROBE_MUTANT", "").rpartition(":")[0]
    return bool(name) and os.path.exists(path) and os.path.samefile(path, name)  # noqa: PTH110, PTH121


def _is_traced(path: str) -> bool:
    if not _tracers:
        # Nothing may be imported here: each import asks this question.
        return False
    from tracing import SOURCES

    return os.path.realpath(path).startswith(SOURCES)


def _get_changed_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
    path = self.get_filename(fullname)
    return _compile(path) if _is_mutated(path) or _is_traced(path) else _get_code(self, fullname)


def _exec_changed_module(self: importlib.machinery.SourceFileLoader, module: ModuleType) -> None:
    """Imports a module; what is executed then counts for all tests of a file."""
    if _tracers:
        _tracers[0].run_shared(_exec_module, self, module)
    else:
        _exec_module(self, module)


def _compile(path: str) -> CodeType:
    from mutants import mutate_source
    from tracing import compile_traced

    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        source = file.read()
    if _tracers:
        return compile_traced(source, path)
    tree, _, _ = mutate_source(source, int(os.environ["SHADOWPROBE_MUTANT"].rpartition(":")[2]))
    return compile(tree, path, "exec")


def _run_script(place: int) -> None:
    """Runs the changed script that Python was started with, which no loader reads, and ends."""
    sys.argv = sys.orig_argv[place:]
    path = sys.argv[0]
    sys.path.insert(0, os.path.dirname(path))  # noqa: PTH120
    status = 0
    try:
        exec(_compile(path), {**vars(sys.modules["__main__"]), "__file__": path})
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def change_modules(tracer: Tracer | None = None) -> None:
    """From now on, the mutant in the environment is imported in the place of its module, or all modules are traced."""
    _tracers.extend([tracer] if tracer else [])
    importlib.machinery.SourceFileLoader.get_code = _get_changed_code  # type: ignore[assignment,method-assign]
    importlib.machinery.SourceFileLoader.exec_module = _exec_changed_module  # type: ignore[assignment,method-assign]


def _change_process() -> None:
    """Changes the modules of this process, and its script, if the environment says so."""
    traced = os.environ.get("SHADOWPROBE_TRACE")
    if traced:
        from tracing import trace_process

        change_modules(trace_process(traced))
    elif os.environ.get("SHADOWPROBE_MUTANT"):
        change_modules()
    else:
        return
    for place, argument in enumerate(sys.orig_argv):
        if place and argument.endswith(".py") and (_is_mutated(argument) or _is_traced(argument)):
            _run_script(place)


_change_process()
