"""The probe `kinds` on answers whose figures are worked out by hand; tests/conftest.py lists the answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from world import hand_predictions, shadow, top

from shadowprobe import Answers, Card, Dataset, write_dataset
from shadowprobe.plugins import make_probe

KINDS = {top(name): "place" for name in ("Avon", "Berg", "Como", "Dale")} | {
    shadow("Avon"): "ship",
    shadow("Berg"): "ship",
    shadow("Como"): "person",
}


@pytest.fixture
def with_kinds(world: Dataset, tmp_path: Path) -> Answers:
    """The hand-made answers, where all but the ship of Dale and the novel of the tail have a kind."""
    entities = [replace(entity, kind=KINDS.get(entity.title)) for entity in world.entities.values()]
    snippets = {subset: list(world.snippets(subset)) for subset in world.subsets}
    dataset = write_dataset(tmp_path / "kinds", Card(name="kinds"), entities, list(world.spaces.values()), snippets)
    return Answers(dataset).fill(hand_predictions())


def test_accuracy_by_the_kind_of_the_gold_entity(with_kinds: Answers) -> None:
    accuracy = make_probe("kinds").measure(with_kinds)["accuracy"]
    # Avon and Berg are right, Como is wrong and Dale NIL.
    assert [(row["kind"], row["n"], row["accuracy"]) for row in accuracy["top"]] == [("place", 4, 0.5)]
    # Como is right; of the ships Berg is right and Avon is wrong. Dale has no kind.
    assert [(row["kind"], row["n"], row["accuracy"]) for row in accuracy["shadow"]] == [
        ("person", 1, 1.0),
        ("ship", 2, 0.5),
    ]
    assert accuracy["tail"] == []


def test_overshadowing_by_the_kinds_of_both_entities(with_kinds: Answers) -> None:
    findings = make_probe("kinds").measure(with_kinds)
    rates = ("shadow", "top", "n", "overshadowed", "prior_bias", "consistent")
    # Como gets its ship twice, which is not its prior. Avon gets its prior twice, and Berg is right twice.
    assert [tuple(row[key] for key in rates) for row in findings["pairs"]] == [
        ("person", "place", 1, 1.0, 0.0, 0.0),
        ("ship", "place", 2, 0.5, 0.5, 0.5),
    ]
    # The ship of Dale and the novel.
    assert findings["without_kind"] == 2


def test_every_rate_has_an_interval(with_kinds: Answers) -> None:
    findings = make_probe("kinds").measure(with_kinds)
    low, high = findings["pairs"][1]["overshadowed_ci95"]
    assert 0 <= low < 0.5 < high <= 1
    assert "accuracy_ci95" in findings["accuracy"]["top"][0]


def test_a_dataset_without_kinds_is_not_measured(answers: Answers) -> None:
    assert make_probe("kinds").measure(answers) == {
        "not_measured": "the dataset `world` does not say of what kind its entities are"
    }
