"""Table 3 of the paper: precision, recall and F1 on each subset."""

from __future__ import annotations

from typing import Any

import numpy as np

from shadowprobe import Answers, Findings, Probe
from shadowprobe.measure.answer_columns import MISSING, NIL, SKIPPED, Booleans
from shadowprobe.measure.scoring import best_threshold, count_matches
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
