"""ELEVANT's JSONL, on small articles in the shape of its benchmarks and linked articles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import formats
from shadowprobe.base.model import Candidate, Entity, Snippet
from shadowprobe.errors import InputError
from shadowprobe.formats import elevant
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.running import api

Line = dict[str, Any]


def label(number: int, span: tuple[int, int], entity_id: str | None, name: str = "Unknown", **more: Any) -> Line:
    return {"id": number, "span": span, "entity_id": entity_id, "name": name, "type": "OTHER", **more}


def article(number: int, text: str, *labels: Line, **more: Any) -> Line:
    whole = {"id": number, "title": "", "text": text, "evaluation_span": [0, len(text)], "labels": list(labels)}
    return whole | more


def found(span: tuple[int, int], entity_id: str, *candidates: str) -> Line:
    who = {"recognized_by": "someone", "linked_by": "someone"}
    return {"span": span, "id": entity_id, **who, "candidates": list(candidates or [entity_id])}


def write(tmp_path: Path, *lines: Any, name: str = "elevant.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
    return path


def read(tmp_path: Path, *lines: Any) -> list[AnnotatedDocument]:
    return list(elevant.read_documents(write(tmp_path, *lines)))


def answers(tmp_path: Path, *mentions: Line) -> tuple[Mention, ...]:
    path = write(tmp_path, article(0, "Ree and Ree", entity_mentions=list(mentions)))
    (document,) = elevant.read_documents(path, predicted=True)
    return document.mentions


def test_a_label_is_a_mention_with_a_qid_and_its_wikidata_label(tmp_path: Path) -> None:
    assert read(tmp_path, article(7, "Ü😀 Ree, Ree", label(0, (3, 6), "Q7", "Lough Ree"), label(1, (8, 11), "Q8"))) == [
        AnnotatedDocument("7", "Ü😀 Ree, Ree", (Mention(3, 6, "Lough Ree", qid="Q7"), Mention(8, 11, qid="Q8")))
    ]


@pytest.mark.parametrize("entity_id", ["<NIL>", "<NO_MAPPING>", "", None, "Unknown1", "Cummings", "QUANTITY"])
def test_an_unknown_entity_is_no_gold_but_a_mention(tmp_path: Path, entity_id: str | None) -> None:
    assert read(tmp_path, article(0, "Ree", label(0, (0, 3), entity_id)))[0].mentions == (Mention(0, 3),)


def test_an_entity_of_another_knowledge_base_is_gold_under_its_id(tmp_path: Path) -> None:
    lines = article(0, "Ree", label(0, (0, 3), "https://en.wikipedia.org/wiki/Lough_Ree", "the lake"))
    assert read(tmp_path, lines)[0].mentions == (Mention(0, 3, "Lough Ree", language="en"),)
    # It begins as a QID does, and is none.
    lines = article(0, "Ree", label(0, (0, 3), "Q7 Ree", "a ship"))
    assert read(tmp_path, lines)[0].mentions == (Mention(0, 3, "Q7 Ree"),)


@pytest.mark.parametrize(
    "more",
    [{"optional": True}, {"desc": True}, {"type": "DATETIME"}, {"type": "Q5|QUANTITY"}],
    ids=["optional", "a description", "a date", "a quantity"],
)
def test_what_elevant_does_not_ask_for_is_left_out_and_listed(tmp_path: Path, more: Line) -> None:
    lines = article(0, "Ree Ree", label(0, (0, 3), "Q7", **more), label(1, (4, 7), "Q7"))
    assert read(tmp_path, lines)[0].mentions == (Mention(4, 7, qid="Q7"),)
    assert formats.read("elevant", [write(tmp_path, lines)]).count_remarks() == {"dropped": {"an optional label": 1}}


def test_of_nested_labels_the_outermost_counts_that_is_not_optional(tmp_path: Path) -> None:
    text = "Battle of Ree Bay"
    outer = label(0, (0, 17), "Q1", children=[1])
    inner = label(1, (10, 17), "Q2", parent=0, children=[2])
    inmost = label(2, (10, 13), "Q3", parent=1)
    assert read(tmp_path, article(0, text, outer, inner, inmost))[0].mentions == (Mention(0, 17, qid="Q1"),)
    # A description asks for nothing, and so hides nothing.
    assert read(tmp_path, article(0, text, outer | {"desc": True}, inner, inmost))[0] == AnnotatedDocument(
        "0",
        text,
        (Mention(10, 17, qid="Q2"),),
        left_out=("an optional label", "a label inside another, which counts"),
    )


def test_a_label_inside_one_without_an_entity_counts(tmp_path: Path) -> None:
    text = "Battle of Ree Bay"
    outer = label(0, (0, 17), "<NIL>", children=[1])
    inner = label(1, (10, 17), "Q2", parent=0, children=[2])
    inmost = label(2, (10, 13), "Q3", parent=1)
    assert read(tmp_path, article(0, text, outer, inner, inmost))[0] == AnnotatedDocument(
        "0", text, (Mention(0, 17), Mention(10, 17, qid="Q2")), left_out=("a label inside another, which counts",)
    )
    # Of several labels without an entity, the outermost is the mention.
    inner["entity_id"] = inmost["entity_id"] = "<NO_MAPPING>"
    assert read(tmp_path, article(0, text, outer, inner, inmost))[0].mentions == (Mention(0, 17),)


def test_labels_that_call_each_other_parent_end_the_search(tmp_path: Path) -> None:
    one, other = (label(n, (0, 3), "Q7", parent=1 - n, optional=True) for n in (0, 1))
    third = label(2, (0, 3), "Q7", parent=0)
    assert read(tmp_path, article(0, "Ree", one, other, third))[0].mentions == (Mention(0, 3, qid="Q7"),)


def test_entities_with_the_same_name_are_distinguished_by_their_qids(tmp_path: Path) -> None:
    lines = article(0, "Ree Ree Ree", *(label(n, (4 * n, 4 * n + 3), f"Q{1 + n % 2}", "Ree") for n in range(3)))
    imported = formats.read("elevant", [write(tmp_path, lines)])
    assert imported.entities == [Entity("Ree", qid="Q1"), Entity("Ree (Q2)", qid="Q2")]
    assert [snippet.gold for snippet in imported.snippets["all"]] == ["Ree", "Ree (Q2)", "Ree"]
    assert imported.snippets["all"][1] == Snippet("0#1", "all", "Ree Ree Ree", 4, 7, gold="Ree (Q2)", document="0")


def test_an_answer_is_a_qid_or_nil_or_nothing(tmp_path: Path) -> None:
    assert answers(tmp_path, found((0, 3), "Q7"), {"span": [8, 11]}) == (
        Mention(0, 3, qid="Q7", candidates=(Candidate(qid="Q7"),), perhaps_ranked=True),
        Mention(8, 11),
    )
    assert answers(tmp_path, found((0, 3), "<NIL>")) == (Mention(0, 3, nil=True),)
    assert answers(tmp_path, found((0, 3), "<NO_MAPPING>")) == (Mention(0, 3, nil=True),)


def test_the_answer_leads_its_candidates_which_elevant_sorts_by_id(tmp_path: Path) -> None:
    assert answers(tmp_path, found((0, 3), "Q7", "Q10", "Q7", "<NO_MAPPING>")) == (
        Mention(0, 3, qid="Q7", candidates=(Candidate(qid="Q7"), Candidate(qid="Q10"))),
    )


def test_precision_is_right_of_answered_and_recall_right_of_all_gold(tmp_path: Path) -> None:
    # Five gold mentions. Four are answered, three of them right: P = 3/4, R = 3/5, F1 = 2*3 / (4 + 5) = 2/3.
    # Answers on the unknown entity, the optional label and beside all labels count for nothing.
    first = article(
        0,
        "Avon, Berg, Como and Dale in 1999",
        label(0, (0, 4), "Q1", "Avon"),
        label(1, (6, 10), "Q2", "Berg"),
        label(2, (12, 16), "Q3", "Como"),
        label(3, (21, 25), "<NIL>"),
        label(4, (29, 33), "Q1999", "1999", type="DATETIME"),
    )
    second = article(1, "Müller 😀 saw Avon, and Avon", label(0, (13, 17), "Q1"), label(1, (23, 27), "Q4", "Avon"))
    imported = formats.read("elevant", [write(tmp_path, first, second)])
    imported.write(tmp_path / "data")
    linked = write(
        tmp_path,
        # Not in the order of the benchmark.
        second | {"entity_mentions": [found((13, 17), "Q1")]},
        first
        | {
            "entity_mentions": [
                found((0, 4), "Q1"),
                found((6, 10), "Q2"),
                found((12, 16), "Q9"),
                found((21, 25), "Q8"),
                found((29, 33), "Q7"),
                found((0, 10), "Q1"),
            ]
        },
        name="linked_articles.jsonl",
    )
    results = api.score(linked, tmp_path / "data", format_name="elevant", out=tmp_path / "out")
    scores = results["subsets"]["all"]
    assert (scores["n"], scores["precision"], scores["recall"]) == (5, 3 / 4, 3 / 5)
    assert scores["f1"] == pytest.approx(2 / 3)
    assert "answers on spans that are no mention of the dataset: 2" in results["notes"]


@pytest.mark.parametrize(
    ("bad", "field", "problem"),
    [
        ({"id": 1}, "text", "missing required field `text`"),
        (article(1, "Ree", {"span": [0]}), "labels[0].span", "Expected `array` of length 2"),
        (article(1, "Ree", entity_mentions=[{"id": "Q1"}]), "entity_mentions[0]", "missing required field `span`"),
        (article(1, "Ree", label(0, (0, 3), "Q7", page_id=0)), "labels[0].page_id", "Expected `int` >= 1"),
    ],
)
def test_a_line_of_another_shape_is_refused_by_line_and_field(
    tmp_path: Path, bad: Line, field: str, problem: str
) -> None:
    path = write(tmp_path, article(0, "Ree"), bad)
    for predicted in (False, True):
        with pytest.raises(InputError) as caught:
            list(elevant.read_documents(path, predicted=predicted))
        assert (caught.value.line, caught.value.field) == (2, field)
        assert problem in caught.value.problem


def test_written_articles_have_numbers_for_ids_as_elevant_asks() -> None:
    one, other = AnnotatedDocument("a", "Ree", (Mention(0, 3, "Lough Ree", 77),)), AnnotatedDocument("b", "", ())
    first, second = (json.loads(line) for line in elevant.encode_documents([one, other]))
    assert first == {
        "id": 0,
        "title": "a",
        "document": "a",
        "text": "Ree",
        "evaluation_span": [0, 3],
        "labels": [
            {"id": 0, "span": [0, 3], "entity_id": "Lough Ree", "name": "Lough Ree", "page_id": 77, "type": "OTHER"}
        ],
    }
    assert (second["id"], second["document"]) == (1, "b")
    # A dataset that came from ELEVANT has its numbers still.
    (line,) = elevant.encode_documents([AnnotatedDocument("946", "Ree", (Mention(0, 3, "Lough Ree", qid="Q7"),))])
    assert json.loads(line)["id"] == 946
    assert "document" not in json.loads(line)
    (label,) = json.loads(line)["labels"]
    assert (label["entity_id"], label["name"]) == ("Q7", "Lough Ree")


def test_written_predictions_name_entities_by_qid_and_leave_out_what_was_not_answered() -> None:
    mentions = (Mention(0, 3, "Lough Ree", qid="Q7", score=0.5), Mention(4, 7), Mention(8, 11, nil=True))
    (line,) = elevant.encode_documents([AnnotatedDocument("7", "Ree Ree Ree", mentions)], predicted=True)
    who = {"recognized_by": "shadowprobe", "linked_by": "shadowprobe"}
    assert json.loads(line)["entity_mentions"] == [
        {"span": [0, 3], "id": "Q7", **who, "candidates": ["Q7"], "ranked": False, "score": 0.5},
        {"span": [8, 11], "id": "<NIL>", **who, "candidates": []},
    ]


def test_written_predictions_have_the_other_candidates_after_the_answer() -> None:
    candidates = (Candidate(qid="Q8", score=0.4), Candidate(qid="Q7", score=0.3), Candidate("Ree", score=0.2))
    mention = Mention(0, 3, qid="Q7", candidates=candidates)
    (line,) = elevant.encode_documents([AnnotatedDocument("7", "Ree", (mention,))], predicted=True)
    (found,) = json.loads(line)["entity_mentions"]
    assert (found["candidates"], found["ranked"]) == (["Q7", "Q8", "Ree"], True)


def test_files_are_named_as_elevant_looks_for_them_and_described_beside_it() -> None:
    assert elevant.name_file("mine") == "mine.benchmark.jsonl"
    assert elevant.name_file("mine", "blend") == "blend.mine.linked_articles.jsonl"
    name, benchmark = elevant.make_metadata("mine", "About it")
    assert (name, benchmark["name"], benchmark["description"]) == ("mine.metadata.json", "mine", "About it")
    name, experiment = elevant.make_metadata("mine", "About it", "blend")
    assert (name, experiment.pop("timestamp")[4]) == ("blend.mine.metadata.json", "/")
    assert experiment == {
        "experiment_name": "blend",
        "experiment_description": "About it",
        "linker_name": "blend",
        "linking_time": None,
    }
