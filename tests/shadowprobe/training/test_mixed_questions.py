"""Questions that are trained along: which are held out, which are left out, and where their passages come from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import write_documents

from shadowprobe import InputError
from shadowprobe.queries.collection import open_collection
from shadowprobe.queries.query import Document
from shadowprobe.queries.question_files import Question
from shadowprobe.training.content_overlap import Triple, make_triples
from shadowprobe.training.mixed_questions import MixedQuestions, read_mix
from shadowprobe.training.passages import PassageFinder
from shadowprobe.training.settings import TrainingSettings

DOCUMENTS = [
    Document("1", "Avon", "Stratford lies on the river Avon."),
    Document("2", "Como", "Lake Como is in Lombardy."),
]


def make_item(number: int, **more: Any) -> dict[str, Any]:
    return {"question": f"Who found comet {number}?", "answers": ["Halley"], **more}


def with_passages(number: int, negatives: int = 2) -> dict[str, Any]:
    """A question as DPR has it, with its own passages."""
    return make_item(
        number,
        positive_ctxs=[{"title": "Comet", "text": "Halley found it."}, {"title": "Comet", "text": "By Halley."}],
        hard_negative_ctxs=[{"text": f"No. {place}"} for place in range(negatives)],
    )


def test_nothing_is_mixed_in_without_a_file(tmp_path: Path) -> None:
    assert mix(tmp_path, None) == MixedQuestions([], [])


def mix(tmp_path: Path, items: list[dict[str, Any]] | None, *subjects: str, **settings: Any) -> MixedQuestions:
    write_documents(tmp_path / "little" / "documents.jsonl", DOCUMENTS)
    if items is not None:
        settings["mix"] = str(tmp_path / "mix.json")
        (tmp_path / "mix.json").write_text(json.dumps(items))
    finder = PassageFinder(open_collection(str(tmp_path / "little")))
    return read_mix(TrainingSettings(**settings), make_test(*subjects), finder)


def make_test(*subjects: str) -> list[Triple]:
    """Test questions about some subjects."""
    questions = [Question(f"Where was {subject} born?", ("Rome",), subject) for subject in subjects]
    return make_triples({"P19": questions})[0]


def test_a_quarter_of_the_questions_is_held_out(tmp_path: Path) -> None:
    found = mix(tmp_path, [with_passages(number) for number in range(8)])
    assert (len(found.test), len(found.examples), found.names_test_subject, found.no_passage) == (2, 6, 0, 0)
    asked = [*(one.question for one in found.test), *(one.text for one in found.examples)]
    assert sorted(asked) == [f"Who found comet {number}?" for number in range(8)]


def test_one_question_is_held_out_at_least(tmp_path: Path) -> None:
    found = mix(tmp_path, [with_passages(1), with_passages(2)], held_out=0.1)
    assert (len(found.test), len(found.examples)) == (1, 1)
    with pytest.raises(InputError, match="holds no question to train on, besides those for the test"):
        mix(tmp_path, [with_passages(1)])


@pytest.mark.parametrize(
    ("subject", "is_named"),
    [
        ("comet", True),
        ("comet 1", True),
        ("Who found comet 1", True),
        ("comet 17", False),
        ("found", True),
        ("1", True),
    ],
)
def test_a_question_that_names_a_test_subject_is_left_out(tmp_path: Path, subject: str, is_named: bool) -> None:
    # One of the five is held out.
    items = [*[with_passages(1)] * 3, *[{**with_passages(1), "question": "Why?"}] * 2]
    found = mix(tmp_path, items, subject, held_out=0.1)
    assert found.names_test_subject in ({2, 3} if is_named else {0})
    assert len(found.examples) == 4 - found.names_test_subject


def test_a_question_takes_its_own_first_passage_and_as_many_negatives_as_wanted(tmp_path: Path) -> None:
    write_documents(tmp_path / "little" / "documents.jsonl", DOCUMENTS)
    (tmp_path / "mix.json").write_text(json.dumps([with_passages(1), with_passages(1)]))
    finder = PassageFinder(open_collection(str(tmp_path / "little")))
    (example,) = read_mix(TrainingSettings(mix=str(tmp_path / "mix.json"), negatives=1), [], finder).examples
    (positive,), (negative,) = example.positives, example.negatives
    assert (finder.documents[positive].title, finder.documents[positive].text) == ("Comet", "Halley found it.")
    assert finder.documents[negative].text == "No. 0"
    assert len({positive, negative, "1", "2"}) == 4


def test_other_questions_take_passages_of_the_collection(tmp_path: Path) -> None:
    known = {"question": "Which river flows through Stratford?", "answers": ["Avon"]}
    unknown = {"question": "Which comet came back?", "answers": ["Halley's"]}
    found = mix(tmp_path, [known, known, unknown, unknown], held_out=0.25, seed=7)
    # Three are left, of which one or two have a passage.
    assert len(found.test) == 1
    assert len(found.examples) + found.no_passage == 3
    assert {one.positives for one in found.examples} == {("1",)}
    assert len(found.examples) in {1, 2}


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file: --mix is a JSON list of questions and answers"):
        mix(tmp_path, None, mix=str(tmp_path / "nowhere.json"))
