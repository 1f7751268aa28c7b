"""`shadowprobe score`: from which dataset, under which name, and with which settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import outcome
from world import write_world

import shadowprobe


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run over the small world."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    shadowprobe.run("prior", "world", out="runs/prior")


def test_a_run_is_scored_on_its_own_dataset_with_the_settings_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = ("--rounds", "100", "--seed", "3", "--gerbil-threshold", "--gerbil-nil", "--probe", "overshadowing")
    code, out, err = outcome(capsys, "score", "-p", "runs/prior", "--out", "again", "--limit", "2", "--json", *settings)
    found = json.loads(out)
    assert code == 0
    assert (found["dataset"]["name"], found["dataset"]["limit"]) == ("world", 2)
    used = {"bootstrap_rounds": 100, "bootstrap_seed": 3, "gerbil_threshold": True, "gerbil_nil": True}
    assert {key: found["settings"][key] for key in used} == used
    assert list(found["probes"]) == ["overshadowing"]
    assert err.endswith("Written to again/\n")


def test_an_answer_that_is_missing_is_an_exit_code_and_the_file_gives_the_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = Path("runs/prior/predictions.jsonl").read_text().splitlines()
    Path("mine.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    code, out, _ = outcome(capsys, "score", "-p", "mine.jsonl", "-d", "world", "--json")
    found = json.loads(out)
    assert (code, found["missing"], found["linker"]["name"]) == (1, 1, "mine")
    assert Path("runs/mine-world/results.json").exists()
    code, out, _ = outcome(capsys, "score", "-p", "mine.jsonl", "-d", "world", "--json", "--name", "ours")
    assert json.loads(out)["linker"]["name"] == "ours"
