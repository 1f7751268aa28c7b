"""D2KB counts as GERBIL makes them, and what follows from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Booleans = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class MatchCounts(NamedTuple):
    """True positives, false positives, false negatives."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    @property
    def precision(self) -> float:
        """Share of the answers that are right."""
        return self._ratio(self.tp + self.fp)

    @property
    def recall(self) -> float:
        """Share of the gold mentions that are answered right."""
        return self._ratio(self.tp + self.fn)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        if not self.tp:
            return self._ratio(0)
        return 2 * self.tp / (2 * self.tp + self.fp + self.fn)

    def _ratio(self, total: int) -> float:
        # Without any mention and without any answer, GERBIL's value is 1.
        if not self.tp:
            return 1.0 if self.fp == self.fn == 0 else 0.0
        return self.tp / total


def count_matches(correct: Booleans, given: Booleans) -> MatchCounts:
    """Counts many mentions with at most one answer each; `given` is an entity or an explicit NIL."""
    right = int(np.count_nonzero(correct))
    return MatchCounts(tp=right, fp=int(np.count_nonzero(given)) - right, fn=len(correct) - right)


class Threshold(NamedTuple):
    """GERBIL's oracle: the cut on the confidence that makes the F1 of this very test set best."""

    cut: float
    counts: MatchCounts


def best_threshold(correct: Booleans, given: Booleans, score: Floats) -> Threshold:
    """Tries every distinct score as a cut, keeping what scores higher, and returns the best F1.

    As GERBIL does: the first row cuts at 0, so a score of exactly 0 is always lost, and negative scores lose at
    least the lowest; answers without a score (NaN) survive every cut; ties keep the lowest cut.
    """
    scored = given & ~np.isnan(score)
    cuts = np.unique(np.append(score[scored], 0.0))
    order = np.argsort(score[scored], kind="stable")
    ascending, right = score[scored][order], correct[scored][order]
    dropped = np.searchsorted(ascending, cuts, side="right")
    dropped_right = np.concatenate(([0], np.cumsum(right)))[dropped]
    everything = count_matches(correct, given)
    tp = everything.tp - dropped_right
    fp = everything.fp - (dropped - dropped_right)
    with np.errstate(invalid="ignore"):
        f1 = np.where(tp > 0, 2 * tp / np.maximum(tp + fp + len(correct), 1), 0.0)
    best = int(np.argmax(f1))
    kept = int(tp[best])
    return Threshold(float(cuts[best]), MatchCounts(kept, int(fp[best]), len(correct) - kept))
