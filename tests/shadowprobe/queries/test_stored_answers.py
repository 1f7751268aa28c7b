"""Stored answers of a language model: our own lines, and AmbigDocs' items with `gen_answer`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import InputError
from shadowprobe.queries.stored_answers import read_answers

KNOWN = {"avon": "What of Avon?", "berg": "What of Berg?", "0": "What of Como?", "1": "What of Dale?"}


def read(folder: Path, items: list[dict[str, Any]], *, as_list: bool = False) -> dict[str, str]:
    path = folder / "answers.json"
    path.write_text(json.dumps(items) if as_list else "".join(f"{json.dumps(item)}\n" for item in items))
    return read_answers(path, KNOWN)


def test_an_answer_is_that_of_its_id(tmp_path: Path) -> None:
    assert read(tmp_path, [{"id": "berg", "answer": "b"}, {"id": "avon", "answer": ""}]) == {"berg": "b", "avon": ""}


@pytest.mark.parametrize("as_list", [False, True])
def test_an_item_without_a_number_is_that_of_its_place(tmp_path: Path, as_list: bool) -> None:
    items = [{"gen_answer": "c", "question": "What of Como?"}, {"gen_answer": "d"}, {"gen_answer": "a", "qid": "avon"}]
    assert read(tmp_path, items, as_list=as_list) == {"0": "c", "1": "d", "avon": "a"}


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([{"id": "avon"}], "answers.json:1: field `answer`: is missing"),
        ([{"answer": "a"}], "field `id`: is missing; an answer has `id` and `answer`, or `qid` and `gen_answer`"),
        ([{"id": "avno", "answer": "a"}], "field `id`: 'avno' is not one of the sets (did you mean `avon`?)"),
        ([{"id": "zzz", "answer": "a"}], "'zzz' is not one of the sets: give the file of its set with --queries"),
        ([{"qid": 7, "gen_answer": "a"}], "field `qid`: '7' is not one of the sets"),
        ([{"id": "avon", "answer": "a"}] * 2, "answers.json:2: field `id`: 'avon' is answered twice"),
        (
            [{"id": "avon", "answer": "a", "question": "Else?"}],
            "field `question`: differs from the question of the set 'avon'",
        ),
    ],
)
def test_an_answer_to_no_set_or_to_another_question_is_refused(
    tmp_path: Path, items: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, items)
    assert words in str(refused.value)


def test_a_torn_last_line_is_ignored_only_if_it_may_be_torn(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "avon", "answer": "a"}\n{"id": "berg", "ans')
    assert read_answers(path, KNOWN, torn=True) == {"avon": "a"}
    with pytest.raises(InputError, match="not valid JSON"):
        read_answers(path, KNOWN)
