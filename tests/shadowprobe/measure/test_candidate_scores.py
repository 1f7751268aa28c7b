"""The scores of candidates on a log scale, and the reasons why an answer cannot be corrected."""

from __future__ import annotations

import math

import numpy as np
import pytest
from world import linked, shadow, top

from shadowprobe import Answers, Candidate, Dataset, Prediction
from shadowprobe.measure.answer_columns import Candidates
from shadowprobe.measure.candidate_scores import CandidateScores, Lists, Scale, describe_scale, find_kind


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
        ([[0.0, -1.0]], "log"),
        ([], "other"),
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
    assert describe_scale(Scale("other", 2.5), np.array([])) == (
        "the scores are neither logarithms nor probabilities; each list is centred, and divided by the standard"
        " deviation of all, 2.5"
    )


def scored(snippet: str, river: float, ship: float | None = None) -> Prediction:
    """An answer to a snippet about Avon: the river, with the scores of its candidates."""
    candidates = [Candidate(top("Avon"), score=river)]
    candidates += [] if ship is None else [Candidate(shadow("Avon"), score=ship)]
    return Prediction(snippet, answer=top("Avon"), candidates=tuple(candidates))


def values_of(scores: CandidateScores) -> list[float]:
    """The values in the order in which the predictions were given."""
    return [float(value) for value in scores.value]


def test_other_scores_are_centred_in_their_list_and_divided_by_the_standard_deviation_of_all(world: Dataset) -> None:
    answers = Answers(world).fill([scored("tAvon", 5.0, 1.0), scored("nAvon1", 4.0, 2.0)])
    found = CandidateScores(answers)
    # The means of the lists are 3; the deviations 2, -2, 1 and -1 have the mean square 10 / 4.
    spread = math.sqrt(2.5)
    assert found.scale.kind == "other"
    assert found.scale.spread == pytest.approx(spread)
    assert values_of(found) == pytest.approx([2 / spread, -2 / spread, 1 / spread, -1 / spread])
    assert found.priors() == {
        "Avon": {top("Avon"): pytest.approx(1 / spread), shadow("Avon"): pytest.approx(-1 / spread)}
    }
    # The ship loses 1 against its prior and the river wins 1.
    row = answers.row["tAvon"]
    assert found.contrast()[row] == pytest.approx(-2 / spread)


def test_a_spread_that_is_known_is_taken(world: Dataset) -> None:
    answers = Answers(world).fill([scored("tAvon", 5.0, 1.0), scored("nAvon1", 4.0, 2.0)])
    found = CandidateScores(answers, scale=Scale("other", 0.5))
    assert values_of(found) == [4.0, -4.0, 2.0, -2.0]
    assert found.scale == Scale("other", 0.5)
    # What is no spread is measured.
    assert CandidateScores(answers, scale=Scale("other", 0.0)).scale.spread == pytest.approx(math.sqrt(2.5))


def test_equal_scores_have_a_spread_of_1(world: Dataset) -> None:
    found = CandidateScores(Answers(world).fill([scored("tAvon", 7.0, 7.0)]))
    assert (found.scale, values_of(found)) == (Scale("other", 1.0), [0.0, 0.0])


def test_logarithms_stay_and_probabilities_become_logarithms(world: Dataset) -> None:
    logs = CandidateScores(Answers(world).fill([scored("tAvon", -0.5, -2.0)]))
    assert (logs.scale, values_of(logs)) == (Scale("log", 1.0), [-0.5, -2.0])
    shares = CandidateScores(Answers(world).fill([scored("tAvon", 0.75, 0.25), scored("sAvon", 1.0, 0.0)]))
    assert shares.scale == Scale("probability", 1.0)
    # A probability of 0 is taken for a billionth.
    assert values_of(shares) == pytest.approx([math.log(0.75), math.log(0.25), 0.0, math.log(1e-9)])


def test_an_entity_in_no_neutral_list_gets_the_lowest_mean_of_its_name(world: Dataset) -> None:
    neutral = [scored("nAvon1", -1.0), scored("nAvon2", -3.0)]
    found = CandidateScores(Answers(world).fill([scored("tAvon", -0.5, -0.7), *neutral]))
    assert found.prior.tolist() == [-2.0, -2.0, -2.0, -2.0]
    assert found.has_own_prior.tolist() == [True, False, True, True]


def test_priors_may_be_given(world: Dataset) -> None:
    answers = Answers(world).fill([scored("tAvon", -0.5, -0.7)])
    stored = {"Avon": {top("Avon"): -1.0, shadow("Avon"): -4.0}, "Como": {top("Como"): -9.0}}
    found = CandidateScores(answers, priors=stored)
    assert (found.prior.tolist(), found.has_own_prior.tolist()) == ([-1.0, -4.0], [True, True])
    assert found.priors() == stored
    # The ship gains 3.3 and the river 0.5.
    assert found.contrast()[answers.row["tAvon"]] == pytest.approx(2.8)


def test_without_any_prior_nothing_can_be_corrected(world: Dataset) -> None:
    found = CandidateScores(Answers(world).fill([scored("tAvon", -0.5, -0.7)]))
    assert np.isnan(found.prior).all()
    assert not found.has_own_prior.any()
    assert not found.can_change.any()
    assert (found.contrast() == -np.inf).all()


def test_each_answer_is_left_for_the_first_reason_that_fits(world: Dataset) -> None:
    predictions = [
        Prediction("tAvon", status="nil"),
        Prediction("tBerg", status="skipped"),
        linked("tComo", top("Como")),
        Prediction("tDale", answer=top("Dale"), candidates=(Candidate(top("Dale")),)),
        # The ship is better, so that the scores do not decide.
        scored("sAvon", -2.0, -1.0),
        Prediction("sBerg", answer=top("Berg"), candidates=(Candidate(top("Berg"), score=-1.0),)),
        Prediction(
            "sComo",
            answer=top("Como"),
            candidates=(Candidate(top("Como"), score=-1.0), Candidate(shadow("Como"), score=-2.0)),
        ),
        scored("nAvon1", -1.0, -2.0),
        scored("nAvon2", -1.0, -1.0),
    ]
    answers = Answers(world).fill(predictions)
    found = CandidateScores(answers)
    assert found.count_left(answers.rows("top", "shadow")) == {
        "nil": 1,
        # Skipped, and never answered: the Shadow context of Dale.
        "no_answer": 2,
        "no_candidates": 1,
        "no_scores": 1,
        "answer_not_best": 1,
        "one_candidate": 1,
        "no_neutral_scores": 1,
    }
    # An answer that is as good as the best may be corrected.
    changed = [name for name in ("nAvon1", "nAvon2", "sAvon") if found.can_change[answers.row[name]]]
    assert changed == ["nAvon1", "nAvon2"]
    assert found.explain_left(answers.rows("top", "shadow")) is None


def test_a_linker_that_cannot_be_corrected_is_told_the_most_frequent_reason(world: Dataset) -> None:
    def explain(*predictions: Prediction) -> str | None:
        answers = Answers(world).fill(predictions)
        rows = np.zeros(len(answers), dtype=np.bool_)
        rows[[answers.row[one.id] for one in predictions]] = True
        return CandidateScores(answers).explain_left(rows)

    assert explain(linked("tAvon", "Avon"), linked("sAvon", "Avon"), scored("tBerg", -1.0)) == (
        "the linker gives no candidates, and a correction chooses among them"
    )
    assert explain(scored("tAvon", -1.0)) == (
        "the linker gives one candidate only, and there is nothing to choose from"
    )
    assert explain(Prediction("tAvon", status="nil")) == "no entity is named"
