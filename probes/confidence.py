"""Figure 5 of the paper in numbers: can the score tell a context that says something from one that does not?"""

from __future__ import annotations

from typing import Any

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.dataset.dataset import SUBSETS
from shadowprobe.measure.answer_columns import Floats
from shadowprobe.measure.statistics import auroc

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


class ConfidenceProbe(Probe):
    """Does it know when it does not know? Scores on each subset, and neutral against real contexts (Fig. 5).

    Only answers that name an entity and carry a score count. `auroc_real_against_neutral`: the chance that a real
    context (Top or Shadow) scores higher than a neutral one; 0.5 means that the score says nothing about the context.
    `auroc_right_against_wrong`: the chance that a right answer scores higher than a wrong one, without
    Tail, whose names have no other entity to confuse them with.
    Scores of different linkers have different scales; only the AUROC can be compared between them.
    """

    name = "confidence"

    def measure(self, answers: Answers) -> Findings:
        """Quantiles per subset, and the two AUROCs."""
        scored = answers.linked & ~np.isnan(answers.score)
        if not scored.any():
            return not_measured("the linker gives no scores")
        subsets = {
            subset: self._distribution(answers.score[rows])
            for subset in SUBSETS
            if (rows := answers.rows(subset) & scored).any()
        }
        real, neutral = answers.rows("top", "shadow") & scored, answers.rows("neutral") & scored
        gold = answers.scored("top", "shadow", "all") & scored
        return {
            "subsets": subsets,
            "auroc_real_against_neutral": auroc(answers.score, real, neutral),
            "auroc_right_against_wrong": auroc(answers.score, gold & answers.correct, gold & ~answers.correct),
        }

    def _distribution(self, score: Floats) -> dict[str, Any]:
        levels = np.quantile(score, QUANTILES)
        named = {f"q{round(100 * q):02d}": float(value) for q, value in zip(QUANTILES, levels, strict=True)}
        return {"n": len(score), "mean": float(np.mean(score)), **named}
