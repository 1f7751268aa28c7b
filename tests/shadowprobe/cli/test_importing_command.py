"""`shadowprobe import`: what it prints of a foreign dataset, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import complaint, outcome


@pytest.fixture
def exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A part of the built-in dataset in a simple format."""
    monkeypatch.chdir(tmp_path)
    assert outcome(capsys, "export", "simple-jsonl", "files", "--dataset", "mini", "--limit", "2")[0] == 0
    return Path("files")


def test_counts_are_printed_and_the_name_is_the_users(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capsys, "import", "simple-jsonl", "files", "--name", "mine")
    assert code == 0
    assert out.startswith("datasets/simple-jsonl: ")
    assert json.loads(Path("datasets/simple-jsonl/dataset.json").read_text())["name"] == "mine"
    code, out, _ = outcome(capsys, "import", "simple-jsonl", "files", "--out", "other", "--json")
    found = json.loads(out)
    card = json.loads(Path("other/dataset.json").read_text())
    assert (found["path"], found["counts"], found["repairs"]) == ("other", card["counts"], card.get("repairs", []))


def test_a_language_is_the_code_of_a_wikipedia(exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = complaint(capsys, "import", "simple-jsonl", "files", "--language", "German!")
    assert message == "--language German!: expected the code of a Wikipedia, such as en or de"
    assert outcome(capsys, "import", "simple-jsonl", "files", "--language", "de")[0] == 0
    assert json.loads(Path("datasets/simple-jsonl/dataset.json").read_text())["language"] == "de"
