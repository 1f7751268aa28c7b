from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from world import hand_predictions, linked, shadow, snippet, top

from shadowprobe import Answers, Candidate, Dataset, Prediction, write_dataset
from shadowprobe.measure.outcomes import MEANING, OUTCOMES, classify_answers


def outcome_of(answers: Answers, snippet_id: str) -> str:
    return OUTCOMES[int(classify_answers(answers)[answers.row[snippet_id]])]


def with_changed(world: Dataset, *changed: Prediction, without: Sequence[str] = ()) -> Answers:
    """The answers of the small world, some of them changed or left out."""
    by_id = {prediction.id: prediction for prediction in [*hand_predictions(), *changed]}
    return Answers(world).fill(prediction for prediction in by_id.values() if prediction.id not in without)


@pytest.mark.parametrize(
    ("snippet_id", "outcome"),
    [
        # The river for both: right for the one, and that is why the other is wrong.
        ("tAvon", "correct"),
        ("sAvon", "overshadowed"),
        ("tBerg", "correct"),
        ("sBerg", "correct"),
        # The ship for both, although the prior is the river.
        ("tComo", "overshadowed"),
        ("sComo", "correct"),
        ("tDale", "NIL"),
        ("sDale", "skipped"),
        ("tail1", "correct"),
        ("nAvon1", "no gold"),
        ("nComo3", "no gold"),
        ("nDale3", "no gold"),
    ],
)
def test_every_snippet_of_the_small_world_has_the_outcome_worked_out_by_hand(
    answers: Answers, snippet_id: str, outcome: str
) -> None:
    assert outcome_of(answers, snippet_id) == outcome


def test_a_wrong_answer_that_is_the_prior_and_not_the_other_contexts_is_prior_driven(world: Dataset) -> None:
    answers = with_changed(world, linked("tDale", shadow("Dale")))
    assert outcome_of(answers, "tDale") == "prior-driven"


def test_what_the_other_context_gets_too_is_overshadowed_even_where_it_is_the_prior(world: Dataset) -> None:
    answers = with_changed(world, linked("tDale", shadow("Dale")), linked("sDale", shadow("Dale")))
    assert outcome_of(answers, "tDale") == "overshadowed"


def test_a_wrong_answer_that_nothing_explains_is_other_wrong(world: Dataset) -> None:
    answers = with_changed(world, linked("tDale", top("Dale")), linked("sDale", "Dale (valley)"))
    assert outcome_of(answers, "sDale") == "other wrong"


def test_two_contexts_with_the_same_entity_that_nobody_knows_are_overshadowed(world: Dataset) -> None:
    answers = with_changed(world, linked("tDale", "Dale (valley)"), linked("sDale", "Dale (valley)"))
    assert [outcome_of(answers, snippet_id) for snippet_id in ("tDale", "sDale")] == ["overshadowed"] * 2


def test_where_the_gold_was_no_candidate_neither_the_name_nor_the_prior_is_to_blame(world: Dataset) -> None:
    river = Prediction("sAvon", answer=top("Avon"), candidates=(Candidate(top("Avon")),))
    assert outcome_of(with_changed(world, river), "sAvon") == "gold not a candidate"
    both = replace(river, candidates=(Candidate(top("Avon")), Candidate(shadow("Avon"))))
    assert outcome_of(with_changed(world, both), "sAvon") == "overshadowed"


def test_a_right_answer_stays_right_where_the_candidates_leave_it_out(world: Dataset) -> None:
    answers = with_changed(world, Prediction("sBerg", answer=shadow("Berg"), candidates=(Candidate(top("Berg")),)))
    assert outcome_of(answers, "sBerg") == "correct"


@pytest.mark.parametrize(("status", "outcome"), [("nil", "NIL"), ("skipped", "skipped")])
def test_nil_and_skipped_stay_so_where_the_gold_was_no_candidate(world: Dataset, status: str, outcome: str) -> None:
    empty = Prediction("sAvon", status=status, candidates=(Candidate(top("Avon")),))  # type: ignore[arg-type]
    assert outcome_of(with_changed(world, empty), "sAvon") == outcome


def test_two_contexts_that_get_nil_are_not_overshadowed(world: Dataset) -> None:
    answers = with_changed(world, Prediction("sDale", status="nil"))
    assert [outcome_of(answers, snippet_id) for snippet_id in ("tDale", "sDale")] == ["NIL", "NIL"]


def test_a_snippet_without_any_answer_has_failed_and_is_not_skipped(world: Dataset) -> None:
    assert outcome_of(with_changed(world, without=["sAvon"]), "sAvon") == "failed"


def test_only_the_first_top_and_shadow_of_a_space_overshadow_each_other(world: Dataset) -> None:
    second = snippet("s2Avon", "shadow", "Avon lay at anchor.", "Avon", space="Avon", gold=shadow("Avon"))
    snippets = {subset: list(world.snippets(subset)) for subset in world.subsets}
    snippets["shadow"].append(second)
    larger = write_dataset(
        world.path.parent / "larger", world.card, world.entities.values(), world.spaces.values(), snippets
    )
    answers = with_changed(larger, linked("s2Avon", top("Avon")))
    # It repeats the prior of the name, and has no partner with which it could be overshadowed.
    assert (outcome_of(answers, "sAvon"), outcome_of(answers, "s2Avon")) == ("overshadowed", "prior-driven")


def test_every_outcome_is_explained() -> None:
    assert tuple(MEANING) == OUTCOMES
