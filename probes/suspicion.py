"""Which answers to doubt: is an answer the prior, and wrong?"""

from __future__ import annotations

from typing import Any

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.measure.answer_columns import Booleans, Floats
from shadowprobe.measure.candidate_scores import DIGITS, TIE, CandidateScores
from shadowprobe.measure.pairs import repeats_prior
from shadowprobe.measure.statistics import auroc

# The points of the curve, and the share of the errors that a threshold should remove.
COVERAGES = tuple(step / 20 for step in range(1, 21))
FEWER_ERRORS = 0.3


class SuspicionProbe(Probe):
    """Can one tell which answers only repeat the prior? Signals of doubt, their AUROC, and risk against coverage.

    An answer on Top, Shadow or All that names an entity is *suspect* if it is the prior of its name and wrong. The gain
    of a candidate is its score minus the mean of its scores over the neutral contexts of the name, in log space.
    Signals, from the strongest that the linker's output allows: `stated`, the suspicion that the predictions carry, as
    those of the linker `debiased` do; `contrast`, the gain of the best rival minus that of
    the answer; `unsupported`, the answer is the prior and its score is not above the mean of the scores with which
    neutral contexts get it; `repeats_prior`, the answer is the prior. Baselines: `confidence`, a low score; `margin`,
    a small lead over the next candidate. `signal` names the strongest. Of each signal: `auroc`, the chance that a
    suspect answer gets more doubt than another one; `auroc_among_prior`, the same among answers that are the prior,
    since that is a part of the label; `curve`, the share of wrong answers (`risk`) among the least doubtful share
    (`coverage`); `coverage_at_30_fewer_errors`, the largest share that can be kept with 30% of the errors gone. Equal
    doubts are taken in random order, as an expected value. An answer without a value, such as one without a rival, is
    the least doubtful.
    """

    name = "suspicion"

    def measure(self, answers: Answers) -> Findings:
        """The figures of each signal that the answers allow."""
        if not answers.rows("neutral").any():
            return not_measured("the dataset has no neutral contexts")
        if not (answers.prior >= 0).any():
            return not_measured("the linker names no entity in any neutral context")
        counted = answers.scored("top", "shadow", "all") & answers.linked & self._has_prior(answers)
        if not counted.any():
            return not_measured("the linker names no entity on Top or Shadow where a prior is known")
        is_prior, wrong = repeats_prior(answers)[counted], ~answers.correct[counted]
        signals = {name: values[counted] for name, values in self._signals(answers).items()}
        return {
            "n": int(np.count_nonzero(counted)),
            "wrong": int(np.count_nonzero(wrong)),
            "suspect": int(np.count_nonzero(is_prior & wrong)),
            "signal": next(iter(signals)),
            "signals": {name: self._describe(values, is_prior, wrong) for name, values in signals.items()},
        }

    def _has_prior(self, answers: Answers) -> Booleans:
        """True for the rows of names whose prior is known."""
        has_prior: Booleans = (answers.space >= 0) & (answers.prior[answers.space] >= 0)
        return has_prior

    def _signals(self, answers: Answers) -> dict[str, Floats]:
        """How doubtful every answer is by each signal, the strongest first; the lowest number where it has no value."""
        signals: dict[str, Floats] = {}
        scores = CandidateScores(answers)
        if (is_stated := ~np.isnan(answers.suspicion)).any():
            signals["stated"] = np.where(is_stated, answers.suspicion, -np.inf)
        if scores.can_change.any():
            signals["contrast"] = scores.contrast()
        has_score = ~np.isnan(answers.score)
        is_prior = repeats_prior(answers)
        neutral = answers.rows("neutral") & is_prior & has_score
        if neutral.any():
            spaces = len(answers.space_names)
            counts = np.bincount(answers.space[neutral], minlength=spaces)
            sums = np.bincount(answers.space[neutral], weights=answers.score[neutral], minlength=spaces)
            with np.errstate(invalid="ignore"):
                # A name without such a score has no mean, and nothing is at or below that.
                mean = (sums / counts)[answers.space]
                signals["unsupported"] = (is_prior & (answers.score <= mean + TIE)).astype(float)
        signals["repeats_prior"] = is_prior.astype(float)
        if has_score.any():
            signals["confidence"] = np.where(has_score, -answers.score, -np.inf)
        if (scores.lists.sizes > 1).any():
            signals["margin"] = self._margin(scores)
        return signals

    def _margin(self, scores: CandidateScores) -> Floats:
        """How little the answer leads the best other candidate."""
        other = np.maximum.reduceat(np.where(scores.is_answer, -np.inf, scores.value), scores.lists.starts)
        margin = np.full(len(scores.answers), -np.inf)
        listed = scores.answer >= 0
        # Equal leads stay equal whatever the last digits of the differences.
        margin[scores.lists.rows[listed]] = np.round((other - scores.value[scores.answer])[listed], DIGITS)
        return margin

    def _describe(self, doubt: Floats, is_prior: Booleans, wrong: Booleans) -> dict[str, Any]:
        suspect = is_prior & wrong
        kept, errors = _cumulate(doubt, wrong)
        coverages = np.array(COVERAGES)
        risks = np.interp(coverages * len(doubt), kept, errors) / (coverages * len(doubt))
        return {
            "auroc": auroc(doubt, suspect, ~suspect),
            "auroc_among_prior": auroc(doubt, suspect, is_prior & ~wrong),
            "coverage_at_30_fewer_errors": _find_coverage(kept, errors),
            "curve": [
                {"coverage": coverage, "risk": risk} for coverage, risk in zip(COVERAGES, risks.tolist(), strict=True)
            ],
        }


def _cumulate(doubt: Floats, wrong: Booleans) -> tuple[Floats, Floats]:
    """How many answers, and how many errors among them, are up to each value of doubt; both begin with 0."""
    _, place = np.unique(doubt, return_inverse=True)
    counts = np.bincount(place), np.bincount(place, weights=wrong)
    kept, errors = (np.concatenate([[0.0], np.cumsum(column)]) for column in counts)
    return kept, errors


def _find_coverage(kept: Floats, errors: Floats) -> float | None:
    """The largest share of the answers that can be kept with so many fewer errors; None where there are none."""
    allowed = (1 - FEWER_ERRORS) * errors[-1]
    if not errors[-1]:
        return None
    # The first value of doubt with more errors than are allowed; within it errors come evenly.
    over = int(np.argmax(errors > allowed))
    part = (allowed - errors[over - 1]) / (errors[over] - errors[over - 1])
    return float((kept[over - 1] + part * (kept[over] - kept[over - 1])) / kept[-1])
