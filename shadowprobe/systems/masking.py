"""Masks secrets that a service repeats in its answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TypeVar

from msgspec.structs import replace

from shadowprobe.base.model import Candidate, Prediction
from shadowprobe.base.secrets import mask_secret, mask_secret_bytes

T = TypeVar("T", Candidate, Prediction)


def mask_secrets(secrets: Sequence[str], text: str) -> str:
    """A text without any of the secrets."""
    return reduce(lambda masked, secret: mask_secret(secret, masked), secrets, text)


def mask_content(secrets: Sequence[str], content: bytes) -> bytes:
    """Bytes without any of the secrets."""
    return reduce(lambda masked, secret: mask_secret_bytes(secret, masked), secrets, content)


def mask_prediction(secrets: Sequence[str], prediction: Prediction) -> Prediction:
    """A prediction without the secrets, in its answer and in its candidates."""
    # What a wrapper returns is checked later, and may be anything.
    if not secrets or not isinstance(prediction, Prediction):
        return prediction
    candidates = tuple(_mask_names(secrets, candidate) for candidate in prediction.candidates)
    return _mask_names(secrets, replace(prediction, candidates=candidates))


def _mask_names(secrets: Sequence[str], named: T) -> T:
    answer, qid = (mask_secrets(secrets, name) if isinstance(name, str) else name for name in (named.answer, named.qid))
    return replace(named, answer=answer, qid=qid)
