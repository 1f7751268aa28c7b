"""Masks a token that a service repeats in its answer."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from shadowprobe.base.model import Candidate, Prediction
from shadowprobe.base.secrets import mask_secret

T = TypeVar("T", Candidate, Prediction)


def mask_prediction(secret: str, prediction: Prediction) -> Prediction:
    """A prediction without the secret, in its answer and in its candidates."""
    # What a wrapper returns is checked later, and may be anything.
    if not secret or not isinstance(prediction, Prediction):
        return prediction
    candidates = tuple(_mask_names(secret, candidate) for candidate in prediction.candidates)
    return _mask_names(secret, replace(prediction, candidates=candidates))


def _mask_names(secret: str, named: T) -> T:
    answer, qid = (mask_secret(secret, name) if isinstance(name, str) else name for name in (named.answer, named.qid))
    return replace(named, answer=answer, qid=qid)
