"""Calibration on scores whose error is worked out by hand."""

from __future__ import annotations

import pytest
from world import linked, shadow, top

from shadowprobe import Answers, Dataset, Prediction
from shadowprobe.measure.probe import Findings
from shadowprobe.plugins import make_probe


def calibration(answers: Answers) -> Findings:
    """What the probe finds in these answers."""
    return make_probe("shadowprobe.probes.calibration:CalibrationProbe").measure(answers)


def said(world: Dataset, *predictions: Prediction) -> Findings:
    """What the probe finds where this is all that was answered."""
    return calibration(Answers(world).fill(predictions))


def test_the_calibration_error_of_the_hand_made_answers(answers: Answers) -> None:
    # Top and Shadow: Avon 0.9 right, 0.8 wrong; Berg 0.7 and 0.6 right; Como 0.5 wrong, 0.5 right; Dale has none.
    # Bins of 0.5: accuracy 1/2, mean score 0.5, no error. Of 0.6: 0.4. 0.7: 0.3. 0.8: 0.8. 0.9: 0.1. Sum 1.6 of 6.
    found = calibration(answers)["overall"]
    assert found["n"] == 6
    assert found["accuracy"] == pytest.approx(4 / 6)
    assert found["mean_score"] == pytest.approx(4.0 / 6)
    assert found["overconfidence"] == pytest.approx(0.0)
    assert found["ece"] == pytest.approx(1.6 / 6)
    assert [(row["low"], row["n"], row["accuracy"]) for row in found["bins"]] == [
        (0.5, 2, 0.5),
        (0.6, 1, 1.0),
        (0.7, 1, 1.0),
        (0.8, 1, 0.0),
        (0.9, 1, 1.0),
    ]


def test_each_subset_has_its_own_row_and_tail_stays_out_of_the_whole(answers: Answers) -> None:
    found = calibration(answers)
    # Shadow: 0.8 wrong, 0.6 right, 0.5 right: errors 0.8, 0.4, 0.5.
    assert found["subsets"]["shadow"]["ece"] == pytest.approx(1.7 / 3)
    assert found["subsets"]["shadow"]["overconfidence"] == pytest.approx(1.9 / 3 - 2 / 3)
    assert (found["subsets"]["tail"]["n"], found["subsets"]["tail"]["ece"]) == (1, 0.0)
    assert list(found["subsets"]) == ["top", "shadow", "tail"]


def test_answers_in_one_bin_are_averaged_before_they_are_compared(world: Dataset) -> None:
    # 0.72 wrong and 0.78 right: mean score 0.75 and accuracy 1/2, error 0.25.
    found = said(world, linked("tAvon", shadow("Avon"), 0.72), linked("tBerg", top("Berg"), 0.78))["overall"]
    assert found["ece"] == pytest.approx(0.25)
    (row,) = found["bins"]
    assert (row["low"], row["high"], row["n"], row["mean_score"]) == (0.7, 0.8, 2, pytest.approx(0.75))
    low, high = row["accuracy_ci95"]
    assert 0 < low < 0.5 < high < 1


@pytest.mark.parametrize(
    ("score", "low"), [(0.0, 0.0), (0.1, 0.1), (0.3, 0.3), (0.6, 0.6), (0.7, 0.7), (0.999, 0.9), (1.0, 0.9)]
)
def test_the_lower_edge_belongs_to_a_bin_and_one_to_the_last(world: Dataset, score: float, low: float) -> None:
    (row,) = said(world, linked("tAvon", top("Avon"), score))["overall"]["bins"]
    assert row["low"] == low


def test_a_hair_above_one_is_one(world: Dataset) -> None:
    found = said(world, linked("tAvon", top("Avon"), 1.0000001))["overall"]
    assert (found["mean_score"], found["ece"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("score", "words"), [(1.5, "from 0.5 to 1.5"), (12.5, "from 0.5 to 12.5"), (-3.0, "from -3 to 0.5")]
)
def test_scores_that_are_no_chances_are_not_measured(world: Dataset, score: float, words: str) -> None:
    found = said(world, linked("tAvon", top("Avon"), score), linked("tBerg", top("Berg"), 0.5))
    assert found == {"not_measured": f"the scores run {words} and so are not chances of being right"}


def test_neutral_contexts_and_answers_without_an_entity_do_not_count(world: Dataset) -> None:
    found = said(
        world,
        linked("nAvon1", top("Avon"), 25.0),
        Prediction("tBerg", status="nil", score=0.9),
        linked("tComo", top("Como")),
    )
    assert found == {"not_measured": "the linker gives no scores"}


def test_a_linker_that_scores_tail_alone_has_no_whole(world: Dataset) -> None:
    found = said(world, linked("tail1", "Ourika", 0.25))
    assert found["overall"] is None
    assert found["subsets"]["tail"]["ece"] == 0.75
