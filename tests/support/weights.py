"""The real language models that tests use, where their packages are installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from shadowprobe import LinkerError

# By its name, since type checkers do not see where the folder is installed.
causal_model: Any = import_module("shadowprobe.systems.causal_model")


def require_weights(model: str) -> str:
    """The name of the model; skips if its weights are not installed."""
    for package in ("torch", "transformers", "gguf"):
        pytest.importorskip(package, reason="the extra [lm] is not installed", exc_type=ImportError)
    try:
        causal_model.find_weights("lm", model)
    except LinkerError as error:
        pytest.skip(str(error))
    return model
