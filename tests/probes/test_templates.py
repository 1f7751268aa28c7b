"""What each neutral template gets, on answers worked out by hand; tests/support/world.py lists them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from world import NAMES, linked, shadow, top

from shadowprobe import Answers, Card, Dataset, Prediction, write_dataset
from shadowprobe.dataset.dataset import SUBSETS
from shadowprobe.measure.probe import Findings
from shadowprobe.plugins import make_probe


def templates(answers: Answers) -> Findings:
    """What the probe finds in these answers."""
    return make_probe("shadowprobe.probes.templates:TemplatesProbe").measure(answers)


def test_each_template_says_what_it_gets(answers: Answers) -> None:
    # Priors: Avon, Berg and Como the river, Dale the ship. First context: Avon, Berg, Como river, Dale ship.
    # Second: all river. Third: Avon ship, Berg river, Como NIL, Dale skipped.
    found = templates(answers)["templates"]
    assert list(found) == ["1", "2", "3"]
    shares = ("top", "shadow", "elsewhere", "nil", "prior")
    assert [found["1"][share] for share in shares] == [0.75, 0.25, 0.0, 0.0, 1.0]
    assert [found["2"][share] for share in shares] == [1.0, 0.0, 0.0, 0.0, 0.75]
    assert [found["3"][share] for share in shares] == [0.25, 0.25, 0.0, 0.5, 0.25]


def test_the_spread_is_the_highest_share_of_priors_minus_the_lowest(answers: Answers) -> None:
    assert templates(answers)["spread"] == 0.75


def test_the_mean_score_is_over_the_answers_that_name_an_entity(answers: Answers) -> None:
    found = templates(answers)["templates"]
    assert found["1"]["mean_score"] == pytest.approx((0.3 + 0.5 + 0.2 + 0.9) / 4)
    assert found["3"]["mean_score"] == pytest.approx((0.4 + 0.5) / 2)


def test_the_score_of_a_nil_is_no_score_of_an_entity(world: Dataset) -> None:
    said = [linked("nAvon1", top("Avon"), 0.5), Prediction("nBerg1", status="nil", score=0.9)]
    assert templates(Answers(world).fill(said))["templates"]["1"]["mean_score"] == 0.5


def test_the_text_of_a_template_is_found_from_its_contexts(answers: Answers) -> None:
    found = templates(answers)["templates"]
    assert [row["text"] for row in found.values()] == ["{name} came up again.", "Why not {name}?", "One word: {name}"]


def changed(world: Dataset, path: Path, template: int | None = 1) -> Dataset:
    """The same dataset with kinds, and with every neutral context of one template or of none."""
    entities = [replace(entity, kind="ship" if "ship" in entity.title else None) for entity in world.entities.values()]
    snippets = {subset: list(world.snippets(subset)) for subset in SUBSETS if subset in world.subsets}
    snippets["neutral"] = [replace(snippet, template=template) for snippet in snippets["neutral"]]
    return write_dataset(path, Card(name="changed"), entities, world.spaces.values(), snippets)


def test_answers_away_from_the_prior_are_counted_by_kind(world: Dataset, tmp_path: Path) -> None:
    dataset = changed(world, tmp_path / "changed")
    votes = [linked(f"n{name}{column}", top(name)) for name in NAMES for column in (1, 2)]
    pulled = [linked("nAvon3", shadow("Avon")), linked("nBerg3", shadow("Berg")), linked("nComo3", "Lake Como")]
    found = templates(Answers(dataset).fill([*votes, *pulled]))["templates"]["1"]
    # Two ships, and a lake that the dataset does not know; Dale's third context has no answer.
    assert found["pulled_to"] == {"ship": 2, "unknown": 1}
    assert (found["n"], found["elsewhere"], found["nil"]) == (12, 1 / 12, 1 / 12)
    assert found["text"] is None


def test_names_without_a_prior_are_left_out_of_the_share_of_priors(world: Dataset) -> None:
    answers = Answers(world).fill([linked("nAvon1", top("Avon")), linked("nAvon2", top("Avon"))])
    found = templates(answers)["templates"]
    assert [row["prior"] for row in found.values()] == [1.0, 1.0, 0.0]
    assert [row["nil"] for row in found.values()] == [0.75, 0.75, 1.0]
    assert found["3"]["mean_score"] is None


def test_contexts_that_do_not_name_their_template_are_not_measured(world: Dataset, tmp_path: Path) -> None:
    dataset = changed(world, tmp_path / "changed", template=None)
    found = templates(Answers(dataset).fill([linked("nAvon1", top("Avon"))]))
    assert found == {"not_measured": "the neutral contexts do not say which template they are made from"}


def test_a_linker_that_names_nothing_in_neutral_contexts_is_not_measured(world: Dataset) -> None:
    found = templates(Answers(world).fill([Prediction("nAvon1", status="nil")]))
    assert found == {"not_measured": "the linker names no entity in any neutral context"}


def test_a_dataset_without_neutral_contexts_is_not_measured(world: Dataset, tmp_path: Path) -> None:
    bare = write_dataset(
        tmp_path / "bare",
        Card(name="bare"),
        world.entities.values(),
        world.spaces.values(),
        {"top": list(world.snippets("top"))},
    )
    found = templates(Answers(bare).fill([linked("tAvon", top("Avon"))]))
    assert found == {"not_measured": "the dataset has no neutral contexts"}
