"""D2KB counts against GERBIL's worked numbers (sections 5.4, 5.5 and 5.7 of the protocol notes)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

probe: Any = import_module("shadowprobe.probes.subsets")
MatchCounts, best_threshold, count_matches = probe.MatchCounts, probe.best_threshold, probe.count_matches
# True positives, false positives, false negatives.
Counts = Any
NAN = float("nan")


def count_mention(gold: str | None, answers: list[str | None]) -> Counts:
    """GERBIL's rule for one gold mention: `None` is an entity outside the knowledge base, no answer is a skip."""
    right = gold in answers
    return MatchCounts(tp=int(right), fp=len(answers) - int(right), fn=int(not right))


def add_up(mentions: Iterable[Counts]) -> Counts:
    """The counts of many mentions: micro averages."""
    return MatchCounts(*(sum(column) for column in zip(*mentions, strict=True)))


@pytest.mark.parametrize(
    ("gold", "answers", "expected"),
    [
        pytest.param("Utah", ["Utah"], MatchCounts(1, 0, 0), id="in KB, right"),
        pytest.param("Utah", ["Ohio"], MatchCounts(0, 1, 1), id="in KB, wrong entity"),
        pytest.param("Utah", [None], MatchCounts(0, 1, 1), id="in KB, explicit NIL"),
        pytest.param("Utah", [], MatchCounts(0, 0, 1), id="in KB, skipped"),
        pytest.param("Utah", ["Utah", "Ohio"], MatchCounts(1, 1, 0), id="in KB, right and a second answer"),
        pytest.param(None, [None], MatchCounts(1, 0, 0), id="outside KB, any NIL"),
        pytest.param(None, ["Utah"], MatchCounts(0, 1, 1), id="outside KB, an entity"),
        pytest.param(None, [], MatchCounts(0, 0, 1), id="outside KB, skipped"),
    ],
)
def test_one_mention_counts_as_gerbil_counts_it(gold: str | None, answers: list[str | None], expected: Counts) -> None:
    assert count_mention(gold, answers) == expected


@pytest.mark.parametrize(
    ("right", "wrong", "nil", "precision", "recall", "f1"),
    [
        pytest.param(6, 4, 0, 0.600, 0.600, 0.600, id="10 answers, 6 right"),
        pytest.param(6, 2, 0, 0.750, 0.600, 0.667, id="8 answers, 6 right, 2 skipped"),
        pytest.param(6, 2, 2, 0.600, 0.600, 0.600, id="8 answers, 6 right, 2 explicit NIL"),
        pytest.param(6, 1, 0, 0.857, 0.600, 0.706, id="8 answers, 6 right, a threshold drops one wrong"),
    ],
)
def test_ten_gold_mentions_score_as_in_gerbils_table(
    right: int, wrong: int, nil: int, precision: float, recall: float, f1: float
) -> None:
    answers: list[list[str | None]] = []
    for said, times in ((["gold"], right), (["other"], wrong), ([None], nil), ([], 10 - right - wrong - nil)):
        answers += [list(said)] * times
    by_mention = add_up(count_mention("gold", given_answers) for given_answers in answers)
    in_columns = count_matches(
        np.array([given_answers == ["gold"] for given_answers in answers]),
        np.array([bool(given_answers) for given_answers in answers]),
    )
    assert by_mention == in_columns
    assert round(in_columns.precision, 3) == precision
    assert round(in_columns.recall, 3) == recall
    assert round(in_columns.f1, 3) == f1


def test_nothing_asked_and_nothing_said_is_perfect() -> None:
    assert (MatchCounts().precision, MatchCounts().recall, MatchCounts().f1) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("counts", [MatchCounts(0, 3, 0), MatchCounts(0, 0, 3), MatchCounts(0, 2, 2)])
def test_without_a_right_answer_everything_is_zero(counts: Counts) -> None:
    assert (counts.precision, counts.recall, counts.f1) == (0.0, 0.0, 0.0)


@given(st.lists(st.sampled_from(["right", "wrong", "nil", "skipped"])))
def test_columns_and_single_mentions_always_agree(outcomes: list[str]) -> None:
    said: dict[str, list[str | None]] = {"right": ["gold"], "wrong": ["other"], "nil": [None], "skipped": []}
    summed = add_up(count_mention("gold", said[outcome]) for outcome in outcomes)
    correct = np.array([outcome == "right" for outcome in outcomes], dtype=bool)
    given_answers = np.array([outcome != "skipped" for outcome in outcomes], dtype=bool)
    assert count_matches(correct, given_answers) == summed


def threshold(correct: list[int], score: list[float]) -> tuple[float, Counts]:
    """The best threshold where every mention is answered."""
    best: tuple[float, Counts] = best_threshold(np.array(correct, bool), np.ones(len(correct), bool), np.array(score))
    return best


def test_the_threshold_drops_the_wrong_answer_that_scores_lowest() -> None:
    # F1 at cut 0: 2*2/(2+1+3) = 0.667; above 0.1 the wrong one is gone: 2*2/(2+0+3) = 0.8; above 0.5: 2/(1+3) = 0.5.
    cut, counts = threshold([1, 1, 0], [0.9, 0.5, 0.1])
    assert cut == 0.1
    assert counts == MatchCounts(2, 0, 1)


def test_a_threshold_that_cannot_help_is_zero() -> None:
    assert threshold([1, 1], [0.2, 0.9]) == (0.0, MatchCounts(2, 0, 0))


def test_scores_of_exactly_zero_are_lost_even_in_the_first_row() -> None:
    assert threshold([1, 1], [0.0, 0.0]) == (0.0, MatchCounts(0, 0, 2))


def test_negative_scores_always_lose_the_lowest() -> None:
    assert threshold([1, 1], [-1.0, -0.5]) == (-1.0, MatchCounts(1, 0, 1))


def test_answers_without_a_score_survive_every_cut() -> None:
    assert threshold([1, 0], [NAN, 0.4]) == (0.4, MatchCounts(1, 0, 1))


def test_equal_f1_keeps_the_lowest_cut() -> None:
    # Cut 0: TP 1, FP 1, FN 1: F1 = 0.5. Cut 0.3 drops the right one. Cut 0.2 drops the wrong one: 2/(1+0+2) = 0.667.
    # The second wrong answer has the same score as the first, so no other cut ties with 0.2 from below.
    cut, _ = threshold([1, 0, 0], [0.3, 0.2, 0.2])
    assert cut == 0.2
    # Both cuts keep nothing right: F1 = 0 at -0.5 and at 0.0, and the lowest stays.
    assert threshold([0, 0], [0.5, -0.5])[0] == -0.5
