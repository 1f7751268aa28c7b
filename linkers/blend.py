"""Prior and context in a proportion that the user sets, which the probes should be able to measure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from shadowprobe import Entity

from .tfidf import TfidfLinker

# A candidate that shares nothing with the context gets a low probability, but not zero.
SMOOTHING = 0.01
# Cosines of short texts are similar. Their squares differ as much as priors do.
SHARPNESS = 2


class BlendLinker(TfidfLinker):
    """Log-prior against log-similarity; `-o weight=0` is context alone, `-o weight=1` prior alone."""

    name = "blend"
    option_help: ClassVar[dict[str, str]] = {
        "weight": "the share of the prior: 0 reads only the context, 1 only the prior",
    }

    def __init__(self, weight: float = 0.5) -> None:
        if not 0 <= weight <= 1:
            raise ValueError(f"weight is {weight:g}, and must be from 0 (context) to 1 (prior)")
        self.weight = weight

    def weigh(self, candidates: Sequence[Entity], scores: Sequence[float]) -> list[float]:
        """Returns the weighted mean of the two log-probabilities."""
        total = sum(scores) + SMOOTHING * len(scores)
        return [
            self.weight * math.log(prior) + (1 - self.weight) * SHARPNESS * math.log((score + SMOOTHING) / total)
            for prior, score in zip(self.knowledge.priors(candidates), scores, strict=True)
        ]
