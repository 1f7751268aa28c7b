"""Python reads this first where it is on the path: puts the mutant in the place of its module."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import traceback
from types import CodeType

_NAME, _, _NUMBER = os.environ.get("SHADOWPROBE_MUTANT", "").rpartition(":")
_get_code = importlib.machinery.SourceFileLoader.get_code


def _is_mutated(path: str) -> bool:
    return bool(_NAME) and os.path.exists(path) and os.path.samefile(path, _NAME)  # noqa: PTH110, PTH121


def _get_mutated_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
    path = self.get_filename(fullname)
    return _compile(path) if _is_mutated(path) else _get_code(self, fullname)


def _compile(path: str) -> CodeType:
    from mutants import mutate_source

    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        tree, _, _ = mutate_source(file.read(), int(_NUMBER))
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


if _NAME:
    importlib.machinery.SourceFileLoader.get_code = _get_mutated_code  # type: ignore[assignment,method-assign]
    for _place, _argument in enumerate(sys.orig_argv):
        if _place and _argument.endswith(".py") and _is_mutated(_argument):
            _run_script(_place)
