from __future__ import annotations

import numpy as np
import pytest

from shadowprobe.measure.answer_columns import Candidates
from shadowprobe.measure.candidate_scores import Lists, Scale, describe_scale, find_kind


def make_candidates(*lists: list[float]) -> Candidates:
    """One list of scores per row; the entities do not matter."""
    row = np.repeat(np.arange(len(lists), dtype=np.int32), [len(scores) for scores in lists])
    return Candidates(row, np.arange(len(row), dtype=np.int32), np.array([score for one in lists for score in one]))


@pytest.mark.parametrize(
    ("lists", "kind"),
    [
        ([[-0.5, -2.0], [-0.1, -3.0]], "log"),
        # The logarithm of a rounded 1.
        ([[5e-7, -2.0]], "log"),
        ([[0.75, 0.25], [1.0, 0.0]], "probability"),
        # 0.98 is not 1 but for an error of 0.01, and one list of two is too many.
        ([[0.75, 0.25], [0.73, 0.25]], "other"),
        ([[0.75, 0.25]] * 19 + [[0.5, 0.25]], "probability"),
        ([[0.75, 0.25]] * 18 + [[0.5, 0.25]] * 2, "other"),
        ([[1.5, -0.5]], "other"),
        ([[0.0, 0.0]], "other"),
    ],
)
def test_the_scores_say_what_they_are(lists: list[list[float]], kind: str) -> None:
    candidates = make_candidates(*lists)
    assert find_kind(candidates, Lists(candidates.row)) == kind


def test_scores_that_are_no_logarithms_are_explained() -> None:
    scores = np.array([2.0, 31.25])
    assert describe_scale(Scale("log"), scores) is None
    assert describe_scale(Scale("probability"), scores) == (
        "the scores are probabilities; the correction takes their logarithms"
    )
    assert describe_scale(Scale("other", 2.5), scores) == (
        "the scores run from 2 to 31.2 and are neither logarithms nor probabilities; each list is centred, and divided"
        " by the standard deviation of all, 2.5"
    )
