"""The pairs of the small world: Avon, Berg, Como and Dale, as tests/support/world.py has their answers."""

from __future__ import annotations

from world import hand_predictions, linked, top

from shadowprobe import Answers, Dataset
from shadowprobe.measure.pairs import both_right, has_prior, overshadowed, prior_biased, repeats_prior


def test_avon_and_como_get_one_entity_in_both_contexts_and_only_avons_is_the_prior(answers: Answers) -> None:
    assert overshadowed(answers).tolist() == [True, False, True, False]
    assert prior_biased(answers).tolist() == [True, False, False, False]


def test_only_berg_has_both_contexts_right(answers: Answers) -> None:
    assert both_right(answers).tolist() == [False, True, False, False]


def test_two_contexts_that_get_no_entity_do_not_get_the_same_one(world: Dataset) -> None:
    answers = Answers(world)
    assert not overshadowed(answers).any()
    assert not prior_biased(answers).any()


def test_a_name_has_a_prior_where_a_neutral_context_gets_an_entity(world: Dataset) -> None:
    assert not has_prior(Answers(world).fill(one for one in hand_predictions() if not one.id.startswith("n"))).any()
    assert has_prior(Answers(world).fill([linked("nBerg1", "Berg")])).tolist() == [False, True, False, False]
    # The first entity of the dataset is one too.
    answers = Answers(world).fill([linked("nAvon1", top("Avon"))])
    assert has_prior(answers).tolist() == [True, False, False, False]
    assert answers.linked.tolist() == [name == "nAvon1" for name in (one.id for one in world.snippets())]


def test_the_answers_that_are_the_prior_are_those_of_avon_and_berg(answers: Answers, world: Dataset) -> None:
    repeated = [one.id for one, is_prior in zip(world.snippets(), repeats_prior(answers), strict=True) if is_prior]
    # Dale's prior is the ship, and Como's the river, which neither context of Como gets. The tail has no name.
    assert repeated == [
        *("tAvon", "tBerg", "sAvon", "nAvon1", "nAvon2", "nBerg1", "nBerg2", "nBerg3", "nComo1", "nComo2", "nDale1"),
    ]
