"""Loads one of DPR's two encoders, for questions or for passages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shadowprobe.errors import missing_extra
from shadowprobe.systems.hugging_face import handle_load_errors

# The longest text in tokens, as in DPR's own code.
LONGEST = 256
BATCH = 64


def load_dpr_model(
    system: str, name: str, device: str, *, of_questions: bool, option: str = "-o model=DIR"
) -> tuple[Any, Any]:
    """Loads an encoder and its tokenizer."""
    try:
        from transformers import AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder
    except ImportError as error:
        raise missing_extra("dense") from error
    kind: Any = DPRQuestionEncoder if of_questions else DPRContextEncoder
    with handle_load_errors(system, name, option):
        return kind.from_pretrained(name).to(device).eval(), AutoTokenizer.from_pretrained(name)


def tokenize_columns(tokenizer: Any, *columns: list[str]) -> Any:
    """The tokens of texts, or of titles and texts."""
    return tokenizer(*columns, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")


def load_dpr_encoder(system: str, name: str, device: str, precision: str, *, of_questions: bool) -> Callable[..., Any]:
    """Loads an encoder; returns the function that encodes columns: texts, or titles and texts."""
    try:
        import torch
    except ImportError as error:
        raise missing_extra("dense") from error
    encoder, tokenizer = load_dpr_model(system, name, device, of_questions=of_questions)
    if precision == "double":
        encoder.double()

    def encode(*columns: list[str]) -> Any:
        pieces = []
        for start in range(0, len(columns[0]), BATCH):
            tokens = tokenize_columns(tokenizer, *(column[start : start + BATCH] for column in columns))
            with torch.no_grad():
                pieces.append(encoder(**tokens.to(device)).pooler_output.cpu().numpy())
        return np.concatenate(pieces)

    return encode
