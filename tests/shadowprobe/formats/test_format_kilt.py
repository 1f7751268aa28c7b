"""KILT's JSONL for entity linking, on small lines in the shape of the real ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe.base.model import Candidate
from shadowprobe.errors import InputError
from shadowprobe.formats import kilt
from shadowprobe.formats.documents import AnnotatedDocument, Mention

Line = dict[str, Any]


def line(left: str, mention: str, right: str, **more: Any) -> Line:
    """A line as KILT's own script writes it: everything is stripped, and the markers stand between spaces."""
    return {
        "id": "x:0",
        "input": f"{left} [START_ENT] {mention} [END_ENT] {right}",
        "meta": {"left_context": left, "mention": mention, "right_context": right},
        **more,
    }


def answer(title: str, page_id: str | int | None = None, **more: Any) -> Line:
    return {"answer": title, "provenance": [{"wikipedia_id": page_id, "title": title}], **more}


def write(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "kilt.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
    return path


def read(tmp_path: Path, *lines: Any) -> list[AnnotatedDocument]:
    return list(kilt.read_documents(write(tmp_path, *lines)))


def read_answers(tmp_path: Path, *lines: Any) -> list[Mention]:
    return [
        mention
        for document in kilt.read_documents(write(tmp_path, *lines), predicted=True)
        for mention in document.mentions
    ]


def test_a_line_is_a_document_with_one_mention(tmp_path: Path) -> None:
    gold = line("They rowed on", "Ree", "all day .", output=[answer("Lough Ree", "77")])
    assert read(tmp_path, gold) == [
        AnnotatedDocument("x:0", "They rowed on Ree all day .", (Mention(14, 17, "Lough Ree", 77),))
    ]


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ("", "", "Ree"),
        ("On", "we row", "On Ree we row"),
        ("On", ", we row", "On Ree, we row"),
        ("On", "'s shore", "On Ree's shore"),
        ("The shore (", ")", "The shore (Ree)"),
        ("It ended.", "(a lake) won", "It ended. Ree (a lake) won"),
        ("She said “", "” twice", "She said “Ree” twice"),
        ('She said "', '" twice', 'She said "Ree" twice'),
        ('She said "no".', '"Ah"', 'She said "no". Ree "Ah"'),
        ("pro-", "-based", "pro-Ree-based"),
        ("so -", "- no", "so - Ree - no"),
        ("with its space ", " here", "with its space Ree here"),
        ("Grüße \U0001f600", "\U0001f600", "Grüße \U0001f600 Ree \U0001f600"),
    ],
)
def test_stripped_contexts_get_their_spaces_back_but_not_beside_punctuation(
    tmp_path: Path, left: str, right: str, text: str
) -> None:
    whole = line(left, "Ree", right)
    for one in (whole, {key: value for key, value in whole.items() if key != "meta"}):
        (document,) = read(tmp_path, one)
        assert document.text == text
        (mention,) = document.mentions
        assert document.text[mention.start : mention.end] == "Ree"
        assert mention.start == text.index("Ree")


def test_meta_is_whole_where_the_input_was_cut(tmp_path: Path) -> None:
    (document,) = read(tmp_path, line("Ree and", "Ree", "too") | {"input": "[START_ENT] Ree [END_ENT]"})
    assert (document.text, document.mentions) == ("Ree and Ree too", (Mention(8, 11),))


def test_a_test_set_has_no_gold_and_an_id_of_0_is_no_page_id(tmp_path: Path) -> None:
    bare, empty = line("", "Ree", ""), line("", "Ree", "", output=[])
    assert [document.mentions for document in read(tmp_path, bare, empty)] == [(Mention(0, 3),)] * 2
    (document,) = read(tmp_path, line("", "Ree", "", output=[answer("Lough Ree", "0")]))
    assert document.mentions == (Mention(0, 3, "Lough Ree"),)


def test_nil_is_no_gold_whatever_page_stands_beside_it(tmp_path: Path) -> None:
    outputs = [{"answer": "NIL"}], [answer("NIL", "77")], [{"answer": "nil", "provenance": [{"wikipedia_id": "77"}]}]
    for output in outputs:
        (document,) = read(tmp_path, line("", "Ree", "", output=output))
        assert document.mentions == (Mention(0, 3),)


def test_several_outputs_are_candidates_and_the_first_is_the_answer(tmp_path: Path) -> None:
    output = [answer("Lough Ree", 77, score=0.75), answer("Ree (film)", "78", score="0.25")]
    assert read_answers(tmp_path, line("", "Ree", "", output=output)) == [
        Mention(
            0,
            3,
            "Lough Ree",
            77,
            score=0.75,
            candidates=(Candidate("Lough Ree", 77, score=0.75), Candidate("Ree (film)", 78, score=0.25)),
        )
    ]


def test_a_retriever_ranks_pages_and_the_gold_answer_that_it_copies_is_not_its_own(tmp_path: Path) -> None:
    pages = [
        {"score": "81.5", "wikipedia_title": "Ree (film)", "wikipedia_id": "78"},
        {"score": "80.0", "wikipedia_title": "Lough Ree", "wikipedia_id": "77"},
    ]
    output = [{"provenance": pages}, {"answer": "Ree (gold)"}]
    assert read_answers(tmp_path, line("", "Ree", "", output=output)) == [
        Mention(
            0,
            3,
            "Ree (film)",
            78,
            score=81.5,
            candidates=(Candidate("Ree (film)", 78, score=81.5), Candidate("Lough Ree", 77, score=80.0)),
        )
    ]


