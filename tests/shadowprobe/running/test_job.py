"""The rules that every run obeys, whether of a linker, a retriever, a reader or a language model."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_models import v1
from namesake_sets import reader, write_sets
from refusals import complaint, contents, outcome
from retrieval_world import write_collection
from service import serving
from world import write_world

from shadowprobe.base.files import lock_file
from shadowprobe.running.directory import ANSWERS, PREDICTIONS, RANKINGS

FILES = {"linker": PREDICTIONS, "retriever": RANKINGS, "reader": ANSWERS, "model": ANSWERS}


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A language model beside a dataset, a collection and sets in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    write_collection(tmp_path / "little")
    write_sets(tmp_path / "sets.json")
    with serving(reader) as service:
        yield v1(service)


@pytest.fixture(params=FILES)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


Command = Callable[..., list[str]]


@pytest.fixture
def ask(kind: str, address: str) -> Command:
    """The command that makes a run of a kind."""
    words = {
        "linker": ["run", "--linker", "random", "--dataset", "world"],
        "retriever": ["retrieve", "--retriever", "bm25", "--collection", "little", "--probe", "amber"],
        "reader": ["read", "--reader", "first-sentence", "--collection", "little", "--probe", "amber_reading"],
        "model": ["answer", "--url", address, "--model", "small", "--queries", "sets.json"],
    }
    return lambda *more, out="run": [*words[kind], *(["--out", out] if out else []), *more]


@pytest.fixture
def score(kind: str, address: str) -> Command:
    """The command that scores what a run has stored."""
    words = {
        "linker": ["score", "--dataset", "world"],
        "retriever": ["retrieve", "--collection", "little", "--probe", "amber"],
        "reader": ["read", "--collection", "little", "--probe", "amber_reading"],
        "model": ["answer", "--queries", "sets.json"],
    }
    return lambda *more: [*words[kind], "--predictions", "run", *more]


@pytest.fixture
def finished(ask: Command, capsys: pytest.CaptureFixture[str]) -> Path:
    code, _, err = outcome(capsys, *ask())
    assert code == 0, err
    return Path("run")


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def edit(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps(read(path) | entries))


def test_the_card_says_what_it_is_a_run_of_and_when_it_was_finished(finished: Path, kind: str) -> None:
    card = read(finished / "run.json")
    systems = {"linker": "random", "retriever": "bm25", "reader": "first-sentence", "model": "small"}
    assert card[kind]["name"] == systems[kind]
    assert card["started"]
    assert card["finished"] >= card["started"]
    assert card["seconds"] >= 0
    places = {"linker": "world", "retriever": "little", "reader": "little", "model": "sets.json"}
    assert list(card["locations"].values()) == [places[kind]]


def test_a_card_of_a_newer_version_is_refused(
    finished: Path, ask: Command, score: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(finished / "run.json", schema=99)
    words = "run/run.json: field `schema`: is 99, and this shadowprobe reads 1: update it"
    assert complaint(capsys, *ask()) == words
    assert complaint(capsys, *score()) == words


def test_a_card_without_a_system_is_refused(
    finished: Path, kind: str, ask: Command, score: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    card = read(finished / "run.json")
    del card[kind]
    (finished / "run.json").write_text(json.dumps(card))
    words = "run/run.json: describes no system: it has none of linker, retriever, reader, model"
    assert complaint(capsys, *ask()) == words
    assert complaint(capsys, *score()) == words


def test_the_run_of_another_kind_is_not_continued(
    finished: Path, kind: str, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    card = read(finished / "run.json")
    other = next(name for name in FILES if name != kind)
    (finished / "run.json").write_text(json.dumps({**card, kind: None, other: card[kind]}))
    expected = f"run holds a run of a {other}, not of a {kind}; give another --out, or --force to write over it"
    assert complaint(capsys, *ask()) == expected


@pytest.mark.parametrize("name", ["answers", "results"])
def test_answers_or_results_without_a_card_are_left_alone(
    finished: Path, kind: str, name: str, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    (finished / "run.json").unlink()
    held = FILES[kind] if name == "answers" else "results.json"
    if name == "results":
        (finished / FILES[kind]).unlink()
    before = contents(finished)
    expected = f"run holds {held} without run.json; give another --out, or --force to write over it"
    assert complaint(capsys, *ask()) == expected
    assert contents(finished) == before


def test_half_a_write_of_a_killed_run_is_removed(
    finished: Path, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    half = finished / ".results.json.x.half"
    half.write_text("{")
    assert outcome(capsys, *ask())[0] == 0
    assert not half.exists()


def test_a_torn_last_line_is_asked_again_and_ends_with_the_same_bytes(
    finished: Path, kind: str, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    path = finished / FILES[kind]
    before, results = path.read_bytes(), (finished / "results.json").read_bytes()
    os.truncate(path, len(before) - 5)
    code, _, err = outcome(capsys, *ask())
    assert code == 0
    resumed = before.count(b"\n") - 1
    assert f"{resumed} taken from an earlier run; 1 answered in " in err
    assert path.read_bytes() == before
    assert (finished / "results.json").read_bytes() == results


def test_a_finished_run_asks_nothing_and_forgets_old_failures(
    finished: Path, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    (finished / "failures.jsonl").write_text('{"id": "x", "error": "y"}\n')
    before = read(finished / "run.json")
    code, _, err = outcome(capsys, *ask())
    assert (code, " answered" in err) == (0, False)
    assert not (finished / "failures.jsonl").exists()
    assert read(finished / "run.json") == before


def test_a_directory_that_another_process_writes_to_is_refused(
    finished: Path, kind: str, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with lock_file(finished, FILES[kind]):
        assert complaint(capsys, *ask()) == "another shadowprobe is writing to run"


def test_a_run_is_scored_again_in_its_own_directory_with_the_same_results(
    finished: Path, score: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(finished)
    code, _, err = outcome(capsys, *score())
    assert (code, err) == (0, "Written to run/\n")
    assert contents(finished) == before


def test_stored_answers_that_are_scored_elsewhere_have_a_card_that_finds_their_questions(
    finished: Path, kind: str, score: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(capsys, *score("--out", "again"))[0] == 0
    card, copy = read(finished / "run.json"), read(Path("again/run.json"))
    assert (copy[kind], copy["locations"]) == (card[kind], card["locations"])
    assert read(Path("again/results.json")) == read(finished / "results.json")
    expected = "again/results.json exists; give another --out, or --force to write over it"
    assert complaint(capsys, *score("--out", "again")) == expected


def test_the_default_directory_is_named_after_the_system_and_its_questions(
    kind: str, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert outcome(capsys, *ask(out=""))[0] == 0
    names = {"linker": "random-world", "retriever": "bm25-little", "model": "small-sets"}
    name = {**names, "reader": "first-sentence-little-oracle"}[kind]
    assert [path.name for path in Path("runs").iterdir()] == [name]


def as_version_0_1(kind: str, card: dict[str, Any]) -> dict[str, Any]:
    """A card as version 0.1 wrote it: each kind said in another place where its questions were."""
    # There were no readers, whose cards say it as those of retrievers do.
    if kind in {"retriever", "reader"}:
        return {key: value for key, value in card.items() if key != "finished"}
    (location,) = card.pop("locations").values()
    if kind == "model":
        return {**card, "location": location}
    return {**card, "dataset": {**card["dataset"], "location": location}}


def test_a_run_of_version_0_1_is_continued(
    finished: Path, kind: str, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    (finished / "run.json").write_text(json.dumps(as_version_0_1(kind, read(finished / "run.json"))))
    path = finished / FILES[kind]
    before, results = path.read_bytes(), read(finished / "results.json")
    os.truncate(path, len(before) - 5)
    (finished / "results.json").unlink()
    assert outcome(capsys, *ask())[0] == 0
    assert (path.read_bytes(), read(finished / "results.json")) == (before, results)


def test_a_forced_run_starts_afresh(
    finished: Path, kind: str, ask: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = finished / FILES[kind]
    before = answers.read_bytes()
    shutil.copy(finished / "run.json", finished / "failures.jsonl")
    code, _, err = outcome(capsys, *ask("--force"))
    assert (code, "taken from an earlier run" in err) == (0, False)
    # The answers of a service are stored in the order in which they arrive.
    assert sorted(answers.read_bytes().splitlines()) == sorted(before.splitlines())
    assert not (finished / "failures.jsonl").exists()


def test_the_run_of_another_kind_is_not_scored_and_the_right_command_is_named(
    finished: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ["answer", "--queries", "sets.json"] if kind == "linker" else ["score", "--dataset", "world"]
    noun = {"linker": "linker", "retriever": "retriever", "reader": "reader", "model": "language model"}[kind]
    command = {"linker": "score", "retriever": "retrieve", "reader": "read", "model": "answer"}[kind]
    expected = f"run is a run of a {noun}: `shadowprobe {command} --predictions run` scores it"
    assert complaint(capsys, *other, "--predictions", "run") == expected


def test_a_part_of_a_run_does_not_replace_its_results_unless_the_run_is_named(
    finished: Path, kind: str, score: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "retriever":
        edit(finished / "results.json", queries={})
        part: list[str] = []
    else:
        part = ["--limit", "1"]
    before = (finished / "results.json").read_bytes()
    assert complaint(capsys, *score(*part)).endswith("; give the options of the run, or --out DIR")
    assert (finished / "results.json").read_bytes() == before
    outcome(capsys, *score(*part, "--out", "run"))
    assert (finished / "results.json").read_bytes() != before


def test_results_are_not_written_while_the_run_goes_on(
    finished: Path, kind: str, score: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with lock_file(finished, FILES[kind]):
        assert complaint(capsys, *score()) == "another shadowprobe is writing to run"
