"""Python reads this first where it is on the path: puts the mutant in the place of its module."""

from __future__ import annotations

import importlib.machinery
import os
from types import CodeType

_NAME, _, _NUMBER = os.environ.get("SHADOWPROBE_MUTANT", "").rpartition(":")
_get_code = importlib.machinery.SourceFileLoader.get_code


def _get_mutated_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
    path = self.get_filename(fullname)
    if not _NAME or not os.path.exists(path) or not os.path.samefile(path, _NAME):  # noqa: PTH110, PTH121
        return _get_code(self, fullname)
    from mutants import mutate_source

    tree, _, _ = mutate_source(self.get_data(path).decode(), int(_NUMBER))
    return compile(tree, path, "exec")


if _NAME:
    importlib.machinery.SourceFileLoader.get_code = _get_mutated_code  # type: ignore[assignment,method-assign]
