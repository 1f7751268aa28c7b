"""What can be chosen about a training: the values of the paper, and their limits."""

from __future__ import annotations

from typing import Any

import pytest

from shadowprobe import UsageError
from shadowprobe.training.settings import TrainingSettings


def test_a_training_is_that_of_the_paper_unless_told_otherwise() -> None:
    found = TrainingSettings()
    # Appendix B: ten epochs, 2e-5, 24 questions in a batch, one negative of BM25, and 8,000 questions of a relation.
    assert (found.epochs, found.learning_rate, found.batch_size) == (10, 2e-5, 24)
    assert (found.negatives, found.limit) == (1, 8000)
    assert (found.train, found.disjoint, found.held_out, found.seed) == ("both", "all", 0.25, 7)
    assert (found.per_relation, found.similar, found.mix, found.queries) == (False, False, None, None)
    assert found.ks == (1, 5, 20)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"held_out": 0.0}, "--held-out: is a share between 0 and 1, not 0"),
        ({"held_out": 1.0}, "--held-out: is a share between 0 and 1, not 1"),
        ({"learning_rate": 0.0}, "--learning-rate: is a number between 0 and 1, not 0"),
        ({"learning_rate": 1.0}, "--learning-rate: is a number between 0 and 1, not 1"),
        ({"kind": "dpr"}, "--kind dpr: needs the encoder of the passages too: --document-model NAME_OR_PATH"),
    ],
)
def test_settings_that_cannot_be_are_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        TrainingSettings(**given)
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    "given",
    [
        {"held_out": 0.01},
        {"held_out": 0.99},
        {"learning_rate": 0.99},
        {"kind": "dpr", "document_model": "facebook/dpr-ctx_encoder"},
        {"kind": "sentence", "document_model": "other"},
    ],
)
def test_settings_within_their_limits_are_kept(given: dict[str, Any]) -> None:
    settings = TrainingSettings(**given)
    assert {name: getattr(settings, name) for name in given} == given


def test_one_model_is_shared_if_both_sides_of_it_are_trained() -> None:
    assert TrainingSettings().is_shared
    assert not TrainingSettings(train="questions").is_shared
    assert not TrainingSettings(train="passages").is_shared
    assert not TrainingSettings(document_model="other").is_shared
