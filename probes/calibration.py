"""Whether a score means what it says: of the answers scored 0.8, are eight in ten right?"""

from __future__ import annotations

from typing import Any

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.measure.answer_columns import Booleans
from shadowprobe.measure.statistics import describe_rate

BINS = 10
# A softmax in single precision can add up to slightly more than 1.
ROUNDING = 1e-6


class CalibrationProbe(Probe):
    """Is it as often right as its score says? Reliability in ten bins, and the expected calibration error.

    Only answers to gold mentions that name an entity and carry a score count, and the score is taken for the chance of
    being right; one that leaves 0 to 1 cannot be that. Bins are a tenth wide, the lower edge belongs to the bin, and 1
    to the last. `ece`: the mean of |accuracy - mean score| over the bins, weighted by their answers.
    `overconfidence`: mean score - accuracy over all of them, so that errors both ways cancel. Of every subset, and
    `overall` of Top, Shadow and All, without Tail, whose names have no other entity to confuse them with.
    """

    name = "calibration"

    def measure(self, answers: Answers) -> Findings:
        """The reliability of all subsets with confusable names together, and of each subset."""
        counted = answers.linked & ~np.isnan(answers.score) & answers.scored("top", "shadow", "tail", "all")
        if not counted.any():
            return not_measured("the linker gives no scores")
        low, high = float(answers.score[counted].min()), float(answers.score[counted].max())
        if low < -ROUNDING or high > 1 + ROUNDING:
            return not_measured(f"the scores run from {low:.3g} to {high:.3g} and so are not chances of being right")
        confusable = counted & answers.rows("top", "shadow", "all")
        return {
            "overall": self._row(answers, confusable) if confusable.any() else None,
            "subsets": {
                subset: self._row(answers, rows & counted)
                for subset, rows in answers.gold_subsets()
                if (rows & counted).any()
            },
        }

    def _row(self, answers: Answers, rows: Booleans) -> dict[str, Any]:
        score, correct = np.clip(answers.score[rows], 0.0, 1.0), answers.correct[rows]
        # From whole numbers: 0.3 is 3/10 and lies in its own bin, which sums of 0.1 would miss.
        place = np.digitize(score, np.arange(1, BINS) / BINS)
        n = np.bincount(place, minlength=BINS)
        right = np.bincount(place, weights=correct, minlength=BINS)
        mass = np.bincount(place, weights=score, minlength=BINS)
        bins = [
            {
                "low": number / BINS,
                "high": (number + 1) / BINS,
                "n": int(n[number]),
                "mean_score": float(mass[number] / n[number]),
                **describe_rate("accuracy", right[number], n[number]),
            }
            for number in np.flatnonzero(n).tolist()
        ]
        return {
            "n": len(score),
            "mean_score": float(np.mean(score)),
            "accuracy": float(np.mean(correct)),
            "overconfidence": float(np.mean(score) - np.mean(correct)),
            "ece": float(np.abs(right - mass).sum() / len(score)),
            "bins": bins,
        }
