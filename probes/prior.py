"""Table 4 of the paper: which answers repeat the prior."""

from __future__ import annotations

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.measure.answer_columns import Booleans
from shadowprobe.measure.pairs import repeats_prior
from shadowprobe.measure.statistics import describe_rate


class PriorProbe(Probe):
    """Are right and wrong answers the ones it gives without any context (Table 4)?

    The prior of a space is the entity named most often over its neutral contexts (ties: higher mean score, then the
    title). Each Top and each Shadow answer equals it or differs from it, right or wrong; NIL and skipped answers are
    `nil`, so that the five shares add up to 1. `stability`: the mean share of a space's neutral contexts that agree
    with its prior. `prior_is_top`: share of the spaces whose prior is their top entity. Spaces whose neutral
    contexts name no entity have no prior: they are left out of both, and every answer to them differs from it.
    """

    name = "prior"

    def measure(self, answers: Answers) -> Findings:
        """The five shares for Top and Shadow, and how firm the priors are."""
        neutral = answers.rows("neutral")
        if not neutral.any():
            return not_measured("the dataset has no neutral contexts")
        if not (answers.prior >= 0).any():
            return not_measured("the linker names no entity in any neutral context")
        findings: Findings = {
            subset: self._shares(answers, answers.scored(subset))
            for subset in ("top", "shadow")
            if answers.scored(subset).any()
        }
        has_neutral = np.unique(answers.space[neutral])
        with_prior = has_neutral[answers.prior[has_neutral] >= 0]
        findings["spaces"] = len(has_neutral)
        findings["without_prior"] = len(has_neutral) - len(with_prior)
        findings["stability"] = self._stability(answers, neutral)
        is_top = int(np.count_nonzero(answers.prior[with_prior] == answers.top_of[with_prior]))
        return findings | describe_rate("prior_is_top", is_top, len(with_prior))

    def _shares(self, answers: Answers, rows: Booleans) -> dict[str, float]:
        linked, correct, is_prior = answers.linked[rows], answers.correct[rows], repeats_prior(answers)[rows]
        return {
            "prior_correct": float(np.mean(is_prior & correct)),
            "prior_wrong": float(np.mean(is_prior & ~correct)),
            "context_correct": float(np.mean(linked & ~is_prior & correct)),
            "context_wrong": float(np.mean(linked & ~is_prior & ~correct)),
            "nil": float(np.mean(~linked)),
        }

    def _stability(self, answers: Answers, neutral: Booleans) -> float:
        space = answers.space[neutral]
        agrees = repeats_prior(answers)[neutral]
        contexts = np.bincount(space, minlength=len(answers.prior))
        agreeing = np.bincount(space, weights=agrees, minlength=len(answers.prior))
        counted = answers.prior >= 0
        return float(np.mean(agreeing[counted] / contexts[counted]))
