"""A run directory: what its card must say, where two cards differ, and where its data is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import InputError, UsageError
from shadowprobe.running.directory import (
    RunCard,
    dataset_location,
    describe_difference,
    find_answers,
    find_difference,
    locate,
    make_relative,
    read_card,
    read_failures,
    read_stored_card,
    refuse_existing,
    remove_derived,
    system_name,
)

SYSTEM: dict[str, Any] = {"name": "prior", "version": "1", "options": {"weight": 0.5, "token": "x"}}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_card(run: str = "run", **entries: Any) -> Path:
    path = Path(run) / "run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schema": 1, **entries}))
    return path


@pytest.mark.parametrize("kind", ["linker", "retriever", "reader", "model"])
def test_a_card_is_of_the_one_system_that_it_describes(kind: str) -> None:
    card = read_card(write_card("run", **{kind: SYSTEM}))
    assert (card.kind, card.system) == (kind, SYSTEM)
    # Of a run that has not begun, nothing is counted yet.
    assert (card.total, card.seconds, card.started, card.notes) == (0, 0.0, "", [])


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({}, "run.json: describes no system: it has none of linker, retriever, reader, model"),
        ({"reader": {"options": {}}}, "`reader.name`: expected a name, got None"),
        ({"linker": {"name": "prior"}}, "`linker.options`: expected an object, got None"),
        ({"linker": {"name": "prior", "options": []}}, "`linker.options`: expected an object, got []"),
        ({"linker": SYSTEM, "schema": 2}, "`schema`: is 2, and this shadowprobe reads 1"),
    ],
)
def test_a_card_that_describes_no_system_is_refused(entries: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as refused:
        read_card(write_card(**entries))
    assert words in str(refused.value)


def test_a_file_of_answers_belongs_to_the_run_in_its_folder_by_its_name_alone() -> None:
    write_card(linker=SYSTEM)
    for name in ("predictions.jsonl", "other.jsonl"):
        Path("run", name).touch()
    assert find_answers(Path("run"), "predictions.jsonl") == Path("run/predictions.jsonl")
    assert find_answers(Path("run/other.jsonl"), "predictions.jsonl") == Path("run/other.jsonl")
    assert read_stored_card(Path("run"), "predictions.jsonl") is not None
    assert read_stored_card(Path("run/predictions.jsonl"), "predictions.jsonl") is not None
    assert read_stored_card(Path("run/other.jsonl"), "predictions.jsonl") is None
    assert read_stored_card(Path("elsewhere"), "predictions.jsonl") is None
    assert [system_name(Path(one)) for one in ("run", "run/other.jsonl")] == ["prior", "other"]


def test_two_cards_differ_in_what_can_change_an_answer() -> None:
    old = RunCard(linker=SYSTEM, dataset={"name": "mini", "location": "here"}, depth=10)
    for same in (
        RunCard(linker=SYSTEM, dataset={"name": "mini", "location": "there"}, depth=20),
        RunCard(linker={**SYSTEM, "options": {"weight": 0.5, "token": "y"}}, dataset={"name": "mini"}),
    ):
        assert find_difference(old, same, {"linker", "dataset"}, {"token"}) is None
    other = RunCard(linker={**SYSTEM, "options": {"weight": 0.7}}, dataset={"name": "maxi"}, depth=20)
    # The entries are compared in the order of their names.
    assert find_difference(old, other, {"linker", "dataset"}, {"token"}) == "dataset name is 'mini', not 'maxi'"
    assert find_difference(old, other, {"linker"}, {"token"}) == "linker options weight is 0.5, not 0.7"
    assert find_difference(old, other, {"linker"}, {"weight"}) == "linker options token is 'x', not None"
    assert find_difference(old, other, {"depth"}, set()) == "depth is 10, not 20"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("a" * 64, "b" * 64, f"{'a' * 12}..., not {'b' * 12}..."),
        # These are no digests, and are shown as they are.
        ("a" * 63, "g" * 64, f"'{'a' * 63}', not '{'g' * 64}'"),
        (None, {"name": "x"}, "None, not {'name': 'x'}"),
        ({"name": "x"}, None, "{'name': 'x'}, not None"),
    ],
)
def test_of_a_digest_the_beginning_is_shown(old: object, new: object, words: str) -> None:
    assert describe_difference("dataset", old, new) == f"dataset is {words}"


def test_what_is_moved_together_with_the_run_is_found_beside_it() -> None:
    for name in ("all/run", "all/data", "data"):
        Path(name).mkdir(parents=True)
    card = RunCard(locations={"dataset": "data"}, relative_locations={"dataset": "../data"})
    assert locate(Path("all/run"), card, "dataset") == str(Path("all/data").resolve())
    Path("all/data").rmdir()
    assert locate(Path("all/run"), card, "dataset") == "data"
    # Where both mean the same directory, it is called as the user called it.
    Path("run").mkdir()
    assert locate(Path("run"), card, "dataset") == "data"
    assert locate(Path("all/run"), RunCard(locations={"dataset": "mini"}), "dataset") == "mini"


def test_a_relative_path_has_slashes_and_is_one_that_json_can_hold() -> None:
    assert make_relative(Path("sets/data"), Path("runs/one")) == "../../sets/data"
    assert make_relative(Path("broken\udcff"), Path("runs")) is None


def test_cards_of_the_first_version_say_elsewhere_where_their_data_is() -> None:
    assert RunCard(location="sets.json").location_of("queries") == "sets.json"
    assert RunCard(location="sets.json").location_of("collection") == ""
    assert RunCard(dataset={"location": "data"}).location_of("dataset") == "data"
    assert RunCard(dataset={"location": "data"}).location_of("queries") == ""
    assert RunCard(locations={"queries": "new"}, location="old").location_of("queries") == "new"


def test_the_dataset_of_a_run_is_one_that_is_there_or_known_by_name() -> None:
    Path("data").mkdir()
    assert dataset_location(Path("predictions.jsonl")) == "mini"
    for location in ("data", "places"):
        write_card(linker=SYSTEM, locations={"dataset": location})
        assert dataset_location(Path("run")) == location
    write_card(linker=SYSTEM, locations={"dataset": "gone"})
    with pytest.raises(UsageError, match=r"^run: its dataset is no longer at gone; --dataset says where it is now$"):
        dataset_location(Path("run/predictions.jsonl"))


def test_a_directory_is_refused_by_the_first_of_its_files() -> None:
    refuse_existing(Path("run"), ("results.json", "run.json"))
    write_card()
    refuse_existing(Path("run"), ("results.json",))
    with pytest.raises(UsageError, match=r"^run/run\.json exists; give another --out, or --force to write over it$"):
        refuse_existing(Path("run"), ("results.json", "run.json"))


def test_what_belongs_to_old_answers_is_removed_and_nothing_else() -> None:
    derived = ["results.json", "debias.json", "failures.jsonl"]
    derived += [f"extra/masked/{name}" for name in ("predictions.jsonl", "failures.jsonl", "run.json")]
    # The variants stay, and so does a folder that is no run.
    kept = ["run.json", "predictions.jsonl", "extra/masked/dataset/top.jsonl", "extra/mine/predictions.jsonl"]
    for name in (*derived, *kept):
        path = Path("run", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    remove_derived(Path("run"))
    assert sorted(str(file.relative_to("run")) for file in Path("run").rglob("*") if file.is_file()) == sorted(kept)
    # Variants may have no answers and no failures, and there may be nothing to be removed.
    Path("run/extra/masked/run.json").touch()
    for _ in range(2):
        remove_derived(Path("run"))
        assert not Path("run/extra/masked/run.json").exists()


def test_failures_are_those_of_the_last_run() -> None:
    assert read_failures(Path("run")) == []
    write_card()
    Path("run/failures.jsonl").write_text('{"id": "a", "error": "too hard"}\n')
    assert [(one.id, one.error) for one in read_failures(Path("run"))] == [("a", "too hard")]
