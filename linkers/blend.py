"""The prior against the context, in a proportion that the user sets: the knob that the probes should read off."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shadowprobe import Entity, Snippet

from .prior import shares
from .tfidf import TfidfLinker

# A context that shares nothing with a candidate speaks against it, but not with certainty.
SMOOTHING = 0.01
# Cosines of short texts lie close together; their square sets them as far apart as priors are.
SHARPNESS = 2


class BlendLinker(TfidfLinker):
    """Log-prior against log-similarity; `-o weight=0` is context alone, `-o weight=1` prior alone."""

    name = "blend"

    def __init__(self, weight: float = 0.5) -> None:
        if not 0 <= weight <= 1:
            raise ValueError(f"weight is {weight:g}, and must be from 0 (context) to 1 (prior)")
        self.weight = weight

    def order(
        self, snippet: Snippet, candidates: tuple[Entity, ...], scores: Sequence[float]
    ) -> list[tuple[Entity, float]]:
        """Ranks by the weighted mean of the two log-probabilities."""
        total = sum(scores) + SMOOTHING * len(scores)
        blended = [
            self.weight * math.log(prior) + (1 - self.weight) * SHARPNESS * math.log((score + SMOOTHING) / total)
            for prior, score in zip(shares(candidates), scores, strict=True)
        ]
        return super().order(snippet, candidates, blended)
