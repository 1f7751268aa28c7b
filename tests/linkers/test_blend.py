"""The blend of prior and context, worked out by hand."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import pytest

from shadowprobe import Dataset

BlendLinker: Any = import_module("shadowprobe.linkers.blend").BlendLinker


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_the_logarithms_of_prior_and_similarity_are_weighted(world: Dataset, weight: float) -> None:
    linker = BlendLinker(weight)
    linker.open(world.knowledge)
    candidates = world.knowledge.candidates("Avon")
    # 50 and 5 links, and one more each: 51/57 and 6/57. Similarities get 0.01 more each: 0.21 and 0.01 of 0.22. They
    # count twice, as their squares.
    priors = [math.log(51 / 57), math.log(6 / 57)]
    contexts = [2 * math.log(0.21 / 0.22), 2 * math.log(0.01 / 0.22)]
    expected = [weight * prior + (1 - weight) * context for prior, context in zip(priors, contexts, strict=True)]
    assert linker.weigh(candidates, [0.2, 0.0]) == pytest.approx(expected)


@pytest.mark.parametrize("weight", [-0.1, 1.1])
def test_a_weight_is_from_0_to_1(weight: float) -> None:
    with pytest.raises(ValueError, match=rf"weight is {weight:g}, and must be from 0 \(context\) to 1 \(prior\)"):
        BlendLinker(weight)


def test_entities_without_a_description_are_noted(world: Dataset) -> None:
    linker = BlendLinker()
    linker.open(world.knowledge)
    # Only the tail entity has none.
    assert linker.notes == ["1 of 9 entities have no description and are matched by their title"]
    assert linker.link([]) == []
