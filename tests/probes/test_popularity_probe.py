from __future__ import annotations

from pathlib import Path

import pytest
from world import hand_predictions, linked, snippet

from shadowprobe import Answers, Card, Dataset, Entity, EntitySpace, write_dataset
from shadowprobe.plugins import make_probe


def test_accuracy_is_by_powers_of_ten_and_gaps_by_how_many_times_as_common(world: Dataset) -> None:
    found = make_probe("popularity").measure(Answers(world).fill(hand_predictions()))
    # Rivers have a commonness of 50, ships of 5, the tail entity of 2; Top and Shadow have two right answers each.
    expected = {"top": (10, 100, 4, 0.5), "shadow": (0, 10, 4, 0.5), "tail": (0, 10, 1, 1.0)}
    for subset, values in expected.items():
        (bucket,) = found["buckets"][subset]
        assert tuple(bucket[key] for key in ("at_least", "below", "n", "accuracy")) == values, subset
    (gap,) = found["gaps"]
    assert [gap[key] for key in ("at_least", "below", "n", "top_minus_shadow")] == [10, 50, 4, 0.0]


def make_names(path: Path, commonness: dict[str, tuple[int | None, int | None]]) -> Dataset:
    """Names with the commonness of their two entities, and a Top and a Shadow snippet each."""
    entities, spaces, top, shadow = [], [], [], []
    for name, (common, rare) in commonness.items():
        titles = f"{name} A", f"{name} B"
        entities += [Entity(titles[0], commonness=common), Entity(titles[1], commonness=rare)]
        spaces.append(EntitySpace(name, titles))
        top.append(snippet(f"t{name}", "top", f"To see {name}.", name, space=name, gold=titles[0]))
        shadow.append(snippet(f"s{name}", "shadow", f"Not {name} again.", name, space=name, gold=titles[1]))
    return write_dataset(path, Card(name="names"), entities, spaces, {"top": top, "shadow": shadow})


def test_a_commonness_of_0_counts_as_1_in_a_gap_and_an_unknown_one_is_left_out(tmp_path: Path) -> None:
    dataset = make_names(tmp_path / "names", {"Avon": (90, 0), "Berg": (8, 5), "Como": (None, 3)})
    answers = Answers(dataset).fill([linked("tAvon", "Avon A"), linked("sBerg", "Berg B"), linked("tComo", "Como A")])
    found = make_probe("popularity").measure(answers)
    # 90 times as common, and 1.6 times.
    kept = ("at_least", "below", "n", "top_minus_shadow")
    assert [[gap[key] for key in kept] for gap in found["gaps"]] == [[0, 2, 1, -1.0], [50, None, 1, 1.0]]
    assert [(bucket["below"], bucket["n"]) for bucket in found["buckets"]["top"]] == [(10, 1), (100, 1)]
    (rare,) = found["buckets"]["shadow"]
    assert (rare["at_least"], rare["n"], rare["accuracy"]) == (0, 3, pytest.approx(1 / 3))


def test_a_dataset_that_does_not_know_how_common_its_entities_are_says_so(tmp_path: Path) -> None:
    found = make_probe("popularity").measure(Answers(make_names(tmp_path / "names", {"Avon": (None, None)})))
    assert found == {"not_measured": "the dataset `names` does not say how common its entities are"}
