"""Table 3 of the paper: precision, recall and F1 on each subset."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shadowprobe import Answers, Findings, Probe
from shadowprobe.measure.answer_columns import MISSING, NIL, SKIPPED, Booleans, Floats
from shadowprobe.measure.statistics import f1_interval


class SubsetsProbe(Probe):
    """How often is it right? Precision, recall and F1 on each subset, as GERBIL counts them (Table 3).

    A right answer is a TP; a wrong entity or an explicit NIL is an FP and an FN; a skipped mention only an FN, and
    so is one that failed. P = TP/(TP+FP), R = TP/(TP+FN), micro. The interval of F1 is Wilson's.
    """

    name = "subsets"
    top_level = True

    def measure(self, answers: Answers) -> Findings:
        """The row of each subset that has gold answers."""
        return {subset: self._row(answers, rows) for subset, rows in answers.gold_subsets()}

    def _row(self, answers: Answers, rows: Booleans) -> dict[str, Any]:
        n = int(np.count_nonzero(rows))
        entity, correct = answers.entity[rows], answers.correct[rows]
        given = entity >= NIL
        counts = count_matches(correct, given)
        answered = int(np.count_nonzero(entity >= 0))
        row = {
            "n": n,
            "answered": answered,
            "nil": int(np.count_nonzero(entity == NIL)),
            "skipped": int(np.count_nonzero(entity == SKIPPED)),
            "failed": int(np.count_nonzero(entity == MISSING)),
            "correct": counts.tp,
            "coverage": answered / n,
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
            "f1_ci95": list(f1_interval(counts.tp, counts.fp, n - counts.tp - counts.fp)),
        }
        if answers.gerbil_threshold:
            best = best_threshold(correct, given, answers.score[rows])
            row["gerbil_threshold"] = {
                "cut": best.cut,
                "precision": best.counts.precision,
                "recall": best.counts.recall,
                "f1": best.counts.f1,
            }
        return row


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
            return self.precision
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
    # Half of each F1: the best one is the same.
    best = int(np.argmax(tp / np.maximum(tp + fp + len(correct), 1)))
    kept = int(tp[best])
    return Threshold(float(cuts[best]), MatchCounts(kept, int(fp[best]), len(correct) - kept))
