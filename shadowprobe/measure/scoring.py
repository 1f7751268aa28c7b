"""D2KB counts as GERBIL makes them, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Booleans = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Counts(NamedTuple):
    """True positives, false positives, false negatives."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: Any) -> Counts:
        """Sums the counts of two documents: micro averages."""
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

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
        # Where nothing was asked and nothing was said, GERBIL calls it perfect.
        if not self.tp:
            return 1.0 if self.fp == self.fn == 0 else 0.0
        return self.tp / total


def count_mention(gold: str | None, answers: Sequence[str | None]) -> Counts:
    """Counts one gold mention: `None` is an entity outside the knowledge base, no answer at all is a skip."""
    right = gold in answers
    return Counts(tp=int(right), fp=len(answers) - int(right), fn=int(not right))


def count(correct: Booleans, given: Booleans) -> Counts:
    """Counts many mentions with at most one answer each; `given` is an entity or an explicit NIL."""
    right = int(np.count_nonzero(correct))
    return Counts(tp=right, fp=int(np.count_nonzero(given)) - right, fn=len(correct) - right)


class Threshold(NamedTuple):
    """GERBIL's oracle: the cut on the confidence that makes the F1 of this very test set best."""

    cut: float
    counts: Counts


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
    everything = count(correct, given)
    tp = everything.tp - dropped_right
    fp = everything.fp - (dropped - dropped_right)
    with np.errstate(invalid="ignore"):
        f1 = np.where(tp > 0, 2 * tp / np.maximum(tp + fp + len(correct), 1), 0.0)
    best = int(np.argmax(f1))
    kept = int(tp[best])
    return Threshold(float(cuts[best]), Counts(kept, int(fp[best]), len(correct) - kept))
