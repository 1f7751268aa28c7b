"""Loads models of Hugging Face without a progress bar, and with clear errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shadowprobe import LinkerError

# The time limit in seconds for a first answer of the hub.
HUB_TIMEOUT = 10.0


@contextmanager
def handle_load_errors(linker: str, model: str, option: str = "-o model=DIR") -> Iterator[None]:
    """Turns any error inside into one that says that the linker's model cannot be loaded, and which option names it."""
    from transformers.utils import logging

    # The run shows its own progress, and only on a terminal.
    silence: Any = logging.disable_progress_bar
    silence()
    try:
        with _avoid_dead_hub(model):
            yield
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise LinkerError(
            f"`{linker}` cannot load the model `{model}`; give a directory that holds one with"
            f" {option} ({type(error).__name__}: {reason})"
        ) from error


@contextmanager
def _avoid_dead_hub(model: str) -> Iterator[None]:
    """Works offline if the hub does not answer: each file would be requested six times, and may be in the cache."""
    if Path(model).exists() or _is_hub_alive(model):
        yield
        return
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _is_hub_alive(model: str) -> bool:
    """True if the hub gives any answer, for example that it has no such model."""
    from huggingface_hub import HfApi

    try:
        HfApi().model_info(model, timeout=HUB_TIMEOUT)
    except Exception as error:
        # An invalid name is refused without a request, with a better message than ours.
        return isinstance(error, ValueError) or getattr(error, "response", None) is not None
    return True
