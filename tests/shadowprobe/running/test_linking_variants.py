"""Probes that need new predictions: when a run links their variants, keeps them, and forgets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from clues import BOTH, Clues, results_of
from world import hand_predictions

from shadowprobe import Dataset, Prediction, Settings, Snippet, run, score
from shadowprobe.base.jsonl import encode_lines

USUAL = [
    "calibration",
    "candidates",
    "confidence",
    "kinds",
    "overshadowing",
    "popularity",
    "prior",
    "suspicion",
    "templates",
]


@pytest.mark.parametrize(
    ("settings", "measured"),
    [
        (Settings(), USUAL),
        (Settings(probes=("prior",)), ["prior"]),
        (Settings(probes=("+masked_mention",)), [*USUAL, "masked_mention"]),
        (Settings(probes=("prior", "+masked_mention")), ["prior", "masked_mention"]),
        (Settings(probes=("prior",), also=("masked_mention",)), ["prior", "masked_mention"]),
        (Settings(probes=("+prior",)), [*(name for name in USUAL if name != "prior"), "prior"]),
    ],
)
def test_probes_are_chosen_added_or_all_but_those_that_need_new_predictions(
    world: Dataset, tmp_path: Path, settings: Settings, measured: list[str]
) -> None:
    assert list(results_of(world, tmp_path, settings)["probes"]) == measured


def test_a_chosen_probe_is_measured_in_a_file_of_no_run_and_an_unnamed_one_is_not(
    world: Dataset, tmp_path: Path
) -> None:
    (tmp_path / "hand.jsonl").write_bytes(encode_lines(hand_predictions()))
    plain = score(tmp_path / "hand.jsonl", world, out=tmp_path / "plain")["probes"]
    named = score(tmp_path / "hand.jsonl", world, out=tmp_path / "named", settings=BOTH)["probes"]
    assert list(plain) == USUAL
    assert list(named) == [*USUAL, "context_length", "masked_mention"]


def test_only_variants_that_are_linked_come_with_a_run_that_names_none(world: Dataset, tmp_path: Path) -> None:
    results_of(world, tmp_path, Settings(also=("masked_mention",)))
    again = results_of(world, tmp_path, Settings())["probes"]
    assert [name for name in again if name not in USUAL] == ["masked_mention"]


def test_the_run_of_the_variants_has_the_options_and_the_dataset_of_their_own(world: Dataset, tmp_path: Path) -> None:
    settings = Settings(also=("masked_mention",))
    run("blend", world, options={"weight": "0.25"}, out=tmp_path / "run", settings=settings)
    place = tmp_path / "run" / "extra" / "masked_mention"
    card = json.loads((place / "run.json").read_text())
    assert card["linker"]["options"]["weight"] == 0.25
    assert card["locations"] == {"dataset": str(place / "dataset")}


def test_a_run_that_does_not_name_them_asks_neither(world: Dataset, tmp_path: Path) -> None:
    linker = Clues()
    found = run(linker, world, out=tmp_path / "run")["probes"]
    assert not {"context_length", "masked_mention"} & found.keys()
    assert not [snippet_id for snippet_id in linker.asked if "~" in snippet_id]
    assert not (tmp_path / "run" / "extra").exists()


def test_they_can_be_added_to_a_finished_run_and_are_not_asked_twice(world: Dataset, tmp_path: Path) -> None:
    before = run(Clues(), world, out=tmp_path / "run")
    linker = Clues()
    after = run(linker, world, out=tmp_path / "run", settings=BOTH)
    assert {snippet_id.partition("~")[2] for snippet_id in linker.asked} == {"cut", "masked"}
    assert {name: after["probes"][name] for name in before["probes"]} == before["probes"]
    again = Clues()
    assert run(again, world, out=tmp_path / "run", settings=BOTH) == after
    # Nor are they lost by a run that does not name them.
    assert run(again, world, out=tmp_path / "run")["probes"].keys() == after["probes"].keys()
    assert again.asked == []


def test_a_lost_answer_of_a_variant_is_asked_for_again_and_no_other(world: Dataset, tmp_path: Path) -> None:
    before = results_of(world, tmp_path)
    stored = tmp_path / "run" / "extra" / "context_length" / "predictions.jsonl"
    lines = stored.read_bytes().splitlines(keepends=True)
    stored.write_bytes(b"".join(lines[:-2]) + lines[-2][:9])
    linker = Clues()
    assert run(linker, world, out=tmp_path / "run", settings=BOTH) == before
    assert sorted(linker.asked) == sorted(json.loads(line)["id"] for line in lines[-2:])


def test_scoring_the_run_again_finds_them(world: Dataset, tmp_path: Path) -> None:
    before = results_of(world, tmp_path)
    assert score(tmp_path / "run", world, out=tmp_path / "run")["probes"] == before["probes"]


def test_scoring_predictions_without_variants_says_what_is_missing(world: Dataset, tmp_path: Path) -> None:
    run(Clues(), world, out=tmp_path / "run")
    settings = Settings(probes=("masked_mention",))
    found = score(tmp_path / "run", world, out=tmp_path / "scored", settings=settings)["probes"]["masked_mention"]
    assert "--also masked_mention" in found["not_measured"]


class Others(Clues):
    """NIL for everything: another linker, whose masked answers are not those of `Clues`."""

    name = "others"

    def _one(self, snippet: Snippet) -> Prediction:
        return self.nil(snippet)


def test_a_run_that_starts_afresh_forgets_what_the_earlier_linker_was_asked_besides(
    world: Dataset, tmp_path: Path
) -> None:
    results_of(world, tmp_path)
    run(Others(), world, out=tmp_path / "run", force=True)
    # Its own results say nothing of variants, nor do those that are scored or run again.
    for again in (score(tmp_path / "run", out=tmp_path / "run"), run(Others(), world, out=tmp_path / "run")):
        assert again["linker"]["name"] == "others"
        assert not {"context_length", "masked_mention"} & again["probes"].keys()
    found = run(Others(), world, out=tmp_path / "run", settings=BOTH)["probes"]["masked_mention"]
    assert (found["top"]["accuracy"], found["top"]["nil"]) == (0.0, 1.0)


def test_a_file_beside_the_predictions_of_a_run_has_none_of_its_variants(world: Dataset, tmp_path: Path) -> None:
    results_of(world, tmp_path)
    other = tmp_path / "run" / "other.jsonl"
    other.write_bytes((tmp_path / "run" / "predictions.jsonl").read_bytes())
    assert "masked_mention" not in score(other, world, out=tmp_path / "scored")["probes"]


def test_a_limited_run_has_variants_of_its_own(world: Dataset, tmp_path: Path) -> None:
    run(Clues(), world, out=tmp_path / "run", limit=1, settings=BOTH)
    assert results_of(world, tmp_path)["probes"]["masked_mention"]["top"]["n"] == 4
    kept = sorted(path.name for path in (tmp_path / "run" / "extra").iterdir())
    assert kept == ["context_length", "context_length-first-1", "masked_mention", "masked_mention-first-1"]


class Stumbles(Clues):
    """Fails on the first masked snippet."""

    name = "clues"
    version = "1"

    def _one(self, snippet: Snippet) -> Prediction:
        if snippet.id == "tAvon~masked":
            raise ValueError("no")
        return super()._one(snippet)


def test_a_variant_that_fails_is_not_right_and_is_counted(world: Dataset, tmp_path: Path) -> None:
    found = run(Stumbles(), world, out=tmp_path / "run", settings=BOTH)["probes"]["masked_mention"]
    # One of four failed, the others are right.
    assert (found["top"]["failed"], found["top"]["accuracy"], found["top"]["change"]) == (1, 0.75, -0.25)
