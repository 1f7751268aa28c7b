"""Accuracy against commonness: the numbers behind two figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shadowprobe.measure.answer_columns import Booleans, Floats
from shadowprobe.measure.answers import Answers
from shadowprobe.measure.probe import Findings, Probe, not_measured
from shadowprobe.measure.statistics import describe_difference, describe_rate

# How many times as common as its Shadow entity the Top entity is.
GAPS = (0, 2, 5, 10, 50)
POWERS = 10.0 ** np.arange(1, 19)


class PopularityProbe(Probe):
    """Is it right only on what is common? Accuracy by commonness of the gold, and Top minus Shadow by their gap.

    `buckets`: for each subset the accuracy by powers of ten of the gold's commonness, with 0 among 1 to 9.
    `gaps`: spaces by how many times as common as the gold of the Shadow snippet that of the Top snippet is, where a
    commonness of 0 counts as 1; in each, the accuracy on Top minus that on Shadow, with a paired bootstrap interval.
    NIL, skipped and failed mentions are not right. Entities of unknown commonness are left out.
    """

    name = "popularity"

    def measure(self, answers: Answers) -> Findings:
        """The buckets of each subset, and the gaps."""
        entities = answers.dataset.entities.values()
        of_entity = np.array(
            [np.nan if one.commonness is None else one.commonness for one in entities], dtype=np.float64
        )
        commonness = np.where(answers.gold >= 0, of_entity[answers.gold], np.nan)
        if np.isnan(commonness).all():
            return not_measured(f"the dataset `{answers.dataset.name}` does not say how common its entities are")
        buckets = {
            subset: list(self._buckets(commonness[rows], answers.correct[rows]))
            for subset, rows in answers.gold_subsets()
        }
        return {"buckets": buckets, "gaps": list(self._gaps(answers, commonness))}

    def _buckets(self, commonness: Floats, correct: Booleans) -> Iterator[dict[str, Any]]:
        known = ~np.isnan(commonness)
        power = np.searchsorted(POWERS, commonness[known], side="right")
        for step in np.unique(power):
            inside = power == step
            n, right = int(np.count_nonzero(inside)), int(np.count_nonzero(correct[known] & inside))
            yield {
                "at_least": 10 ** int(step) if step else 0,
                "below": 10 ** int(step + 1),
                "n": n,
                **describe_rate("accuracy", right, n),
            }

    def _gaps(self, answers: Answers, commonness: Floats) -> Iterator[dict[str, Any]]:
        pairs = answers.pairs
        top, shadow = (np.maximum(commonness[rows], 1) for rows in (pairs.top, pairs.shadow))
        ratio = top / shadow
        for low, high in zip(GAPS, (*GAPS[1:], None), strict=True):
            inside = (ratio >= low) & (ratio < (np.inf if high is None else high))
            n = int(np.count_nonzero(inside))
            if not n:
                continue
            right = answers.correct[pairs.top[inside]], answers.correct[pairs.shadow[inside]]
            yield {
                "at_least": low,
                "below": high,
                "n": n,
                **describe_difference("top_minus_shadow", *right, pairs.space[inside], answers.rounds, answers.seed),
            }
