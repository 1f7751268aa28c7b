"""The correction on answers whose every figure is worked out by hand; tests/support/scored_world.py lists them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import world as hand_made
from scored_world import of_name, replace_predictions, scored, scored_predictions
from world import linked, shadow, top

from shadowprobe import Answers, Candidate, Dataset, Prediction
from shadowprobe.measure import debiasing
from shadowprobe.measure.debiasing import WEIGHTS, Correction, Debiasing, Tried, choose_weight, cross_fit, debias


def correction_of(world: Dataset, *others: Prediction) -> Correction:
    """The correction of the hand-made answers, some of which are replaced."""
    return Correction(Answers(world).fill(replace_predictions(scored_predictions(), {one.id: one for one in others})))


def answer_to(answers: Answers, snippet_id: str) -> str | int:
    """The entity that answers a snippet, or the code of NIL or skipped."""
    code = int(answers.entity[answers.row[snippet_id]])
    return answers.names[code] if code >= 0 else code


def rates(found: Debiasing, when: str) -> dict[str, float]:
    return {name: getattr(change, when) for name, change in found.measures.items()}


def test_the_prior_is_the_mean_over_the_neutral_contexts_of_the_name(world: Dataset) -> None:
    priors = correction_of(world).scores.priors()
    assert priors["Como"] == {top("Como"): -2.0, shadow("Como"): -4.0}
    assert priors["Avon"] == {top("Avon"): -1.0, shadow("Avon"): -3.0}


@pytest.mark.parametrize(
    ("weight", "right"),
    [
        # In turn the names whose Top and Shadow context is right: A, B, C, D.
        (0.0, {"top": "ABC", "shadow": "BD"}),
        (0.25, {"top": "ABC", "shadow": "BD"}),
        (0.3, {"top": "AC", "shadow": "BCD"}),
        (0.5, {"top": "AC", "shadow": "BCD"}),
        (0.55, {"top": "AC", "shadow": "ABCD"}),
        (1.0, {"top": "AC", "shadow": "ABCD"}),
    ],
)
def test_each_weight_makes_the_answers_that_are_worked_out(
    world: Dataset, weight: float, right: dict[str, str]
) -> None:
    after = correction_of(world).apply_weight(weight)
    for subset, names in right.items():
        found = {name for name in hand_made.NAMES if after.correct[after.row[f"{subset[0]}{name}"]]}
        assert "".join(sorted(name[0] for name in found)) == names


def test_every_figure_before_and_after_a_given_weight(world: Dataset) -> None:
    found = debias(correction_of(world), 0.6)
    assert (found.chosen_by, found.weight) == ("given", 0.6)
    # Before: the river for both in Avon and Como, the ship for both in Dale; the prior is the river everywhere.
    assert rates(found, "before") == {
        "top": 3 / 4, "shadow": 2 / 4, "tail": 1, "both_right": 1 / 4, "overshadowed": 3 / 4, "prior_bias": 2 / 4,
    }  # fmt: skip
    # After: the ship for both in Berg and Dale, whose prior is still the river.
    assert rates(found, "after") == {
        "top": 2 / 4, "shadow": 4 / 4, "tail": 1, "both_right": 2 / 4, "overshadowed": 2 / 4, "prior_bias": 0,
    }  # fmt: skip
    assert rates(found, "difference")["shadow"] == 2 / 4
    # Two errors on Shadow go; the one on Top becomes two; of three names without both right, one more is right.
    assert rates(found, "errors_cut") == {
        "top": -1, "shadow": 1, "tail": None, "both_right": pytest.approx(1 / 3), "overshadowed": None,
        "prior_bias": None,
    }  # fmt: skip
    assert (found.gained, found.gained_names) == (2, ["Avon", "Como"])
    assert (found.lost, found.lost_names) == (1, ["Berg"])
    # 0.5 q - 0.25 (1 - q) = 0 at q = 1/3.
    assert found.break_even is not None
    assert found.break_even.share == pytest.approx(1 / 3)
    assert found.break_even.pays == "above"
    # Four names, of which two gain and one loses: nobody can say.
    low, high = found.measures["both_right"].difference_ci95
    assert low < 0 < high
    assert found.verdict == "not worth it"


def test_the_prior_after_the_correction_is_that_of_the_corrected_system(world: Dataset) -> None:
    # At w = 1, Como's first neutral context has -1 + 2 = 1 and -2 + 4 = 2: the ship. The second ties and stays.
    after = correction_of(world).apply_weight(1.0)
    assert [answer_to(after, f"nComo{number}") for number in (1, 2, 3)] == [shadow("Como"), top("Como"), top("Como")]


def test_the_prior_may_change_with_the_correction(world: Dataset) -> None:
    # Means -2 and -4. At w = 1 the first two contexts have 1 and 2, the ship; the third has -2 and -4, the river.
    neutral = [scored(f"nComo{n}", "Como", scores) for n, scores in enumerate([(-1, -2), (-1, -2), (-4, -8)], start=1)]
    correction = correction_of(world, *neutral)
    before = correction.answers
    como = before.space_names.index("Como")
    # Read first, since a prior is worked out once.
    assert before.names[before.prior[como]] == top("Como")
    after = correction.apply_weight(1.0)
    assert after.names[after.prior[como]] == shadow("Como")


def test_the_curve_has_the_rates_of_every_weight(world: Dataset) -> None:
    curve = {point["weight"]: point for point in debias(correction_of(world), 0.5).curve}
    assert list(curve) == list(WEIGHTS)
    assert [curve[weight]["both_right"] for weight in (0, 0.25, 0.3, 0.5, 0.55, 1)] == [1 / 4] * 4 + [2 / 4] * 2
    assert [curve[weight]["top"] for weight in (0.25, 0.3)] == [3 / 4, 2 / 4]
    # Wilson's interval of 2 of 4: 0.5 +- 1.96 sqrt(1/16 + 0.06) / 1.96.
    assert curve[1]["both_right_ci95"] == pytest.approx([0.150, 0.850], abs=5e-4)


def test_weight_0_changes_nothing(world: Dataset) -> None:
    correction = correction_of(world)
    after = correction.apply_weight(0.0)
    assert (after.entity == correction.answers.entity).all()
    assert after.score == pytest.approx(correction.answers.score, nan_ok=True)


@pytest.mark.parametrize(
    ("top_change", "shadow_change", "share", "pays"),
    [
        (-0.05, 0.2, 0.2, "above"),  # 0.2 q = 0.05 (1 - q)
        (0.0, 0.2, 0.0, "always"),
        (0.1, 0.2, 0.0, "always"),
        (-0.1, 0.0, None, "never"),
        (0.0, 0.0, None, "never"),
        (0.03, -0.01, 0.75, "below"),  # 0.01 q = 0.03 (1 - q)
    ],
)
def test_the_break_even_share(top_change: float, shadow_change: float, share: float | None, pays: str) -> None:
    found = debiasing.find_break_even(top_change, shadow_change)
    assert found.pays == pays
    assert found.share == (share if share is None else pytest.approx(share))


# Scores that are no logarithms.


def test_probabilities_become_logarithms_and_stay_probabilities(world: Dataset) -> None:
    # Neutral 0.9 and 0.1. In the Shadow context 0.6 and 0.4; at w = 1: log(0.6 / 0.9) < log(0.4 / 0.1).
    predictions = [
        prediction for name in world.spaces for prediction in of_name(name, (0.95, 0.05), (0.6, 0.4), [(0.9, 0.1)] * 3)
    ]
    correction = Correction(Answers(world).fill(predictions))
    assert correction.scores.scale.kind == "probability"
    after = correction.apply_weight(1.0)
    assert answer_to(after, "sAvon") == shadow("Avon")
    # 0.6 / 0.9 = 2/3 and 0.4 / 0.1 = 4 in proportion.
    assert after.score[after.row["sAvon"]] == pytest.approx(4 / (4 + 2 / 3))


def test_a_probability_of_0_is_taken_for_a_very_small_one(world: Dataset) -> None:
    predictions = [one for name in world.spaces for one in of_name(name, (1, 0), (1, 0), [(1, 0)] * 3)]
    correction = Correction(Answers(world).fill(predictions))
    assert correction.scores.priors()["Avon"][shadow("Avon")] == pytest.approx(math.log(1e-9))
    assert (correction.apply_weight(0.5).entity == correction.answers.entity).all()


def test_other_scores_are_standardised_which_changes_no_answer(world: Dataset) -> None:
    # The same scores ten times as large and 100 higher: neither logarithms nor probabilities.
    shifted = [
        Prediction(
            one.id,
            answer=one.answer,
            score=10 * (one.score or 0) + 100,
            candidates=tuple(Candidate(each.answer, score=10 * (each.score or 0) + 100) for each in one.candidates),
        )
        for one in scored_predictions()
    ]
    plain, other = correction_of(world), Correction(Answers(world).fill(shifted))
    assert other.scores.scale.kind == "other"
    # Of two candidates, each is half of their difference from the middle. The differences of all lists: Avon 3, 1 and
    # three times 2; Berg 0.25, 2, 1 x 3; Como 2.5, 0.5, 1, 2, 3; Dale 1, 1, 0 x 3. Their squares add up to 51.5625.
    assert other.scores.scale.spread == pytest.approx(10 * math.sqrt(2 * 51.5625 / 4 / 40))
    for weight in WEIGHTS:
        assert (plain.apply_weight(weight).entity == other.apply_weight(weight).entity).all()
    # Avon's ship in its Shadow context: 80, less 0.55 times its neutral score, 10 below the middle of its list.
    after = other.apply_weight(0.55)
    assert after.score[after.row["sAvon"]] == pytest.approx(80 + 0.55 * 10)


def test_scores_whose_squares_are_too_small_for_a_number_are_standardised_too(world: Dataset) -> None:
    in_top, in_shadow, neutral = (2e-200, 1e-200), (3e-200, 2e-200), [(4e-200, 1e-200)] * 3
    predictions = [one for name in world.spaces for one in of_name(name, in_top, in_shadow, neutral)]
    correction = Correction(Answers(world).fill(predictions))
    # From the middle of the lists: 0.5, 0.5 and three times 1.5, so that the mean of the squares is 7.25 / 5.
    assert correction.scores.scale.spread == pytest.approx(math.sqrt(7.25 / 5) * 1e-200)
    # In the Shadow context the river leads by 1 and in neutral contexts by 3: behind from a weight of 1/3 on.
    assert [answer_to(correction.apply_weight(weight), "sAvon") for weight in (0.3, 0.35)] == [
        top("Avon"),
        shadow("Avon"),
    ]


def test_scores_that_do_not_add_up_to_1_are_no_probabilities(world: Dataset) -> None:
    predictions = [one for name in world.spaces for one in of_name(name, (0.9, 0.5), (0.6, 0.4), [(0.9, 0.3)] * 3)]
    assert Correction(Answers(world).fill(predictions)).scores.scale.kind == "other"
    assert Correction(Answers(world).fill(predictions), "probability").scores.scale.kind == "probability"


# What cannot be corrected stays as it is.


def test_of_two_equals_the_answer_stays(world: Dataset) -> None:
    # At w = 0.5 the river and the ship of Avon's Shadow context are equal.
    assert answer_to(correction_of(world).apply_weight(0.5), "sAvon") == top("Avon")


def test_an_answer_that_is_listed_second_stays_among_equals(world: Dataset) -> None:
    candidates = (Candidate(top("Dale"), score=-1), Candidate(shadow("Dale"), score=-1))
    second = Prediction("sDale", answer=shadow("Dale"), candidates=candidates)
    for weight in (0.0, 0.5):
        assert answer_to(correction_of(world, second).apply_weight(weight), "sDale") == shadow("Dale")


def test_of_two_new_equals_the_first_of_the_linkers_order_is_chosen(world: Dataset) -> None:
    neutral = [
        Prediction(
            f"nAvon{number}",
            answer=top("Avon"),
            candidates=(Candidate(top("Avon"), score=-1), Candidate("X", score=-4), Candidate("A", score=-4)),
        )
        for number in (1, 2, 3)
    ]
    tied = Prediction(
        "sAvon",
        answer=top("Avon"),
        candidates=(Candidate(top("Avon"), score=-1), Candidate("X", score=-2), Candidate("A", score=-2)),
    )
    after = correction_of(world, tied, *neutral).apply_weight(1.0)
    assert answer_to(after, "sAvon") == "X"


def test_nil_and_skipped_stay(world: Dataset) -> None:
    candidates = (Candidate(top("Avon"), score=-1), Candidate(shadow("Avon"), score=-2))
    nil = Prediction("sAvon", status="nil", candidates=candidates)
    correction = correction_of(world, nil, Prediction("sComo", status="skipped"))
    after = correction.apply_weight(1.0)
    assert (answer_to(after, "sAvon"), answer_to(after, "sComo")) == (-1, -2)
    left = correction.scores.count_left(correction.answers.rows("shadow"))
    assert (left["nil"], left["no_answer"]) == (1, 1)


@pytest.mark.parametrize(
    ("prediction", "reason"),
    [
        (linked("sAvon", top("Avon"), -1), "no_candidates"),
        (Prediction("sAvon", answer=top("Avon"), candidates=(Candidate(top("Avon")),)), "no_scores"),
        (Prediction("sAvon", answer=top("Avon"), candidates=(Candidate(top("Avon"), score=-1),)), "one_candidate"),
        (
            Prediction(
                "sAvon",
                answer=top("Avon"),
                candidates=(Candidate(top("Avon"), score=-2), Candidate(shadow("Avon"), score=-1)),
            ),
            "answer_not_best",
        ),
        (
            Prediction("sAvon", answer="A", candidates=(Candidate(top("Avon"), score=-2), Candidate("B", score=-1))),
            "answer_not_best",
        ),
    ],
)
def test_an_answer_that_cannot_be_corrected_stays_and_is_counted(
    world: Dataset, prediction: Prediction, reason: str
) -> None:
    correction = correction_of(world, prediction)
    assert answer_to(correction.apply_weight(1.0), "sAvon") == prediction.answer
    left = correction.scores.count_left(correction.answers.rows("shadow"))
    assert {name: count for name, count in left.items() if count} == {reason: 1}


def test_a_name_without_neutral_scores_stays(world: Dataset) -> None:
    silent = [linked(f"nAvon{number}", top("Avon")) for number in (1, 2, 3)]
    correction = correction_of(world, *silent)
    assert answer_to(correction.apply_weight(1.0), "sAvon") == top("Avon")
    assert correction.scores.count_left(correction.answers.rows("shadow"))["no_neutral_scores"] == 1


def test_a_candidate_that_no_neutral_context_has_gets_the_lowest_mean_of_its_name(world: Dataset) -> None:
    new = Prediction(
        "sAvon",
        answer=top("Avon"),
        candidates=(
            Candidate(top("Avon"), score=-1),
            Candidate("Avon Products", score=-1.5),
            Candidate(shadow("Avon"), score=-2),
        ),
    )
    # At w = 0.6: the river -1 + 0.6, the newcomer -1.5 + 1.8, the ship -2 + 1.8.
    correction = correction_of(world, new)
    after = correction.apply_weight(0.6)
    assert answer_to(after, "sAvon") == "Avon Products"
    assert after.score[after.row["sAvon"]] == pytest.approx(0.3)
    # The answer of the tail has no candidates.
    assert np.count_nonzero(~correction.scores.has_own_prior) == 1


def test_an_entity_that_is_listed_twice_counts_once_with_its_best_score(world: Dataset) -> None:
    twice = Prediction(
        "nAvon1",
        answer=top("Avon"),
        candidates=(
            Candidate(top("Avon"), score=-1), Candidate("Avon_(ship)", score=-3), Candidate(shadow("Avon"), score=-9)
        ),
    )  # fmt: skip
    assert correction_of(world, twice).scores.priors()["Avon"][shadow("Avon")] == -3.0


def test_a_candidate_counts_in_the_neutral_contexts_that_list_it(world: Dataset) -> None:
    alone = Prediction("nComo3", answer=top("Como"), candidates=(Candidate(top("Como"), score=-3),))
    # The ship: the mean of -2 and -4 alone.
    assert correction_of(world, alone).scores.priors()["Como"][shadow("Como")] == -3.0


# The choice of the weight.


def without_loss(both: npt.NDArray[np.bool_]) -> Tried:
    """What is right at each weight if every Top context is right at all of them."""
    return Tried(both, np.ones_like(both))


def test_the_weight_with_the_most_names_right_is_chosen_and_the_smallest_of_equals() -> None:
    right = np.zeros((len(WEIGHTS), 3), dtype=np.bool_)
    assert choose_weight(without_loss(right)) == 0.0
    right[4:9, 0] = right[6:, 1] = True  # 0.2 to 0.4, and from 0.3 on
    assert choose_weight(without_loss(right)) == 0.3


@pytest.mark.parametrize(
    ("top_loss", "weight"),
    # Both contexts of one more name are right at each weight. Names lose their Top context at 0.1 and at 0.2.
    [(0.0, 0.05), (0.0099, 0.05), (0.01, 0.15), (0.02, 1.0), (1.0, 1.0)],
)
def test_a_weight_that_costs_more_on_top_than_it_may_is_not_chosen(top_loss: float, weight: float) -> None:
    both = np.tile(np.arange(100), (len(WEIGHTS), 1)) < np.arange(len(WEIGHTS))[:, None]
    top = np.ones((len(WEIGHTS), 100), dtype=np.bool_)
    top[2:, 98] = top[4:, 99] = False
    assert choose_weight(Tried(both, top), top_loss) == weight


def test_one_point_on_top_may_be_lost_unless_another_limit_is_given() -> None:
    both = np.tile(np.arange(100), (len(WEIGHTS), 1)) < np.arange(len(WEIGHTS))[:, None]
    top = np.ones((len(WEIGHTS), 100), dtype=np.bool_)
    top[2:, 98] = top[4:, 99] = False
    assert choose_weight(Tried(both, top)) == 0.15


def test_each_half_gets_the_weight_that_is_best_on_the_other() -> None:
    right = np.zeros((len(WEIGHTS), 10), dtype=np.bool_)
    right[10] = True
    (fold,) = cross_fit(without_loss(right), np.arange(10, dtype=np.int32), 10, splits=1, seed=7)
    assert fold.weights == (0.5, 0.5)
    assert set(fold.weight_of_space) == {0.5}


def test_the_choice_never_sees_the_names_that_it_is_tested_on() -> None:
    """A planted leak: whatever the tested half says, its weight stays; only the other half decides it."""
    generator = np.random.default_rng(1)
    right = generator.random((len(WEIGHTS), 30)) < 0.5
    spaces = np.arange(30, dtype=np.int32)
    for number, fold in enumerate(cross_fit(without_loss(right), spaces, 30, seed=7)):
        order = np.random.default_rng([7, number]).permutation(30)
        for tested, weight in zip((order[:15], order[15:]), fold.weights, strict=True):
            assert set(fold.weight_of_space[tested]) == {weight}
            for planted in range(len(WEIGHTS)):
                changed = right.copy()
                changed[:, tested] = False
                # All of the tested names are right at one weight alone, which a choice that saw them would take.
                changed[planted, tested] = True
                again = list(cross_fit(without_loss(changed), spaces, 30, seed=7))[number]
                assert set(again.weight_of_space[tested]) == {weight}
            # Nor does what they lose on Top forbid a weight.
            top = np.ones_like(right)
            top[1:, tested] = False
            again = list(cross_fit(Tried(right, top), spaces, 30, seed=7))[number]
            assert set(again.weight_of_space[tested]) == {weight}


def test_the_halves_are_equal_and_differ_between_splits() -> None:
    right = np.zeros((len(WEIGHTS), 10), dtype=np.bool_)
    # Name 0 alone decides: the half that it is not in gets 0.5, the other has nothing to choose by.
    right[10, 0] = True
    folds = list(cross_fit(without_loss(right), np.arange(10, dtype=np.int32), 10, seed=7))
    halves = {tuple(fold.weight_of_space.tolist()) for fold in folds}
    assert len(halves) > 1
    assert all(half.count(0.5) == 5 and half[0] == 0.0 for half in halves)


def many_names(world: Dataset, *kinds: str) -> Answers:
    """Names of three kinds: `biased` ones are as Avon, `harmed` ones as Berg, `fair` ones as Dale."""
    predictions = []
    for name, kind in zip(world.spaces, kinds, strict=True):
        if kind == "biased":
            predictions += of_name(name, (-1, -4), (-1, -2), [(-1, -3)] * 3)
        elif kind == "harmed":
            predictions += of_name(name, (-1, -1.25), (-3, -1), [(-1, -2)] * 3)
        else:
            predictions += of_name(name, (-1, -2), (-1, -2), [(-2, -2)] * 3)
    return Answers(world).fill(predictions)


@pytest.fixture
def twenty(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """The hand-made dataset with twenty names."""
    monkeypatch.setattr(hand_made, "NAMES", tuple(f"Town{number:02d}" for number in range(20)))
    return hand_made.write_world(tmp_path_factory.mktemp("twenty") / "twenty")


def test_a_system_with_a_prior_is_worth_correcting(twenty: Dataset) -> None:
    found = debias(Correction(many_names(twenty, *["biased"] * 20)))
    assert (found.chosen_by, found.verdict) == ("cross-fit", "worth it")
    # The smallest weight above 0.5 that is tried, in all halves.
    assert found.weight == 0.55
    assert found.splits == [(0.55, 0.55)] * debiasing.SPLITS
    both = found.measures["both_right"]
    assert (both.n, both.before, both.after, both.difference_ci95) == (20, 0, 1, (1, 1))
    assert (found.gained, found.lost, len(found.gained_names)) == (20, 0, 20)
    assert found.break_even == (0.0, "always")


def test_a_system_without_a_prior_is_not_worth_correcting(twenty: Dataset) -> None:
    found = debias(Correction(many_names(twenty, *["fair"] * 20)))
    assert (found.verdict, found.weight) == ("not worth it", 0.0)
    assert set(found.weight_of_space) == {0.0}
    assert found.break_even == (None, "never")


def test_a_gain_that_may_be_chance_is_not_worth_it(twenty: Dataset) -> None:
    # One name of twenty gains: a bootstrap leaves it out in 36% of its rounds.
    found = debias(Correction(many_names(twenty, "biased", *["fair"] * 19)))
    assert found.measures["both_right"].difference_ci95[0] == 0
    assert (found.verdict, found.weight) == ("not worth it", 0.0)
    # It is tested only in the half that does not choose its weight: there the weight is 0, and nothing is gained.
    assert found.gained == 0


@pytest.mark.parametrize(("biased", "verdict", "weight"), [(8, "not worth it", 0.0), (20, "worth it", 0.55)])
def test_a_gain_that_may_be_below_one_point_is_not_worth_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, biased: int, verdict: str, weight: float
) -> None:
    # 8 of 400 names are 2%, with 1.96 sqrt(0.02 * 0.98 / 400) = 1.4 points either way; 20 are 5%, with 2.1 points.
    monkeypatch.setattr(hand_made, "NAMES", tuple(f"Town{number:03d}" for number in range(400)))
    world = hand_made.write_world(tmp_path / "many")
    found = debias(Correction(many_names(world, *["biased"] * biased, *["fair"] * (400 - biased))))
    both = found.measures["both_right"]
    assert both.difference == biased / 400
    assert both.difference_ci95[0] > 0
    assert (found.verdict, found.weight) == (verdict, weight)


def test_held_out_figures_are_means_over_the_splits_drawn_by_name(twenty: Dataset) -> None:
    # Ten of twenty names gain wherever the other half has one of them to choose by.
    found = debias(Correction(many_names(twenty, *["biased", "fair"] * 10)))
    both = found.measures["both_right"]
    assert found.verdict == "worth it"
    assert (both.n, both.after, found.gained) == (20, 0.5, 10)
    low, high = both.difference_ci95
    # As wide as that of 20 names, and not of 100: Wilson's for 10 of 20 is 0.30 to 0.70.
    assert 0.2 < low < 0.35
    assert 0.65 < high < 0.8


def test_a_name_that_a_weight_harms_is_lost_where_the_other_half_does_not_know_it(twenty: Dataset) -> None:
    found = debias(Correction(many_names(twenty, "harmed", *["biased"] * 19)))
    # Its half loses a name of ten on Top with every weight that gains, and so the other half gets the weight 0.
    assert {frozenset(weights) for weights in found.splits} == {frozenset({0.0, 0.55})}
    # In its own half nine names gain, and it is lost.
    assert (found.gained, found.lost) == (9, 1)
    assert (len(found.gained_names), found.lost_names) == (9, ["Town00"])


def test_without_enough_names_the_weight_is_one_half(world: Dataset) -> None:
    few = world.first(3)
    answers = Answers(few).fill([one for one in scored_predictions() if one.id in few.index.rows])
    found = debias(Correction(answers))
    assert (found.chosen_by, found.weight) == ("default", debiasing.DEFAULT_WEIGHT)
    assert found.weight == 0.5


def test_without_answers_to_correct_nothing_changes(world: Dataset) -> None:
    correction = Correction(Answers(world).fill([scored("tAvon", "Avon", (-1, -2))]))
    found = debias(correction, 0.5)
    assert rates(found, "difference") == {
        "top": 0, "shadow": 0, "tail": 0, "both_right": 0, "overshadowed": 0,
    }  # fmt: skip
