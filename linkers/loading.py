"""How the models of Hugging Face are loaded: without a progress bar, and with one line where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shadowprobe import LinkerError


@contextmanager
def loading(linker: str, model: str) -> Iterator[None]:
    """Says of whatever goes wrong inside that the linker's model cannot be loaded."""
    from transformers.utils import logging

    # Progress is the runner's to show, and only on a terminal.
    silence: Any = logging.disable_progress_bar
    silence()
    try:
        yield
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise LinkerError(
            f"`{linker}` cannot load the model `{model}`; give a directory that holds one with"
            f" -o model=DIR ({type(error).__name__}: {reason})"
        ) from error
