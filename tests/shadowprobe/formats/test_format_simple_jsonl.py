"""ELEVANT's simple JSONL, on small lines in the shape of its benchmarks and predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import formats
from shadowprobe.base.model import Candidate
from shadowprobe.errors import InputError
from shadowprobe.formats import simple_jsonl
from shadowprobe.formats.documents import AnnotatedDocument, Mention

Line = dict[str, Any]


def label(start: int, end: int, entity: str | None, **more: Any) -> Line:
    return {"entity_reference": entity, "start_char": start, "end_char": end, **more}


def write(tmp_path: Path, *lines: Any, name: str = "simple.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
    return path


def answer(tmp_path: Path, prediction: Line) -> Mention:
    ((mention,),) = (
        one.mentions
        for one in simple_jsonl.read_documents(write(tmp_path, {"predictions": [prediction]}), predicted=True)
    )
    return mention


@pytest.mark.parametrize(
    ("said", "mention"),
    [
        ("Q7", Mention(3, 6, qid="Q7")),
        ("http://www.wikidata.org/entity/Q7", Mention(3, 6, qid="Q7")),
        ("Lough_Ree", Mention(3, 6, "Lough Ree")),
        ("https://en.wikipedia.org/wiki/Caf%C3%A9", Mention(3, 6, "Café", language="en")),
        ("http://dbpedia.org/resource/Lough_Ree", Mention(3, 6, "Lough Ree", language="en")),
        ("<NIL>", Mention(3, 6)),
        ("NIL", Mention(3, 6)),
        ("<unk_wid>", Mention(3, 6)),
        ("", Mention(3, 6)),
        (None, Mention(3, 6)),
    ],
)
def test_an_entity_is_a_qid_or_a_title_or_a_uri_and_nil_is_no_gold(
    tmp_path: Path, said: str | None, mention: Mention
) -> None:
    (document,) = simple_jsonl.read_documents(write(tmp_path, {"text": "Ü😀 Ree", "labels": [label(3, 6, said)]}))
    assert document == AnnotatedDocument("line-1", "Ü😀 Ree", (mention,))
    nil = mention == Mention(3, 6)
    assert answer(tmp_path, label(3, 6, said)) == (Mention(3, 6, nil=True) if nil else mention)


def test_predictions_without_text_or_id_belong_to_the_text_of_the_same_line(tmp_path: Path) -> None:
    # The second text has no label, and so no place in the dataset: a count of its documents would be one short.
    benchmark = write(
        tmp_path,
        {"text": "Ree is wet", "labels": [label(0, 3, "Lough_Ree")]},
        {"text": "Nothing here", "labels": []},
        {"text": "See Ree or Ree", "labels": [label(4, 7, "Q2"), label(11, 14, "Q3")]},
    )
    dataset = formats.read("simple-jsonl", [benchmark]).write(tmp_path / "data")
    predictions = write(
        tmp_path,
        {"predictions": [label(0, 3, "Lough_Ree")]},
        {"predictions": []},
        {"predictions": [label(4, 7, "Q3"), label(8, 10, "Q9")]},
        name="predictions.jsonl",
    )
    taken = formats.read_predictions("simple-jsonl", predictions, dataset)
    found = taken.predictions
    assert found["line-1"].answer == "Lough Ree"
    assert (found["line-3#0"].qid, found["line-3#1"].status) == ("Q3", "skipped")
    assert taken.left_out == {
        "documents of which the dataset has no mention": 1,
        "answers on spans that are no mention of the dataset": 1,
    }


def test_predictions_for_several_files_belong_to_the_file_of_the_same_name(tmp_path: Path) -> None:
    text = {"text": "Ree is wet", "labels": [label(0, 3, "Lough_Ree")]}
    benchmark = [write(tmp_path, text, name=f"{name}.jsonl") for name in ("a", "b")]
    dataset = formats.read("simple-jsonl", benchmark).write(tmp_path / "data")
    (tmp_path / "answers").mkdir()
    write(tmp_path / "answers", {"predictions": [label(0, 3, "Q1")]}, name="a.jsonl")
    write(tmp_path / "answers", {"predictions": [label(0, 3, "Q2")]}, name="b.jsonl")
    found = formats.read_predictions("simple-jsonl", tmp_path / "answers", dataset).predictions
    assert {key: prediction.qid for key, prediction in found.items()} == {"a/line-1": "Q1", "b/line-1": "Q2"}
    # With the text, which is the same in both, it is still the file that tells.
    write(tmp_path / "answers", {"predictions": [label(0, 3, "Q3")], "text": "Ree is wet"}, name="b.jsonl")
    found = formats.read_predictions("simple-jsonl", tmp_path / "answers", dataset).predictions
    assert {key: prediction.qid for key, prediction in found.items()} == {"a/line-1": "Q1", "b/line-1": "Q3"}


def test_lines_are_not_taken_for_the_numbers_of_another_format(tmp_path: Path) -> None:
    article = {"id": 1, "text": "Ree", "labels": [{"id": 0, "span": [0, 3], "entity_id": "Q7", "name": "Ree"}]}
    dataset = formats.read("elevant", [write(tmp_path, article)]).write(tmp_path / "data")
    bare = {"predictions": [label(0, 3, "Q7")]}
    with pytest.raises(InputError, match="none of its 1 documents"):
        formats.read_predictions("simple-jsonl", write(tmp_path, bare, name="bare.jsonl"), dataset)
    for known in ({"id": 1}, {"text": "Ree"}):
        path = write(tmp_path, bare | known, name="known.jsonl")
        assert formats.read_predictions("simple-jsonl", path, dataset).predictions["1"].qid == "Q7"


def test_candidates_follow_their_answer_and_none_of_them_is_nil(tmp_path: Path) -> None:
    prediction = label(3, 6, "Q7", candidates=["Q7", "Ree (film)", "<NIL>", ""], score=0.5)
    assert answer(tmp_path, prediction) == Mention(
        3, 6, qid="Q7", score=0.5, candidates=(Candidate("Q7"), Candidate("Ree (film)"))
    )
    # No list, or an empty one, is no ranking; the answer alone is one.
    assert answer(tmp_path, label(3, 6, "Q7", candidates=[])) == Mention(3, 6, qid="Q7")
    assert answer(tmp_path, label(3, 6, "Q7", candidates=["Q7"])).candidates == (Candidate("Q7"),)


@pytest.mark.parametrize(
    ("bad", "field", "problem"),
    [
        ({"text": "Ree", "labels": [{"start_char": 0}], "predictions": [{"start_char": 0}]}, "[0]", "missing required"),
        ({"text": 7, "labels": [], "predictions": []}, "text", "Expected `str`, got `int`"),
        ({}, "", "missing required field"),
    ],
)
def test_a_line_of_another_shape_is_refused_by_line_and_field(
    tmp_path: Path, bad: Line, field: str, problem: str
) -> None:
    path = write(tmp_path, {"text": "Ree", "labels": [], "predictions": []}, bad)
    for predicted in (False, True):
        with pytest.raises(InputError) as caught:
            list(simple_jsonl.read_documents(path, predicted=predicted))
        assert caught.value.line == 2
        assert field in (caught.value.field or "")
        assert problem in caught.value.problem


def test_written_lines_have_elevants_fields_and_an_id() -> None:
    mentions = (Mention(0, 3, "Lough Ree", 77, "Q7"), Mention(4, 7, "Ree (film)"), Mention(8, 11))
    (line,) = simple_jsonl.encode_documents([AnnotatedDocument("d", "Ree Ree Ree", mentions)])
    assert json.loads(line) == {
        "id": "d",
        "text": "Ree Ree Ree",
        "labels": [label(0, 3, "Q7", title="Lough Ree", page_id=77), label(4, 7, "Ree (film)"), label(8, 11, "<NIL>")],
    }
    (line,) = simple_jsonl.encode_documents(
        [AnnotatedDocument("d", "Ree Ree Ree", (*mentions[1:], Mention(0, 3, nil=True)))], predicted=True
    )
    assert json.loads(line) == {"id": "d", "predictions": [label(4, 7, "Ree (film)"), label(0, 3, "<NIL>")]}


def test_written_predictions_have_the_other_candidates_or_the_answer_itself_if_there_is_no_other() -> None:
    lake, film = Candidate("Lough Ree"), Candidate("Ree (film)")
    mentions = (
        Mention(0, 3, "Lough Ree", candidates=(lake, film)),
        Mention(4, 7, "Lough Ree", candidates=(lake,)),
        Mention(8, 11, "Lough Ree"),
    )
    (line,) = simple_jsonl.encode_documents([AnnotatedDocument("d", "Ree Ree Ree", mentions)], predicted=True)
    assert json.loads(line)["predictions"] == [
        label(0, 3, "Lough Ree", candidates=["Ree (film)"]),
        label(4, 7, "Lough Ree", candidates=["Lough Ree"]),
        label(8, 11, "Lough Ree"),
    ]
