"""The files of annotators at the limits of what they may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import InputError, UsageError
from shadowprobe.human_study.amber_questions import NamesakeDocument
from shadowprobe.human_study.amber_sample import AmberItem, AmberKey
from shadowprobe.human_study.annotations import Annotations, read_annotations

TEXT = "Ann was\nborn in Leeds."


@pytest.fixture
def key() -> AmberKey:
    """Ten questions, each with three documents of the same text."""
    first, second, third = (NamesakeDocument(str(n), "Ann", TEXT, ()) for n in range(3))
    items = (
        AmberItem(n, f"q{n}", "Ann", "human", "head", "Where?", (first, second, third), 1, ("Leeds",))
        for n in range(1, 11)
    )
    return AmberKey("s1", "study", "trio", "digest", 7, {}, tuple(items))


def read_form(path: Path, key: AmberKey, **answer: Any) -> Annotations:
    """The only answer of a form: item 1 and document 1 unless it says otherwise."""
    answers = [{"item": 1, "choice": 1, **answer}]
    path.write_text(json.dumps({"schema": 1, "sample": "s1", "annotator": "Ann", "answers": answers}))
    return read_annotations([path], key)[0]


@pytest.mark.parametrize(("item", "choice"), [(1, 1), (10, 3)])
def test_the_first_and_the_last_item_and_document_are_allowed(
    tmp_path: Path, key: AmberKey, item: int, choice: int
) -> None:
    assert read_form(tmp_path / "a.json", key, item=item, choice=choice).choices == {item: choice}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"item": 0}, "the sample has no item 0"),
        ({"item": 11}, "the sample has no item 11"),
        ({"choice": 0}, "is 0: give 1, 2 or 3"),
        ({"choice": 4}, "is 4: give 1, 2 or 3"),
    ],
)
def test_what_is_beyond_them_is_refused(tmp_path: Path, key: AmberKey, answer: dict[str, int], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        read_form(tmp_path / "a.json", key, **answer)


def test_a_mark_may_begin_at_the_first_character_and_end_behind_the_last(tmp_path: Path, key: AmberKey) -> None:
    found = read_form(tmp_path / "a.json", key, start=0, end=len(TEXT), text=TEXT)
    assert found.spans == {1: TEXT}


def test_an_empty_mark_says_that_the_answer_is_not_there(tmp_path: Path, key: AmberKey) -> None:
    for mark in ({"start": 0, "end": 0, "text": ""}, {"start": 4, "end": 4, "text": ""}, {}):
        assert read_form(tmp_path / "a.json", key, **mark).spans == {}


@pytest.mark.parametrize(
    "mark",
    [
        {"start": -1, "end": 3, "text": "Ann"},
        {"start": 0, "end": 3, "text": "Bob"},
        {"start": 3, "end": 3, "text": "Ann"},
        {"start": 3, "end": 0, "text": "Ann"},
        {"start": 0, "end": 3, "text": ""},
        {"start": 0, "text": "Ann"},
        {"end": 3, "text": "Ann"},
        {"text": "Ann"},
    ],
)
def test_a_mark_that_is_not_in_the_document_is_refused(tmp_path: Path, key: AmberKey, mark: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"answers\[0\].text`: is not what document 1 of item 1 has from"):
        read_form(tmp_path / "a.json", key, **mark)


def read_sheet(path: Path, key: AmberKey, *rows: str) -> Annotations:
    path.write_text("\n".join(["sample,item,answer,span", *rows]) + "\n", encoding="utf-8")
    return read_annotations([path], key)[0]


def test_a_sheet_may_have_empty_rows_leading_zeros_and_other_white_space(tmp_path: Path, key: AmberKey) -> None:
    found = read_sheet(tmp_path / "Bob.csv", key, "s1,010, 3 ,was  born", ",,,", "s1,2,,", "s1,3,1,")
    assert (found.annotator, found.choices) == ("Bob", {10: 3, 3: 1})
    # A line break in the document was a blank in the sheet.
    assert found.spans == {10: "was\nborn"}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("s1,0,1,", "line 2: field `item`: the sample has no item '0'"),
        ("s1,11,1,", "the sample has no item '11'"),
        ("s1,-1,1,", "the sample has no item '-1'"),
        ("s1,,1,", "the sample has no item ''"),
        ("s1,٣,1,", "the sample has no item '٣'"),
        ("s1,1,0,", "field `answer`: is '0': give 1, 2 or 3, or leave it empty"),
        ("s1,1,4,", "is '4': give 1, 2 or 3, or leave it empty"),
        ("s1,1,,Leeds", "is empty, but `span` is not: give the number of the document"),
        (",1,1,", "answers the sample ''"),
        ("s1,1,1,York", "field `span`: 'York' does not stand in document 1"),
    ],
)
def test_a_row_that_nobody_can_have_meant_is_refused(tmp_path: Path, key: AmberKey, row: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        read_sheet(tmp_path / "Bob.csv", key, row)
    assert problem.removeprefix("line 2: ") in str(refused.value)
    assert "Bob.csv:2" in str(refused.value)


def test_an_item_twice_in_a_sheet_is_refused(tmp_path: Path, key: AmberKey) -> None:
    with pytest.raises(InputError, match=r"Bob.csv:3: field `item`: item 1 is answered twice"):
        read_sheet(tmp_path / "Bob.csv", key, "s1,1,1,", "s1,01,2,")


def test_a_message_has_no_more_than_40_characters_of_a_cell(tmp_path: Path, key: AmberKey) -> None:
    for row, start in ((f"s1,{'9' * 60},1,", "9"), (f"s1,1,1,{'x' * 60}", "x")):
        with pytest.raises(InputError) as refused:
            read_sheet(tmp_path / "Bob.csv", key, row)
        # The path of the file may have such characters too.
        shown = str(refused.value).replace(str(tmp_path), "").count(start)
        assert 30 < shown <= 40


def test_annotators_of_one_name_are_numbered(tmp_path: Path, key: AmberKey) -> None:
    for number in range(3):
        read_form(tmp_path / f"{number}.json", key)
    found = read_annotations([tmp_path / f"{number}.json" for number in range(3)], key)
    assert [one.annotator for one in found] == ["Ann", "Ann #2", "Ann #3"]


def test_a_file_that_is_given_twice_is_no_second_annotator(tmp_path: Path, key: AmberKey) -> None:
    read_form(tmp_path / "a.json", key)
    with pytest.raises(UsageError, match="is given twice: agreement needs the files of different annotators"):
        read_annotations([tmp_path / "a.json", tmp_path / "b" / ".." / "a.json"], key)
