"""Foreign formats, one file each; `READERS` names those that `shadowprobe import` takes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from shadowprobe.errors import InputError, UsageError, nearest
from shadowprobe.formats.imported import Imported

# Named by module, so that listing the formats imports none of them.
READERS = {
    "shadowlink": "shadowprobe.formats.shadowlink",
    "zelda": "shadowprobe.formats.zelda",
}


def read(format_name: str, paths: Sequence[Path]) -> Imported:
    """Reads a foreign dataset."""
    if format_name not in READERS:
        known = ", ".join(READERS)
        raise UsageError(f"unknown format `{format_name}`{nearest(format_name, READERS)}: choose from {known}")
    module = importlib.import_module(READERS[format_name])
    imported = cast(Callable[[Sequence[Path]], Imported], module.read)(paths)
    if not any(imported.snippets.values()):
        raise InputError(paths[0], "has no mention that could be taken")
    return imported
