"""The probe `suspicion` on answers whose figures are worked out by hand; tests/support/scored_world.py lists them.

Gains are scores minus neutral means. The contrast, the best rival's gain minus the answer's, of the eight answers:
Top: Avon -1 - 0 = -1, Berg 0.75 - 0 = 0.75, Como 0.5 - 1 = -0.5, Dale 0 - 1 = -1, which is wrong and not the prior.
Shadow: Avon 1 - 0 = 1 and Como 2.5 - 1 = 1.5, which are the prior and wrong; Berg -2 - 1 = -3, Dale 0 - 1 = -1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from scored_world import of_name, replace_predictions, scored_predictions
from world import linked, shadow, snippet, top

from shadowprobe import Answers, Candidate, Card, Dataset, Entity, Prediction, write_dataset
from shadowprobe.measure.debiasing import Correction
from shadowprobe.plugins import make_probe


def measure(world: Dataset, predictions: list[Prediction]) -> dict[str, Any]:
    return make_probe("suspicion").measure(Answers(world).fill(predictions))


@pytest.fixture
def found(world: Dataset) -> dict[str, Any]:
    return measure(world, scored_predictions())


def test_it_counts_the_answers_that_are_the_prior_and_wrong(found: dict[str, Any]) -> None:
    assert (found["n"], found["wrong"], found["suspect"]) == (8, 3, 2)


def test_the_strongest_signal_comes_first(found: dict[str, Any]) -> None:
    assert found["signal"] == "contrast"
    assert list(found["signals"]) == ["contrast", "unsupported", "repeats_prior", "confidence", "margin"]


@pytest.mark.parametrize(
    ("signal", "overall", "among_prior"),
    [
        # Both suspects are above all others.
        ("contrast", 1, 1),
        # Avon's and Berg's rivers score -1, as in neutral contexts; Como's -1 is above the mean of -1, -2 and -3.
        # Avon's Shadow is above 4 and ties with 2 of the 6 others; Como's ties with 4: 5 + 2 of 12 pairs.
        ("unsupported", 7 / 12, 2.5 / 6),
        # Three of the six others are the prior too.
        ("repeats_prior", 0.75, 0.5),
        # Every answer scores -1.
        ("confidence", 0.5, 0.5),
        # Leads: Top 3, 0.25, 2.5, 1; Shadow 1, 2, 0.5, 1. Avon's lead of 1 is below three and ties with two, Como's
        # of 0.5 is below five.
        ("margin", 9 / 12, 4 / 6),
    ],
)
def test_the_auroc_of_every_signal(found: dict[str, Any], signal: str, overall: float, among_prior: float) -> None:
    assert found["signals"][signal]["auroc"] == pytest.approx(overall)
    assert found["signals"][signal]["auroc_among_prior"] == pytest.approx(among_prior)


def test_the_risk_among_the_least_doubtful(found: dict[str, Any]) -> None:
    # By contrast: Berg right; three equals of which one is wrong; Como right; Berg right; Avon wrong; Como wrong.
    curve = {point["coverage"]: point["risk"] for point in found["signals"]["contrast"]["curve"]}
    assert len(curve) == 20
    # Two of eight: one right answer and one of three equals, of which a third is wrong.
    assert curve[0.25] == pytest.approx(1 / 3 / 2)
    assert curve[0.5] == pytest.approx(1 / 4)
    assert curve[0.75] == pytest.approx(1 / 6)
    assert curve[1.0] == pytest.approx(3 / 8)


@pytest.mark.parametrize(
    ("signal", "coverage"),
    [
        # 70% of the 3 errors are 2.1. The first seven answers have 2, and a tenth of the last one adds 0.1.
        ("contrast", 7.1 / 8),
        # The three that are not the prior have 1 error; 1.1 of the 2 among the other five are 2.75 answers.
        ("repeats_prior", 5.75 / 8),
        ("confidence", 0.7),
    ],
)
def test_how_many_answers_can_be_kept_with_30_percent_fewer_errors(
    found: dict[str, Any], signal: str, coverage: float
) -> None:
    assert found["signals"][signal]["coverage_at_30_fewer_errors"] == pytest.approx(coverage)


def test_without_errors_there_are_none_to_avoid(world: Dataset) -> None:
    right = [linked(f"t{name}", top(name)) for name in world.spaces]
    neutral = [linked(one.id, top(one.space or "")) for one in world.snippets("neutral")]
    signal = measure(world, right + neutral)["signals"]["repeats_prior"]
    assert (signal["coverage_at_30_fewer_errors"], signal["auroc"]) == (None, None)
    assert {point["risk"] for point in signal["curve"]} == {0.0}


def test_scores_without_candidates_allow_the_weaker_signals(answers: Answers) -> None:
    found = make_probe("suspicion").measure(answers)
    assert list(found["signals"]) == ["unsupported", "repeats_prior", "confidence"]
    assert found["signal"] == "unsupported"
    # Of Top and Shadow, Dale has no answer; only Avon's Shadow is the prior and wrong: the river with 0.8, above 0.3.
    assert (found["n"], found["suspect"]) == (6, 1)


def test_a_score_that_equals_its_neutral_mean_is_not_above_it(world: Dataset) -> None:
    # Three times 0.7, divided by 3, is a little less than 0.7 in floating point.
    predictions = [linked(one.id, top(one.space or ""), 0.7) for one in world.snippets("neutral")]
    for name in ("Avon", "Berg"):
        predictions += [linked(f"t{name}", top(name), 0.7), linked(f"s{name}", top(name), 0.7)]
    for name in ("Como", "Dale"):
        predictions += [linked(f"t{name}", top(name), 0.9), linked(f"s{name}", shadow(name), 0.9)]
    # The two suspects are above the four of Como and Dale, and tie with the two other answers of Avon and Berg.
    assert measure(world, predictions)["signals"]["unsupported"]["auroc"] == pytest.approx((8 + 2) / 12)


def test_equal_leads_are_equal_doubts(world: Dataset) -> None:
    # All lead by 0.1: -1 + 1.1 is a little more than that in floating point, and -0.5 + 0.6 a little less.
    predictions = [one for name in world.spaces for one in of_name(name, (-1, -1.1), (-0.5, -0.6), [(-1, -1.1)] * 3)]
    assert measure(world, predictions)["signals"]["margin"]["auroc"] == 0.5


def test_answers_without_scores_allow_the_weakest_signal(world: Dataset) -> None:
    plain = [Prediction(one.id, answer=one.answer) for one in scored_predictions()]
    found = measure(world, plain)
    assert list(found["signals"]) == ["repeats_prior"]
    assert found["signals"]["repeats_prior"]["auroc"] == pytest.approx(0.75)


def test_one_candidate_has_no_rival(world: Dataset) -> None:
    alone = [
        Prediction(one.id, answer=one.answer, score=-1, candidates=(Candidate(one.answer, score=-1),))
        for one in scored_predictions()
    ]
    assert list(measure(world, alone)["signals"]) == ["unsupported", "repeats_prior", "confidence"]


def test_an_answer_without_a_rival_is_the_least_doubtful(world: Dataset) -> None:
    alone = Prediction("sComo", answer=top("Como"), candidates=(Candidate(top("Como"), score=-1),))
    found = measure(world, replace_predictions(scored_predictions(), {"sComo": alone}))
    # Of the two suspects, Avon is above all six others and Como below them.
    assert found["signals"]["contrast"]["auroc"] == pytest.approx(6 / 12)


def test_an_answer_without_neutral_scores_is_the_least_doubtful(world: Dataset) -> None:
    others = {f"nAvon{number}": linked(f"nAvon{number}", top("Avon")) for number in (1, 2, 3)}
    found = measure(world, replace_predictions(scored_predictions(), others))
    # Como is above all six others; Avon's Shadow is below five and ties with its Top.
    assert found["signals"]["contrast"]["auroc"] == pytest.approx(6.5 / 12)


def test_nil_and_skipped_answers_are_not_counted(world: Dataset) -> None:
    others = {"sAvon": Prediction("sAvon", status="nil"), "sComo": Prediction("sComo", status="skipped")}
    assert measure(world, replace_predictions(scored_predictions(), others))["n"] == 6


def test_names_without_a_prior_are_not_counted(world: Dataset) -> None:
    others = {f"nAvon{number}": Prediction(f"nAvon{number}", status="nil") for number in (1, 2, 3)}
    assert measure(world, replace_predictions(scored_predictions(), others))["n"] == 6


@pytest.mark.parametrize(
    ("kept", "reason"),
    [
        ("ts", "the linker names no entity in any neutral context"),
        ("n", "the linker names no entity on Top or Shadow where a prior is known"),
    ],
)
def test_what_is_missing_is_said(world: Dataset, kept: str, reason: str) -> None:
    part = [one for one in scored_predictions() if one.id[0] in kept and one.id != "tail1"]
    assert measure(world, part) == {"not_measured": reason}


def test_a_dataset_without_neutral_contexts_says_so(tmp_path: Path) -> None:
    novel = snippet("tail1", "tail", "The novel Ourika sold out.", "Ourika", gold="Ourika")
    bare = write_dataset(tmp_path / "bare", Card(name="bare"), [Entity("Ourika")], [], {"tail": [novel]})
    assert measure(bare, [linked("tail1", "Ourika")]) == {"not_measured": "the dataset has no neutral contexts"}


def test_the_suspicion_that_answers_carry_comes_first(world: Dataset) -> None:
    # Only the two suspects and Top of Avon carry one. Avon's Shadow has more than all others; Como's has less than Top
    # of Avon and more than the five without a value: 6 + 5 of 12 pairs. Among the prior, Top of Avon, Berg and Como are
    # right: 3 + 2 of 6.
    carried = {"sAvon": 3.0, "tAvon": 2.0, "sComo": 1.0}
    predictions = [replace(one, suspicion=carried.get(one.id)) for one in scored_predictions()]
    found = measure(world, predictions)
    assert found["signal"] == "stated"
    assert list(found["signals"])[:2] == ["stated", "contrast"]
    assert found["signals"]["stated"]["auroc"] == pytest.approx(11 / 12)
    assert found["signals"]["stated"]["auroc_among_prior"] == pytest.approx(5 / 6)


def test_the_suspicion_of_a_corrected_run_is_the_contrast_of_its_answers(world: Dataset) -> None:
    # Gains are the same before and after a correction, since it subtracts the same from a score and from its mean.
    correction = Correction(Answers(world).fill(scored_predictions()))
    rows = [(correction.answers.row[one.id], one) for one in scored_predictions()]
    corrected = list(correction.correct_predictions(rows, np.full(4, 0.6)))
    signals = measure(world, corrected)["signals"]
    assert signals["stated"] == signals["contrast"]
    assert {one.id: one.suspicion for one in corrected if one.id[1:] == "Como"} == {
        # Como is the river in Top: 0.5 - 1; and the ship in Shadow, whose gain is 2.5: 1 - 2.5.
        "tComo": pytest.approx(-0.5),
        "sComo": pytest.approx(-1.5),
    }
