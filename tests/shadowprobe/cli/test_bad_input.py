"""A dataset with a fault is refused in one line that names file, line and field, before anything is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import Damage, change, complaint, drop, ids, outcome, put, spoil, whole, world_to_edit, write
from world import write_world

RUN = ("run", "--linker", "prior", "--dataset", "world", "--out", "run")


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world_to_edit(tmp_path / "world")
    monkeypatch.chdir(tmp_path)


# Line 2 of top.jsonl is "Anglers say that Berg runs clear above the mill.", 48 characters, Berg at 17 to 21.
SNIPPETS = [
    ("top", put(2, b'{"id": "tBerg", "subset": "top", '), 2, "", "not valid JSON"),
    ("top", put(2, b"tBerg,top,Berg"), 2, "", "not valid JSON"),
    ("top", write(2, "end", b'21} {"and": "another"'), 2, "", "trailing characters"),
    ("top", put(2, b"{'id': 'tBerg'}"), 2, "", "not valid JSON"),
    ("top", put(2, b'["tBerg", "top"]'), 2, "", "Expected `object`, got `array`"),
    ("top", put(2, b"null"), 2, "", "Expected `object`, got `null`"),
    ("top", write(2, "text", b'"Berg \xff"'), 2, "", "is not UTF-8"),
    ("top", write(2, "text", b'"\\ud83d is half of a character"'), 2, "", "not valid JSON"),
    ("top", write(2, "template", b"[" * 100_000 + b"]" * 100_000), 2, "template", "Expected `int | null`, got `array`"),
    ("top", drop(2, "id"), 2, "id", "missing"),
    ("top", change(2, id=7), 2, "id", "Expected `str`, got `int`"),
    ("top", change(2, id=""), 2, "id", "is empty"),
    ("top", change(3, id="tAvon"), 3, "id", "'tAvon' stands twice"),
    ("neutral", change(5, id="tAvon"), 5, "id", "'tAvon' stands twice"),
    ("top", change(2, subset="middle"), 2, "subset", "'middle'"),
    ("top", change(2, subset="shadow"), 2, "subset", "'shadow' stands in the file of 'top'"),
    ("top", change(2, text=None), 2, "text", "Expected `str`, got `null`"),
    ("top", change(2, start="17"), 2, "start", "Expected `int`, got `str`"),
    ("top", change(2, start=17.5), 2, "start", "Expected `int`, got `float`"),
    ("top", change(2, start=True), 2, "start", "Expected `int`, got `bool`"),
    ("top", write(2, "start", b"NaN"), 2, "", "not valid JSON"),
    ("top", change(2, start=-4), 2, "start", "-4 is negative"),
    ("top", change(2, end=49), 2, "end", "49 is outside the text of 48 characters"),
    ("top", change(2, end=10**30), 2, "end", "is outside the text of 48 characters"),
    ("top", write(2, "end", b"9" * 5000), 2, "end", "out of range"),
    ("top", change(2, end=17), 2, "end", "17 is not after the start, 17"),
    ("top", change(2, end=3), 2, "end", "3 is not after the start, 17"),
    ("top", change(2, space="Bergen"), 2, "space", "'Bergen' is not in spaces.jsonl"),
    ("neutral", drop(4, "space"), 4, "space", "a neutral snippet needs one"),
    ("tail", drop(1, "gold"), 1, "gold", "a tail snippet needs one"),
    ("tail", change(1, gold="Urika"), 1, "gold", "'Urika' is not in entities.jsonl"),
    ("top", change(2, gold="Berg (ship)"), 2, "gold", "is not the top of 'Berg', which is 'Berg (river)'"),
    ("shadow", change(2, gold="Berg (river)"), 2, "gold", "is not a shadow of 'Berg'"),
    ("neutral", change(4, gold="Berg (river)"), 4, "gold", "a neutral context has no gold entity"),
    ("neutral", change(4, template=2**31), 4, "template", "Expected `int` <= 2147483647"),
    ("neutral", change(4, template=-1), 4, "template", "Expected `int` >= 0"),
    ("top", change(2, mention="Berg"), 2, "mention", "unknown"),
]


@pytest.mark.parametrize(("subset", "damage", "line", "field", "words"), SNIPPETS, ids=ids(SNIPPETS))
def test_a_wrong_snippet_is_refused_with_its_line_and_field(
    capsys: pytest.CaptureFixture[str], subset: str, damage: Damage, line: int, field: str, words: str
) -> None:
    spoil(Path("world") / f"{subset}.jsonl", damage)
    said = complaint(capsys, *RUN)
    assert said.startswith(f"world/{subset}.jsonl:{line}: " + (f"field `{field}`: " if field else ""))
    assert words in said


# Lines 3 and 4 of entities.jsonl are Berg (river), page 101, and Berg (ship), page 201.
ENTITIES = [
    (put(3, b'{"title": '), "", "not valid JSON"),
    (drop(3, "title"), "title", "missing"),
    (change(3, title=""), "title", "'' is no title"),
    (change(3, title="Berg_(river)"), "title", "'Berg_(river)' should be written 'Berg (river)'"),
    (change(3, title="Avon (river)"), "title", "'Avon (river)' stands twice"),
    (change(3, page_id="101"), "page_id", "Expected `int | null`, got `str`"),
    (change(3, page_id=0), "page_id", "0 is not a page id"),
    (change(3, page_id=100), "page_id", "100 is that of 'Avon (river)' already"),
    (change(3, qid="wd:Q42"), "qid", "'wd:Q42' is not a QID such as Q42"),
    (change(3, commonness=-1), "commonness", "-1 is negative"),
    (change(3, commonness=1.5), "commonness", "Expected `int | null`, got `float`"),
    (change(3, redirects="Bergh"), "redirects", "Expected `array`, got `str`"),
    (change(3, redirects=["Bergh", 5]), "redirects[1]", "Expected `str`, got `int`"),
    (change(3, popularity=3), "popularity", "unknown"),
]


@pytest.mark.parametrize(("damage", "field", "words"), ENTITIES, ids=ids(ENTITIES))
def test_a_wrong_entity_is_refused_with_its_line_and_field(
    capsys: pytest.CaptureFixture[str], damage: Damage, field: str, words: str
) -> None:
    spoil(Path("world/entities.jsonl"), damage)
    said = complaint(capsys, *RUN)
    assert said.startswith("world/entities.jsonl:3: " + (f"field `{field}`: " if field else ""))
    assert words in said


def test_two_entities_cannot_have_one_qid(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (1, 4):
        spoil(Path("world/entities.jsonl"), change(line, qid="Q42"))
    said = complaint(capsys, *RUN)
    assert said == "world/entities.jsonl:4: field `qid`: Q42 is that of 'Avon (river)' already"


SPACES = [
    (put(2, b"Berg"), "", "not valid JSON"),
    (change(2, name=""), "name", "is empty"),
    (change(2, name="Avon"), "name", "'Avon' stands twice"),
    (change(2, entities="Berg (river)"), "entities", "Expected `array`, got `str`"),
    (change(2, entities=[]), "entities", "a space needs at least one entity"),
    (change(2, entities=["Berg (river)", "Berg (train)"]), "entities", "'Berg (train)' is not in entities.jsonl"),
    (change(2, entities=["Berg (river)"] * 2), "entities", "an entity stands twice"),
]


@pytest.mark.parametrize(("damage", "field", "words"), SPACES, ids=ids(SPACES))
def test_a_wrong_space_is_refused_with_its_line_and_field(
    capsys: pytest.CaptureFixture[str], damage: Damage, field: str, words: str
) -> None:
    spoil(Path("world/spaces.jsonl"), damage)
    said = complaint(capsys, *RUN)
    assert said.startswith("world/spaces.jsonl:2: " + (f"field `{field}`: " if field else ""))
    assert words in said


# A comma is missing after the second line; byte 30 stands on the third.
BROKEN_CARD = b'{\n  "name": "world"\n  "version": "1"\n}\n'
CARDS = [
    (whole(b""), ":1: ", "not valid JSON"),
    (whole(BROKEN_CARD), ":3: ", "not valid JSON"),
    (whole(b'{"name": "w\xf6rld"}'), ":1: ", "is not UTF-8"),
    (whole('{"name": "world"}'.encode("utf-16")), ":1: ", "is not UTF-8"),
    (whole(b'["world"]'), ": ", "Expected `object`, got `array`"),
    (whole(b'{"title": "world"}'), ": field `name`: ", "missing"),
    (whole(b'{"name": 5}'), ": field `name`: ", "Expected `str`, got `int`"),
    (whole(b'{"name": " "}'), ": field `name`: ", "is empty"),
    (whole(b'{"name": "world", "schema": 2}'), ": field `schema`: ", "is 2, and this shadowprobe reads 1"),
    (whole(b'{"name": "world", "counts": {"top": "4"}}'), ": field `counts", "Expected `int`, got `str`"),
    (whole(b'{"name": "world", "files": {"../top.jsonl": ""}}'), ": field `files`: ", "is not a plain file name"),
]


@pytest.mark.parametrize(("damage", "place", "words"), CARDS, ids=ids(CARDS))
def test_a_wrong_card_is_refused_with_its_field(
    capsys: pytest.CaptureFixture[str], damage: Damage, place: str, words: str
) -> None:
    spoil(Path("world/dataset.json"), damage)
    said = complaint(capsys, *RUN)
    assert said.startswith(f"world/dataset.json{place}")
    assert words in said


def test_a_file_that_changed_since_the_card_was_written_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    write_world(Path("sealed"))
    spoil(Path("sealed/top.jsonl"), change(1, source="https://example.org"))
    said = complaint(capsys, "run", "--linker", "prior", "--dataset", "sealed", "--out", "run")
    assert said.startswith("sealed/dataset.json: field `files`: lists top.jsonl with SHA-256 ")


def test_a_file_that_the_card_lists_must_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    write_world(Path("sealed"))
    Path("sealed/tail.jsonl").unlink()
    said = complaint(capsys, "run", "--linker", "prior", "--dataset", "sealed", "--out", "run")
    assert said == "sealed/tail.jsonl: no such file, and dataset.json lists it"


@pytest.mark.parametrize("name", ["dataset.json", "entities.jsonl"])
def test_a_dataset_needs_its_card_and_its_entities(capsys: pytest.CaptureFixture[str], name: str) -> None:
    (Path("world") / name).unlink()
    assert complaint(capsys, *RUN) == f"world/{name}: no such file"


@pytest.mark.parametrize("name", ["dataset.json", "entities.jsonl", "spaces.jsonl", "top.jsonl"])
def test_a_directory_in_the_place_of_a_file_is_refused(capsys: pytest.CaptureFixture[str], name: str) -> None:
    (Path("world") / name).unlink()
    (Path("world") / name).mkdir()
    assert complaint(capsys, *RUN) == f"world/{name}: is a directory, not a file"


def test_a_dataset_without_any_snippet_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for subset in ("top", "shadow", "tail", "neutral"):
        (Path("world") / f"{subset}.jsonl").write_bytes(b"\n")
    assert complaint(capsys, *RUN).startswith("world: has no snippets: none of top.jsonl, shadow.jsonl, ")


def test_a_name_in_the_card_does_not_lead_out_of_the_directory_for_runs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("world/dataset.json").write_text(json.dumps({"name": "../../world\0"}))
    code, _, err = outcome(capsys, "run", "--linker", "prior", "--dataset", "world")
    assert code == 0
    assert [path.name for path in Path("runs").iterdir()] == ["prior-.._.._world_"]
    assert "Written to runs/prior-.._.._world_/" in err