def test_an_answer_takes_the_page_id_of_the_page_that_it_names(tmp_path: Path) -> None:
    pages = [{"wikipedia_id": "78", "title": "Ree (film)"}, {"wikipedia_id": "77", "title": "Lough Ree"}]
    (mention,) = read_answers(tmp_path, line("", "Ree", "", output=[{"answer": "Lough Ree", "provenance": pages}]))
    assert (mention.title, mention.page_id) == ("Lough Ree", 77)
    (mention,) = read_answers(tmp_path, line("", "Ree", "", output=[{"answer": "Ree", "provenance": pages}]))
    assert (mention.title, mention.page_id) == ("Ree", None)


@pytest.mark.parametrize(
    ("output", "mention"),
    [
        ([{"answer": "NIL"}], Mention(0, 3, nil=True)),
        (
            [answer("NIL", "77")],
            Mention(0, 3, "NIL", 77, candidates=(Candidate("NIL", 77),), perhaps_ranked=True),
        ),
        ([{"answer": ""}], Mention(0, 3)),
        ([], Mention(0, 3)),
        (
            [{"provenance": [{"wikipedia_id": "77", "title": ""}], "ranked": True}],
            Mention(0, 3, page_id=77, candidates=(Candidate(page_id=77),)),
        ),
    ],
)
def test_nil_is_an_answer_and_an_empty_answer_is_skipped(tmp_path: Path, output: Any, mention: Mention) -> None:
    assert read_answers(tmp_path, line("", "Ree", "", output=output)) == [mention]


@pytest.mark.parametrize(
    ("bad", "field", "problem"),
    [
        ({"id": 1}, "input", "missing required field `input`"),
        ({"id": 1, "input": "no mark"}, "input", "expected one [START_ENT] mention [END_ENT]"),
        ({"id": 1, "input": "[START_ENT]  [END_ENT]"}, "input", "expected one [START_ENT] mention [END_ENT]"),
        ({"id": 1, "input": "[START_ENT] a [END_ENT] b [START_ENT] c [END_ENT]"}, "input", "expected one"),
        (line("", "Ree", "", output=[answer("Ree", "x7")]), "output[0].provenance[0].wikipedia_id", "Expected"),
        (line("", "Ree", "", output=[answer("Ree", score="high")]), "output[0].score", "Expected"),
        (line("", "Ree", "", output="Ree"), "output", "Expected `array`, got `str`"),
    ],
)
def test_a_line_of_another_shape_is_refused_by_line_and_field(
    tmp_path: Path, bad: Line, field: str, problem: str
) -> None:
    path = write(tmp_path, line("", "Ree", ""), bad)
    for predicted in (False, True):
        with pytest.raises(InputError) as caught:
            list(kilt.read_documents(path, predicted=predicted))
        assert (caught.value.line, caught.value.field) == (2, field)
        assert problem in caught.value.problem


def test_a_written_line_is_what_kilt_reads() -> None:
    document = AnnotatedDocument("d", "On Ree, Ree", (Mention(3, 6, "Lough Ree", 77, "Q7"), Mention(8, 11)))
    first, second = (json.loads(one) for one in kilt.encode_documents([document]))
    assert first == {
        "id": "d#0",
        "input": "On [START_ENT] Ree [END_ENT] , Ree",
        "output": [
            {
                "answer": "Lough Ree",
                "provenance": [{"wikipedia_id": "77", "title": "Lough Ree", "wikidata_id": "Q7"}],
            }
        ],
        "meta": {"left_context": "On ", "mention": "Ree", "right_context": ", Ree", "start_pos": 3},
    }
    assert (second["id"], second["input"]) == ("d#1", "On Ree, [START_ENT] Ree [END_ENT]")
    assert "output" not in second


def test_written_predictions_have_exactly_one_output_each() -> None:
    document = AnnotatedDocument("d", "Ree Ree Ree", (Mention(0, 3, "Ree"), Mention(4, 7), Mention(8, 11, nil=True)))
    outputs = [json.loads(one)["output"] for one in kilt.encode_documents([document], predicted=True)]
    assert [[one["answer"] for one in output] for output in outputs] == [["Ree"], [""], ["NIL"]]


@pytest.mark.parametrize("missing", ["left_context", "mention", "right_context"])
def test_contexts_that_are_not_complete_are_not_read(tmp_path: Path, missing: str) -> None:
    whole = line("On the", "Avon", "now .")
    whole["meta"] = {"left_context": "Far up the", "mention": "Avon", "right_context": "today ."}
    (document,) = read(tmp_path, whole)
    assert document.text == "Far up the Avon today ."
    del whole["meta"][missing]
    (document,) = read(tmp_path, whole)
    assert document.text == "On the Avon now ."


@pytest.mark.parametrize(
    ("own", "of_page", "score"),
    [
        (None, None, None),
        (0.0, 0.5, 0.0),
        ("0", 0.5, 0.0),
        (None, "-1.5e2", -150.0),
        (None, 0.0, 0.0),
        (0.25, None, 0.25),
    ],
)
def test_a_score_is_that_of_the_answer_or_else_of_its_page(
    tmp_path: Path, own: Any, of_page: Any, score: float | None
) -> None:
    output = [answer("Lough Ree", 7, score=own)]
    output[0]["provenance"][0]["score"] = of_page
    (mention,) = read_answers(tmp_path, line("", "Ree", "", output=output))
    assert mention.score == score
