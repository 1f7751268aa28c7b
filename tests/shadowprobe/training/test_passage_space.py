"""How near passages are, worked out by hand, and the map of them."""

from __future__ import annotations

import numpy as np
import pytest

from shadowprobe.training.passage_space import (
    MOST,
    choose_passages,
    measure_similarity,
    normalise,
    place_passages,
)


def test_similarities_are_mean_cosines_within_and_between_relations() -> None:
    unit = normalise(np.array([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0], [-1.0, 0.0]]))
    found = measure_similarity(unit, ["P19", "P19", "P20", "P20"])
    # Within P19 the cosine is 0, within P20 it is -1 / sqrt(2).
    root = 2**-0.5
    assert found["by_relation"] == {"P19": pytest.approx(0.0), "P20": pytest.approx(-root)}
    assert found["same_relation"] == pytest.approx(-root / 2)
    # Between: 1/√2 and -1 for the first, 1/√2 and 0 for the second.
    assert found["other_relation"] == pytest.approx((2 * root - 1) / 4)


def test_a_relation_with_one_passage_has_no_pair() -> None:
    found = measure_similarity(np.eye(2), ["P19", "P20"])
    assert found["by_relation"] == {"P19": None, "P20": None}
    assert found["same_relation"] is None


def test_a_passage_of_two_relations_belongs_to_the_first() -> None:
    chosen = choose_passages({"P19": ["a", "b", "a"], "P20": ["b", "c"], "P26": [str(n) for n in range(99)]})
    assert chosen[:3] == [("P19", "a"), ("P19", "b"), ("P20", "c")]
    assert len(chosen) == 3 + MOST


def test_the_map_is_the_same_for_the_same_seed_and_keeps_groups_together() -> None:
    generator = np.random.default_rng(1)
    groups = np.repeat(np.eye(3), 12, axis=0) + generator.normal(scale=0.01, size=(36, 3))
    places = place_passages(normalise(groups), seed=5)
    assert places == place_passages(normalise(groups), seed=5)
    centres = np.array(places).reshape(3, 12, 2)
    spread = np.linalg.norm(centres - centres.mean(axis=1, keepdims=True), axis=2).max()
    apart = np.linalg.norm(centres.mean(axis=1)[0] - centres.mean(axis=1)[1])
    assert apart > spread
    assert place_passages(np.eye(3), seed=5) is None
