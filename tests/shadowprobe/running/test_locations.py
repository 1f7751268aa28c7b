"""A finished run finds its dataset, its collection or its queries from any working directory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_models import v1
from namesake_sets import reader, write_sets
from refusals import complaint, outcome
from retrieval_world import write_collection
from service import serving
from world import write_world

KEYS = {"linker": "dataset", "retriever": "collection", "model": "queries"}
PLACES = {"linker": "world", "retriever": "little", "model": "sets.json"}
REPORT = ["report", "runs/one", "--out", "page.html", "--force"]


@pytest.fixture(params=KEYS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def study(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with a dataset, a collection, questions and a run over one of them, begun in this folder."""
    folder = tmp_path / "study"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_world(folder / "world")
    write_collection(folder / "little")
    write_sets(folder / "sets.json")
    for address in serve():
        commands = {
            "linker": ["run", "--linker", "random", "--dataset", "world"],
            "retriever": ["retrieve", "--retriever", "bm25", "--collection", "little", "--probe", "amber"],
            "model": ["answer", "--url", address, "--model", "small", "--queries", "sets.json"],
        }
        code, _, err = outcome(capsys, *commands[kind], "--out", "runs/one")
        assert code == 0, err
    return folder


def serve() -> Iterator[str]:
    with serving(reader) as service:
        yield v1(service)


def card_of(run: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((run / "run.json").read_text())
    return card


def test_the_card_says_where_the_questions_are_relative_to_the_run(study: Path, kind: str) -> None:
    card = card_of(Path("runs/one"))
    assert card["locations"] == {KEYS[kind]: PLACES[kind]}
    assert card["relative_locations"] == {KEYS[kind]: f"../../{PLACES[kind]}"}


def test_a_report_is_written_from_another_working_directory(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Where the questions went by this name, there is something else now.
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "world").mkdir(parents=True)
    (elsewhere / "little").mkdir()
    (elsewhere / "sets.json").write_text("[]")
    monkeypatch.chdir(elsewhere)
    code, _, err = outcome(capsys, "report", str(study / "runs/one"), "--out", "page.html")
    assert (code, err) == (0, "Written to page.html\n")


def test_run_and_questions_can_be_moved_together(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.move(study, "moved")
    code, _, err = outcome(capsys, "report", "moved/runs/one")
    assert (code, err) == (0, "Written to moved/runs/one/report.html\n")


def test_a_run_that_was_moved_alone_finds_them_by_the_name_that_the_user_gave(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move("runs/one", "one")
    assert outcome(capsys, "report", "one")[0] == 0


def test_a_run_of_an_earlier_version_has_only_that_name(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = card_of(Path("runs/one"))
    del card["relative_locations"]
    Path("runs/one/run.json").write_text(json.dumps(card))
    assert outcome(capsys, *REPORT)[0] == 0


def test_questions_that_are_gone_can_be_named(study: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree("runs/one", "runs/two")
    shutil.move(PLACES[kind], "hidden")
    option = "--queries" if kind == "model" else "--dataset"
    compare = ["compare", "runs/one", "runs/two"]
    assert f"; {option} says where " in complaint(capsys, *compare)
    code, _, err = outcome(capsys, *compare, option, "hidden")
    assert code == 0, err


@pytest.mark.parametrize("kind", ["linker"], indirect=True)
def test_stored_predictions_are_scored_where_their_dataset_is_now(
    study: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.move("world", "hidden")
    words = "runs/one: its dataset is no longer at world; --dataset says where it is now"
    assert complaint(capsys, "score", "--predictions", "runs/one") == words
    assert complaint(capsys, "export", "nif", "--predictions", "runs/one") == words
    assert outcome(capsys, "score", "--predictions", "runs/one", "--dataset", "hidden")[0] == 0


@pytest.mark.parametrize("kind", ["linker"], indirect=True)
def test_a_dataset_that_is_known_by_name_has_no_place(
    study: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # The known dataset is meant, whatever else has its name.
    Path("mini").mkdir()
    assert outcome(capsys, "run", "--linker", "prior", "--limit", "2", "--out", "known")[0] == 0
    assert "relative_locations" not in card_of(Path("known"))
    assert outcome(capsys, "report", "known")[0] == 0


@pytest.mark.parametrize("kind", ["linker"], indirect=True)
def test_a_corrected_run_finds_its_dataset_and_has_the_name_of_the_run(
    study: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["run", "--linker", "blend", "--dataset", "world", "--out", "runs/two", "--name", "mine"]
    assert outcome(capsys, *made)[0] == 0
    code, _, err = outcome(capsys, "debias", "runs/two", "--weight", "0.5", "--out", "deep/er/two")
    assert code == 0, err
    card = card_of(Path("deep/er/two"))
    assert (card["name"], card["relative_locations"]) == ("mine debiased", {"dataset": "../../../world"})
