"""A dataset directory: what is refused, by which file, line and field; and what is just allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import Card, Dataset, Entity, EntitySpace, InputError, Snippet, UsageError, write_dataset

Lines = dict[str, list[dict[str, Any]]]


def make_lines() -> Lines:
    """A dataset with one name: two entities, and a snippet of each subset."""
    text = "Avon, again."
    place = {"text": text, "start": 0, "end": 4}
    return {
        "dataset.json": [{"schema": 1, "name": "one"}],
        "entities.jsonl": [
            {"title": "Avon (river)", "page_id": 1, "qid": "Q1", "commonness": 0},
            {"title": "Avon (ship)", "page_id": 2, "qid": "Q2", "commonness": 5},
        ],
        "spaces.jsonl": [{"name": "Avon", "entities": ["Avon (river)", "Avon (ship)"]}],
        "top.jsonl": [{"id": "t", "subset": "top", **place, "space": "Avon", "gold": "Avon (river)"}],
        "shadow.jsonl": [{"id": "s", "subset": "shadow", **place, "space": "Avon", "gold": "Avon (ship)"}],
        "tail.jsonl": [{"id": "r", "subset": "tail", **place, "gold": "Avon (ship)"}],
        "neutral.jsonl": [{"id": "n", "subset": "neutral", **place, "space": "Avon"}],
        "all.jsonl": [{"id": "a", "subset": "all", **place}],
    }


def read(path: Path, lines: Lines) -> Dataset:
    path.mkdir(exist_ok=True)
    for name, objects in lines.items():
        (path / name).write_text("".join(f"{json.dumps(item)}\n" for item in objects), encoding="utf-8")
    return Dataset.read(path)


def test_the_dataset_that_is_damaged_below_is_a_valid_one(tmp_path: Path) -> None:
    dataset = read(tmp_path / "d", make_lines())
    assert dataset.count() == 5
    assert {subset: dataset.count(subset) for subset in ("top", "tail", "all")} == {"top": 1, "tail": 1, "all": 1}


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("dataset.json", {"schema": 2}, "field `schema`: is 2, and this shadowprobe reads 1: update it"),
        ("dataset.json", {"name": " "}, "field `name`: is empty"),
        ("dataset.json", {"files": {"../x": "0"}}, "field `files`: '../x' is not a plain file name"),
        ("dataset.json", {"files": {"top.jsonl": "00"}}, "field `files`: lists top.jsonl with SHA-256 00..."),
        ("entities.jsonl", {"title": " "}, "field `title`: ' ' is no title"),
        ("entities.jsonl", {"title": "Avon_(ship)"}, "field `title`: 'Avon_(ship)' should be written 'Avon (ship)'"),
        ("entities.jsonl", {"title": "Avon (ship)"}, "2: field `title`: 'Avon (ship)' stands twice"),
        ("entities.jsonl", {"page_id": 0}, "1: field `page_id`: 0 is not a page id"),
        ("entities.jsonl", {"page_id": 2}, "2: field `page_id`: 2 is that of 'Avon (river)' already"),
        ("entities.jsonl", {"qid": "Q01"}, "1: field `qid`: 'Q01' is not a QID such as Q42"),
        ("entities.jsonl", {"qid": "Q2"}, "2: field `qid`: Q2 is that of 'Avon (river)' already"),
        ("entities.jsonl", {"commonness": -1}, "1: field `commonness`: -1 is negative"),
        ("spaces.jsonl", {"name": " "}, "1: field `name`: is empty"),
        ("spaces.jsonl", {"entities": []}, "1: field `entities`: a space needs at least one entity"),
        ("spaces.jsonl", {"entities": ["Exe"]}, "1: field `entities`: 'Exe' is not in entities.jsonl"),
        ("spaces.jsonl", {"entities": ["Avon (ship)"] * 2}, "1: field `entities`: an entity stands twice"),
        ("top.jsonl", {"id": ""}, "1: field `id`: is empty"),
        ("top.jsonl", {"subset": "tail"}, "1: field `subset`: 'tail' stands in the file of 'top'"),
        ("top.jsonl", {"start": -1}, "1: field `start`: -1 is negative"),
        ("top.jsonl", {"end": 13}, "1: field `end`: 13 is outside the text of 12 characters"),
        ("top.jsonl", {"start": 4}, "1: field `end`: 4 is not after the start, 4"),
        ("top.jsonl", {"space": "Exe"}, "1: field `space`: 'Exe' is not in spaces.jsonl"),
        ("top.jsonl", {"space": None}, "1: field `space`: is missing, and a top snippet needs one"),
        ("shadow.jsonl", {"space": None}, "1: field `space`: is missing, and a shadow snippet needs one"),
        ("neutral.jsonl", {"space": None}, "1: field `space`: is missing, and a neutral snippet needs one"),
        ("top.jsonl", {"gold": None}, "1: field `gold`: is missing, and a top snippet needs one"),
        ("tail.jsonl", {"gold": None}, "1: field `gold`: is missing, and a tail snippet needs one"),
        ("tail.jsonl", {"gold": "Exe"}, "1: field `gold`: 'Exe' is not in entities.jsonl"),
        ("top.jsonl", {"gold": "Avon (ship)"}, "'Avon (ship)' is not the top of 'Avon', which is 'Avon (river)'"),
        ("shadow.jsonl", {"gold": "Avon (river)"}, "1: field `gold`: 'Avon (river)' is not a shadow of 'Avon'"),
        ("neutral.jsonl", {"gold": "Avon (ship)"}, "1: field `gold`: a neutral context has no gold entity"),
        ("shadow.jsonl", {"id": "t"}, "1: field `id`: 't' stands twice"),
    ],
)
def test_a_damaged_dataset_is_refused_with_its_place(
    tmp_path: Path, file: str, change: dict[str, Any], message: str
) -> None:
    lines = make_lines()
    lines[file][0] |= change
    with pytest.raises(InputError) as refused:
        read(tmp_path / "d", lines)
    assert f"{tmp_path / 'd' / file}:" in str(refused.value)
    assert message in str(refused.value)


def test_a_space_may_not_stand_twice(tmp_path: Path) -> None:
    lines = make_lines()
    lines["spaces.jsonl"] *= 2
    with pytest.raises(InputError, match=r"spaces\.jsonl:2: field `name`: 'Avon' stands twice"):
        read(tmp_path / "d", lines)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("top.jsonl", {"start": 11, "end": 12}),
        ("tail.jsonl", {"space": "Avon", "gold": "Avon (river)"}),
        ("all.jsonl", {"gold": "Avon (river)"}),
        ("entities.jsonl", {"page_id": None, "qid": None, "commonness": None}),
    ],
)
def test_what_is_just_allowed(tmp_path: Path, file: str, change: dict[str, Any]) -> None:
    lines = make_lines()
    lines[file][0] |= change
    assert read(tmp_path / "d", lines).count() == 5


def test_a_dataset_needs_a_snippet_and_may_lack_every_other_file(tmp_path: Path) -> None:
    lines = make_lines()
    needed = {name: lines[name] for name in ("dataset.json", "entities.jsonl", "spaces.jsonl")}
    with pytest.raises(InputError, match=r"has no snippets: none of top\.jsonl, shadow\.jsonl"):
        read(tmp_path / "none", needed)
    assert read(tmp_path / "one", {**needed, "tail.jsonl": lines["tail.jsonl"]}).count() == 1


def test_a_file_that_the_card_lists_must_be_there(tmp_path: Path) -> None:
    lines = make_lines()
    del lines["tail.jsonl"]
    lines["dataset.json"][0]["files"] = {"tail.jsonl": "0"}
    with pytest.raises(InputError, match=r"tail\.jsonl: no such file, and dataset\.json lists it"):
        read(tmp_path / "d", lines)


def test_what_is_no_directory_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is not a dataset directory"):
        Dataset.read(tmp_path / "file")
    with pytest.raises(InputError, match="no such dataset directory"):
        Dataset.read(tmp_path / "none")


def write(path: Path, *, force: bool = False, name: str = "Avon") -> Dataset:
    snippet = Snippet("t", "top", f"{name}.", 0, len(name), space=name, gold=name)
    return write_dataset(
        path, Card(name="d"), [Entity(name)], [EntitySpace(name, (name,))], {"top": [snippet]}, force=force
    )


def test_a_dataset_is_written_over_only_if_that_is_meant(tmp_path: Path) -> None:
    first = write(tmp_path / "d")
    with pytest.raises(UsageError, match="holds a dataset already; --force writes over it"):
        write(tmp_path / "d", name="Exe")
    assert Dataset.read(tmp_path / "d").digest == first.digest
    (tmp_path / "d" / "tail.jsonl").write_text("left from before", encoding="utf-8")
    assert list(write(tmp_path / "d", name="Exe", force=True).spaces) == ["Exe"]
    assert not (tmp_path / "d" / "tail.jsonl").exists()


def test_the_card_counts_the_lines_of_every_file(tmp_path: Path) -> None:
    assert write(tmp_path / "d").card.counts == {"entities": 1, "spaces": 1, "top": 1}


def test_any_change_makes_another_dataset(tmp_path: Path) -> None:
    digests = {read(tmp_path / "a", make_lines()).digest}
    changes: list[Callable[[Lines], Any]] = [
        lambda lines: lines["entities.jsonl"][0].update(commonness=1),
        lambda lines: lines["all.jsonl"][0].update(text="Avon again!!"),
    ]
    for number, change in enumerate(changes):
        lines = make_lines()
        change(lines)
        digests.add(read(tmp_path / str(number), lines).digest)
    assert len(digests) == 3


def test_what_is_wrong_in_a_dataset_that_is_written_has_its_line(tmp_path: Path) -> None:
    wrong = Snippet("one", "top", "Nothing about it.", 0, 4, gold="Avon (river)", space="Nowhere")
    with pytest.raises(InputError, match=r"top\.jsonl:1: "):
        write_dataset(tmp_path / "new", Card(name="new"), [Entity("Avon (river)")], [], {"top": [wrong]})


def test_what_is_refused_leaves_neither_a_new_directory_nor_a_change_of_an_old_one(tmp_path: Path) -> None:
    wrong = Snippet("two", "top", "Nothing about it.", 0, 4, gold="Avon", space="Nowhere")
    right = Snippet("one", "top", "Avon, again.", 0, 4, gold="Avon", space="Avon")
    old = write(tmp_path / "old")
    for name in ("new", "old"):
        with pytest.raises(InputError, match=r"top\.jsonl:2: "):
            write_dataset(
                tmp_path / name,
                Card(name="d"),
                [Entity("Avon")],
                [EntitySpace("Avon", ("Avon",))],
                {"top": iter([right, wrong])},
                force=True,
            )
    assert not (tmp_path / "new").exists()
    assert Dataset.read(tmp_path / "old").digest == old.digest
    assert not list((tmp_path / "old").glob(".*"))


def test_a_subset_without_snippets_has_no_file(tmp_path: Path) -> None:
    snippet = Snippet("one", "top", "Avon, again.", 0, 4, gold="Avon", space="Avon")
    spaces = [EntitySpace("Avon", ("Avon",))]
    made = write_dataset(tmp_path / "d", Card(name="d"), [Entity("Avon")], spaces, {"tail": iter(()), "top": [snippet]})
    assert list(made.card.counts) == ["entities", "spaces", "top"]
    assert not (tmp_path / "d" / "tail.jsonl").exists()


def test_the_first_spaces_have_their_snippets_and_all_candidates(tmp_path: Path) -> None:
    spaces = [EntitySpace("Avon", ("Avon (river)",)), EntitySpace("Bath", ("Bath (town)",))]
    snippets = [
        Snippet(id=name, subset="top", text=f"We saw {name}.", start=7, end=11, space=name, gold=f"{name} ({kind})")
        for name, kind in (("Avon", "river"), ("Bath", "town"))
    ]
    entities = [Entity("Avon (river)"), Entity("Bath (town)")]
    whole = write_dataset(tmp_path / "set", Card(name="set"), entities, spaces, {"top": snippets})
    assert list(whole.snippets()) == list(whole.snippets("top")) == snippets
    part = whole.first(1)
    assert (list(part.snippets()), part.count(), whole.count()) == (snippets[:1], 1, 2)
    assert len(part.knowledge) == 2
    assert list(part.snippets("tail")) == []
