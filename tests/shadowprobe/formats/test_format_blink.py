"""BLINK's JSONL, on small lines in the shape of its benchmark and training files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import formats
from shadowprobe.base.model import Candidate, Entity
from shadowprobe.errors import InputError
from shadowprobe.formats import blink
from shadowprobe.formats.documents import AnnotatedDocument, Mention

Line = dict[str, Any]
CONTEXT: Line = {"context_left": "They rowed on", "mention": "Ree", "context_right": ", all day ."}
# As its script makes the benchmark files: no `id`, and a page id that may be text.
BENCHMARK = CONTEXT | {
    "query_id": "947testa:3",
    "label_id": "77",
    "Wikipedia_ID": "77",
    "Wikipedia_URL": "http://en.wikipedia.org/wiki/Lough_Ree",
    "Wikipedia_title": "Lough Ree",
}
# As its training files are: the label is a description, and its id the number of a row.
TRAINING = CONTEXT | {"id": 0, "label": "Lough Ree is a lake.", "label_id": 4711, "label_title": "Lough Ree"}
UNKNOWN = CONTEXT | {"id": 1, "label": "unknown", "label_id": -1}


def write(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "blink.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
    return path


def test_benchmark_training_and_unlabelled_lines_are_read(tmp_path: Path) -> None:
    text = "They rowed on Ree, all day ."
    assert list(blink.read_documents(write(tmp_path, BENCHMARK, TRAINING, UNKNOWN))) == [
        AnnotatedDocument("947testa:3", text, (Mention(14, 17, "Lough Ree", 77, language="en"),)),
        AnnotatedDocument("0", text, (Mention(14, 17, "Lough Ree"),)),
        AnnotatedDocument("1", text, (Mention(14, 17),)),
    ]


def test_the_number_of_a_catalogue_row_is_no_page_id(tmp_path: Path) -> None:
    imported = formats.read("blink", [write(tmp_path, TRAINING)])
    assert imported.entities == [Entity("Lough Ree")]


def test_a_url_speaks_where_there_is_no_title_and_a_line_without_a_name_has_its_number(tmp_path: Path) -> None:
    bare = CONTEXT | {
        "Wikipedia_title": "",
        "Wikipedia_URL": "http://en.wikipedia.org/wiki/Caf%C3%A9",
        "Wikipedia_ID": None,
    }
    (document,) = blink.read_documents(write(tmp_path, bare))
    assert (document.id, document.mentions) == ("line-1", (Mention(14, 17, "Café", language="en"),))


def test_contexts_with_a_start_stand_as_they_are(tmp_path: Path) -> None:
    # Its own reader of raw text cuts without stripping: here a name inside a longer word.
    cut = {"id": 0, "context_left": "Ü\U0001f600 an un", "mention": "Ree", "context_right": "like day", "start_pos": 8}
    (document,) = blink.read_documents(write(tmp_path, cut))
    assert document == AnnotatedDocument("0", "Ü\U0001f600 an unReelike day", (Mention(8, 11),))
    (document,) = blink.read_documents(write(tmp_path, cut | {"start_pos": 100}))
    assert document == AnnotatedDocument("0", "Ü\U0001f600 an un Ree like day", (Mention(9, 12),))


def test_predictions_are_a_ranking_with_scores(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        UNKNOWN | {"predictions": ["Lough Ree", "Ree (film)"], "scores": [0.5, -1.5]},
        UNKNOWN | {"predictions": ["Lough Ree"]},
        UNKNOWN | {"predictions": ["Lough Ree"], "ranked": True},
        UNKNOWN | {"predictions": ["Lough Ree"], "ranked": False},
        UNKNOWN | {"predictions": ["NIL"], "scores": [0.25]},
        UNKNOWN | {"predictions": []},
    )
    assert [document.mentions[0] for document in blink.read_documents(path, predicted=True)] == [
        Mention(
            14,
            17,
            "Lough Ree",
            score=0.5,
            candidates=(Candidate("Lough Ree", score=0.5), Candidate("Ree (film)", score=-1.5)),
        ),
        Mention(14, 17, "Lough Ree", candidates=(Candidate("Lough Ree"),), perhaps_ranked=True),
        Mention(14, 17, "Lough Ree", candidates=(Candidate("Lough Ree"),)),
        Mention(14, 17, "Lough Ree"),
        Mention(14, 17, score=0.25, nil=True),
        Mention(14, 17),
    ]


def test_the_gold_of_a_line_is_never_taken_for_an_answer(tmp_path: Path) -> None:
    path = write(tmp_path, BENCHMARK | {"predictions": ["Ree (film)"]}, BENCHMARK | {"predictions": []})
    assert [document.mentions[0].title for document in blink.read_documents(path, predicted=True)] == [
        "Ree (film)",
        None,
    ]
    with pytest.raises(InputError, match="missing required field `predictions`"):
        list(blink.read_documents(write(tmp_path, BENCHMARK), predicted=True))


@pytest.mark.parametrize(
    ("bad", "field", "problem"),
    [
        ({"mention": "Ree"}, "context_left", "missing required field"),
        (UNKNOWN | {"mention": ""}, "mention", "is empty"),
        (BENCHMARK | {"Wikipedia_ID": "seven", "predictions": []}, "Wikipedia_ID", "Expected `str` matching regex"),
    ],
)
def test_a_line_of_another_shape_is_refused_by_line_and_field(
    tmp_path: Path, bad: Line, field: str, problem: str
) -> None:
    path = write(tmp_path, UNKNOWN | {"predictions": []}, bad)
    for predicted in (False, True):
        with pytest.raises(InputError) as caught:
            list(blink.read_documents(path, predicted=predicted))
        assert (caught.value.line, caught.value.field) == (2, field)
        assert problem in caught.value.problem


@pytest.mark.parametrize(
    ("more", "field", "problem"),
    [
        ({"predictions": ["Ree"], "scores": [1, 2]}, "scores", "predictions and scores differ in length"),
        ({"predictions": [""]}, "predictions[0]", "is empty"),
        ({"predictions": ["Ree"], "scores": ["high"]}, "scores[0]", "Expected `float | null`, got `str`"),
    ],
)
def test_predictions_of_another_shape_are_refused(tmp_path: Path, more: Line, field: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        list(blink.read_documents(write(tmp_path, UNKNOWN | more), predicted=True))
    assert (caught.value.line, caught.value.field, caught.value.problem) == (1, field, problem)


def test_a_written_line_has_what_blink_asks_for() -> None:
    document = AnnotatedDocument(
        "d", "On Ree, Ree", (Mention(3, 6, "Lough Ree", 77, "Q7"), Mention(8, 11)), language="de"
    )
    first, second = (json.loads(one) for one in blink.encode_documents([document]))
    assert first == {
        "id": "d#0",
        "query_id": "d#0",
        "context_left": "On ",
        "mention": "Ree",
        "context_right": ", Ree",
        "start_pos": 3,
        "end_pos": 6,
        "label": "unknown",
        "label_id": 77,
        "label_title": "Lough Ree",
        "Wikipedia_title": "Lough Ree",
        "Wikipedia_ID": 77,
        "Wikipedia_URL": "https://de.wikipedia.org/wiki/Lough_Ree",
        "wikidata_id": "Q7",
    }
    assert (second["id"], second["context_left"], second["label_id"]) == ("d#1", "On Ree, ", -1)
    assert "Wikipedia_title" not in second


def test_written_predictions_are_nil_or_the_answer_and_its_rivals() -> None:
    rivals = (Candidate("Lough Ree", score=0.9), Candidate("Ree (ship)", score=0.1))
    mentions = (
        Mention(0, 3, "Lough Ree", score=0.9, candidates=rivals),
        Mention(4, 7, "Lough Ree", score=0.8),
        Mention(8, 11, nil=True, score=0.7),
    )
    lines = blink.encode_documents([AnnotatedDocument("d", "Ree Ree Ree", mentions)], predicted=True)
    found = [json.loads(line) for line in lines]
    assert [(line["predictions"], line["scores"], line.get("ranked")) for line in found] == [
        (["Lough Ree", "Ree (ship)"], [0.9, 0.1], True),
        (["Lough Ree"], [0.8], False),
        ([blink.NIL], [0.7], None),
    ]
