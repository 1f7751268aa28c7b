"""Python reads this first where it is on the path: puts a mutant in the place of its module, or traces a process."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import traceback
from types import CodeType

_get_code = importlib.machinery.SourceFileLoader.get_code


def _is_mutated(path: str) -> bool:
    name = os.environ.get("SHADOWPROBE_MUTANT", "").rpartition(":")[0]
    return bool(name) and os.path.exists(path) and os.path.samefile(path, name)  # noqa: PTH110, PTH121


def _get_mutated_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
    path = self.get_filename(fullname)
    return _compile(path) if _is_mutated(path) else _get_code(self, fullname)


def _compile(path: str) -> CodeType:
    from mutants import mutate_source

    number = os.environ["SHADOWPROBE_MUTANT"].rpartition(":")[2]
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        tree, _, _ = mutate_source(file.read(), int(number))
    return compile(tree, path, "exec")


def _run_script(place: int) -> None:
    """Runs the mutant of the script that Python was started with, which no loader reads, and ends."""
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


def put_mutant_in_place() -> None:
    """From now on, the mutant in the environment is imported in the place of its module."""
    importlib.machinery.SourceFileLoader.get_code = _get_mutated_code  # type: ignore[assignment,method-assign]


if os.environ.get("SHADOWPROBE_MUTANT"):
    put_mutant_in_place()
    for _place, _argument in enumerate(sys.orig_argv):
        if _place and _argument.endswith(".py") and _is_mutated(_argument):
            _run_script(_place)
if os.environ.get("SHADOWPROBE_TRACE"):
    from tracing import trace_process

    trace_process(os.environ["SHADOWPROBE_TRACE"])
