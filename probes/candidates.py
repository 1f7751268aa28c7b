"""Whether the right entity was ever considered."""

from __future__ import annotations

from typing import Any

import numpy as np

from shadowprobe import Answers, Findings, Probe, not_measured
from shadowprobe.measure.answer_columns import Booleans
from shadowprobe.measure.answers import NO_CANDIDATES
from shadowprobe.measure.statistics import describe_rate


class CandidatesProbe(Probe):
    """Was the right entity a candidate at all? A missing candidate is not prior bias.

    `recall`: share of the gold mentions whose gold entity is among the candidates that the linker gave; a mention
    without candidates counts as a miss. `accuracy_given_candidate`: share of those with the gold among the candidates
    that are answered right. `errors_without_candidate`: share of all errors where the gold was no candidate.
    """

    name = "candidates"

    def measure(self, answers: Answers) -> Findings:
        """The row of each subset that has gold answers."""
        if not answers.candidate_count.any():
            return not_measured("the linker gives no candidates")
        return {subset: self._row(answers, rows) for subset, rows in answers.gold_subsets()}

    def _row(self, answers: Answers, rows: Booleans) -> dict[str, Any]:
        n = int(np.count_nonzero(rows))
        rank, correct = answers.gold_rank[rows], answers.correct[rows]
        is_candidate = rank > NO_CANDIDATES
        hits, errors = int(np.count_nonzero(is_candidate)), int(np.count_nonzero(~correct))
        right = int(np.count_nonzero(is_candidate & correct))
        listed = answers.candidate_count[rows]
        return {
            "n": n,
            "with_candidates": int(np.count_nonzero(listed)),
            "mean_candidates": float(np.mean(listed[listed > 0])) if listed.any() else None,
            **describe_rate("recall", hits, n),
            **describe_rate("accuracy_given_candidate", right, hits),
            "errors_without_candidate": int(np.count_nonzero(~is_candidate & ~correct)) / errors if errors else None,
        }
