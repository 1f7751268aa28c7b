"""`shadowprobe sets ambigdocs`, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import complaint, outcome
from world import write_world

from shadowprobe.queries.ambigdocs_sets import read_ambigdocs

WHAT = {"name": "Avon", "question": "What?", "answers": {"Avon (river)": "water", "Avon (ship)": ["vessel", "boat"]}}
COMMAND = ("sets", "ambigdocs", "--dataset", "world", "--questions", "questions.jsonl", "--out")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    (tmp_path / "questions.jsonl").write_text(f"{json.dumps(WHAT)}\n")


def test_sets_are_written_in_the_released_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, *COMMAND, "[b]sets.json") == (0, "[b]sets.json: 1 sets on 1 names, 2 documents\n", "")
    (item,) = json.loads(Path("[b]sets.json").read_text())
    assert item == {
        "question": "What?",
        "ambiguous_entity": "Avon",
        "documents": [
            {
                "title": "Avon (river)",
                "text": "Fresh water that runs to the sea.",
                "answer": "water",
                "pid": 100,
            },
            {
                "title": "Avon (ship)",
                "text": "Vessel with a crew and masts.",
                "answer": ["vessel", "boat"],
                "pid": 200,
            },
        ],
        "qid": "Avon 1",
    }
    assert read_ambigdocs(Path("[b]sets.json"))[0].id == "Avon 1"


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = outcome(capsys, *COMMAND, "sets.json", "--json")
    assert json.loads(out) == {"path": "sets.json", "sets": 1, "names": 1, "documents": 2}


def test_a_file_is_not_written_over_unless_it_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sets.json").write_text("mine")
    said = "sets.json exists; give another --out, or --force to write over it"
    assert complaint(capsys, *COMMAND, "sets.json") == said
    assert outcome(capsys, *COMMAND, "sets.json", "--force")[0] == 0
    assert len(read_ambigdocs(Path("sets.json"))) == 1


def test_a_question_that_cannot_be_asked_leaves_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("questions.jsonl").write_text(json.dumps(WHAT | {"name": "Nowhere"}))
    said = complaint(capsys, *COMMAND, "sets.json")
    assert said == "questions.jsonl:1: field `name`: `world` has no name 'Nowhere'"
