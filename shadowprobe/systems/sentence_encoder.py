"""Loads a sentence-transformers model, for the linker and the retriever that compare vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from shadowprobe.errors import missing_extra
from shadowprobe.systems.hugging_face import handle_load_errors


def load_sentence_encoder(system: str, model: str, device: str, precision: str) -> Callable[[list[str]], Any]:
    """Loads a model; returns the function that encodes texts as vectors of length one."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise missing_extra("dense") from error
    with handle_load_errors(system, model):
        encoder: Any = SentenceTransformer(model, device=device)
    if precision == "double":
        encoder.double()
    return partial(
        encoder.encode, batch_size=64, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
    )
