"""How the models of Hugging Face are loaded: without a progress bar, and with one line where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shadowprobe import LinkerError

# So many seconds the hub may take to say that it is there.
PATIENCE = 10.0


@contextmanager
def loading(linker: str, model: str) -> Iterator[None]:
    """Says of whatever goes wrong inside that the linker's model cannot be loaded."""
    from transformers.utils import logging

    # Progress is the runner's to show, and only on a terminal.
    silence: Any = logging.disable_progress_bar
    silence()
    try:
        with _without_a_dead_hub(model):
            yield
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise LinkerError(
            f"`{linker}` cannot load the model `{model}`; give a directory that holds one with"
            f" -o model=DIR ({type(error).__name__}: {reason})"
        ) from error


@contextmanager
def _without_a_dead_hub(model: str) -> Iterator[None]:
    """Leaves a hub that does not answer alone: each file would be asked for six times, and may be in the cache."""
    if Path(model).exists() or _hub_answers(model):
        yield
        return
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _hub_answers(model: str) -> bool:
    """True where the hub says anything, be it that it has no such model."""
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(model, timeout=PATIENCE)
    except Exception as error:
        # A name that can be none is refused before anything is asked, and in better words than ours.
        return isinstance(error, ValueError) or getattr(error, "response", None) is not None
    return True
