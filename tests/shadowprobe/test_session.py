"""The same jobs from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from world import hand_predictions

import shadowprobe
from shadowprobe import Dataset, Settings
from shadowprobe.jsonl import encode_lines


def test_run_returns_what_it_writes(world: Dataset, tmp_path: Path) -> None:
    results = shadowprobe.run("oracle", world, out=tmp_path / "run")
    assert results["subsets"]["shadow"]["f1"] == 1.0
    assert results == json.loads((tmp_path / "run" / "results.json").read_text())


def test_score_returns_what_it_writes(world: Dataset, tmp_path: Path) -> None:
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    results = shadowprobe.score(tmp_path / "hand.jsonl", world, out=tmp_path / "scored")
    assert results["probes"]["overshadowing"]["overshadowed"] == 0.5
    assert results == json.loads((tmp_path / "scored" / "results.json").read_text())


def test_a_linker_may_be_given_as_an_object(world: Dataset, tmp_path: Path) -> None:
    from shadowprobe import Linker, Prediction, Snippet

    class Silent(Linker):
        def link(self, snippets: list[Snippet]) -> list[Prediction]:
            return [self.skip(snippet) for snippet in snippets]

    results = shadowprobe.run(Silent(), world, out=tmp_path / "run")
    assert results["linker"]["name"] == "Silent"
    assert results["subsets"]["top"]["skipped"] == 4


def test_a_dataset_of_foreign_mentions_without_spaces_still_gets_table_3(tmp_path: Path) -> None:
    from shadowprobe import Card, Entity, Snippet, write_dataset

    text = "Avon runs past Ourika."
    everything = [
        Snippet("a", "all", text, 0, 4, gold="Avon (river)"),
        Snippet("b", "all", text, 15, 21, gold="Ourika"),
        Snippet("c", "all", text, 5, 9),  # a mention that was given no entity: asked, but not gold
    ]
    dataset = write_dataset(
        tmp_path / "foreign", Card(name="foreign"), [Entity("Avon (river)"), Entity("Ourika")], [], {"all": everything}
    )
    results = shadowprobe.run("oracle", dataset, out=tmp_path / "run")
    assert list(results["subsets"]) == ["all"]
    assert results["subsets"]["all"]["n"] == 2
    assert results["subsets"]["all"]["f1"] == 1.0
    assert "not_measured" in results["probes"]["overshadowing"]
    assert "not_measured" in results["probes"]["prior"]


@pytest.mark.parametrize("rounds", [1, 10])
def test_settings_reach_the_probes_and_the_results(world: Dataset, tmp_path: Path, rounds: int) -> None:
    settings = Settings(probes=("overshadowing",), rounds=rounds, seed=3)
    results = shadowprobe.run("prior", world, out=tmp_path / "run", settings=settings)
    assert results["settings"] == {"bootstrap_rounds": rounds, "bootstrap_seed": 3, "gerbil_threshold": False}
    assert list(results["probes"]) == ["overshadowing"]
