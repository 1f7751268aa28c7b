"""What annotators are asked about AmbER sets: the draw, the form and the sheet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest
from retrieval_world import write_sets
from study_world import THINGS, write_trio

from shadowprobe import InputError, UsageError
from shadowprobe.human_study import amber_sample
from shadowprobe.human_study.amber_questions import list_questions
from shadowprobe.human_study.amber_sample import AmberItem, AmberKey, draw_amber_sample
from shadowprobe.human_study.answer_keys import read_key
from shadowprobe.human_study.form import LONGEST_CELL, render_form, render_sheet, write_sample
from shadowprobe.human_study.sample import Sample
from shadowprobe.queries.collection import Collection, open_collection


@pytest.fixture
def trio(tmp_path: Path) -> Collection:
    return write_trio(tmp_path / "trio")


def items_of(sample: Sample[AmberKey]) -> dict[str, AmberItem]:
    return {item.id: item for item in sample.key.items}


def test_every_question_has_three_documents_of_its_name_and_one_is_right(trio: Collection) -> None:
    items = items_of(draw_amber_sample(trio))
    assert set(items) == {"p1", "p2", "t1", "t2", "t3"}
    gold = {"p1": "ada-poet", "p2": "ada-judge", "t1": "tarn-lake", "t2": "tarn-ship", "t3": "tarn-ship"}
    for query, item in items.items():
        names = {"ada-poet", "ada-judge", "ada-diver"} if query[0] == "p" else {"tarn-lake", "tarn-ship", "tarn-play"}
        assert {document.id for document in item.documents} == names
        assert item.documents[item.gold - 1].id == gold[query]


def test_people_and_things_head_and_tail_are_in_the_key(trio: Collection) -> None:
    groups = {query: (item.collection, item.group) for query, item in items_of(draw_amber_sample(trio)).items()}
    people, things = ("human", "head"), ("nonhuman", "tail")
    assert groups == {"p1": people, "p2": ("human", "tail"), "t1": ("nonhuman", "head"), "t2": things, "t3": things}


def test_questions_that_cannot_be_asked_are_counted_by_reason(trio: Collection) -> None:
    # t4 has no document; b1 and b2 are about two namesakes.
    assert draw_amber_sample(trio).key.left_out == {
        "the right document is not in the collection": 1,
        "fewer than 3 namesakes have a document": 2,
    }


def test_a_question_without_a_right_answer_is_left_out(trio: Collection, tmp_path: Path) -> None:
    tarn = deepcopy(THINGS[0])
    tarn["qids"]["Q1"]["queries"][0]["output"]["answer"] = [" "]
    key = draw_amber_sample(trio, write_sets(tmp_path / "qa" / "amber_sets.jsonl", [tarn])).key
    assert (len(key.items), key.left_out["no right answer is given"]) == (2, 1)
    # The file does not say whether it is about people or things.
    assert {item.collection for item in key.items} == {"sets"}


def test_passages_of_an_article_are_one_document_with_one_kind_of_line_break(trio: Collection) -> None:
    documents = {document.id: document for document in items_of(draw_amber_sample(trio))["t1"].documents}
    lake = documents["tarn-lake"]
    assert (lake.text, lake.passages) == (
        "The Tarn is a lake.\nIt is moved by the north wind.",
        ("tarn-lake-1", "tarn-lake-2"),
    )
    assert documents["tarn-ship"].text == "The Tarn was a ship, built of oak\nand lost in the old harbour."


def test_the_same_seed_draws_the_same_and_another_seed_another_order() -> None:
    namesakes = open_collection("namesakes")
    first, again, other = (draw_amber_sample(namesakes, seed=seed) for seed in (7, 7, 8))
    assert first == again
    assert first.key.sample != other.key.sample
    assert len(first.questions) == 120


def test_a_larger_sample_asks_all_that_a_smaller_one_asks_with_the_same_documents() -> None:
    namesakes = open_collection("namesakes")
    small, large = ({(i.id, i.documents) for i in draw_amber_sample(namesakes, n=n).key.items} for n in (12, 40))
    assert small < large


def test_people_and_things_head_and_tail_come_evenly_and_names_differ() -> None:
    items = draw_amber_sample(open_collection("namesakes"), n=16).key.items
    assert set(Counter((item.collection, item.group) for item in items).values()) == {4}
    # The six names of people come twice at most, and no name of a thing twice.
    assert max(Counter(item.name for item in items).values()) <= 2


def test_the_place_of_a_document_does_not_tell_whether_it_is_right() -> None:
    places = Counter(item.gold for item in draw_amber_sample(open_collection("namesakes")).key.items)
    # 40 each are expected; fewer than 20 would come in one sample of some ten thousands.
    assert min(places[place] for place in (1, 2, 3)) >= 20


def test_all_questions_may_be_drawn_and_a_large_collection_gives_120(
    trio: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(draw_amber_sample(trio, n=5).key.items) == 5
    (question, *_), _ = list_questions(trio, None)
    monkeypatch.setattr(amber_sample, "list_questions", lambda *_: ([question] * 121, {}))
    assert len(draw_amber_sample(trio).key.items) == 120
    assert len(draw_amber_sample(trio, n=121).key.items) == 121


def test_more_questions_than_there_are_cannot_be_drawn(trio: Collection, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--n 6: `trio` has 5 questions with 3 documents"):
        draw_amber_sample(trio, n=6)
    lonely = write_sets(tmp_path / "qa" / "amber_sets.jsonl", THINGS[1:])
    with pytest.raises(UsageError, match=r"no question that people can be asked: fewer than 3 .* \(2\)"):
        draw_amber_sample(trio, lonely)
    claims = write_sets(tmp_path / "human" / "fc" / "amber_sets.jsonl", THINGS)
    with pytest.raises(UsageError, match="no set is of the task qa"):
        draw_amber_sample(trio, claims)


def test_a_collection_without_sets_says_how_to_give_them(trio: Collection) -> None:
    with pytest.raises(UsageError, match="`documents` has no AmbER sets: give them with --queries"):
        draw_amber_sample(open_collection(str(trio.path)))


def test_neither_form_nor_sheet_show_what_tells_the_right_document(trio: Collection) -> None:
    sample = draw_amber_sample(trio)
    for content in (render_form(sample), render_sheet(sample)):
        assert b"Porthgain" in content
        for secret in (b"ada-poet", b"p1", b"human", b'"head"', b'"tail"', b'"gold"', b"York"):
            assert secret not in content


def test_the_sheet_has_the_documents_and_two_empty_columns(trio: Collection) -> None:
    sample = draw_amber_sample(trio)
    rows = list(csv.DictReader(io.StringIO(render_sheet(sample).decode("utf-8-sig"), newline="")))
    assert list(rows[0]) == ["sample", "item", "question", "1", "2", "3", "answer", "span"]
    for row, item in zip(rows, sample.key.items, strict=True):
        assert (row["question"], row["answer"], row["span"]) == (item.question, "", "")
        assert row["2"] == f"{item.documents[1].title}: {item.documents[1].text}"


def test_a_cell_is_as_long_as_a_spreadsheet_allows(trio: Collection) -> None:
    long = trio.path.read_text().replace("born in Porthgain", "x" * 40_000)
    trio.path.write_text(long)
    sheet = render_sheet(draw_amber_sample(trio)).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(sheet, newline="")))
    longest = max(len(cell) for row in rows for cell in row.values())
    assert longest == LONGEST_CELL + len("...") < 32_767


def test_a_sample_is_written_and_its_key_read_back(trio: Collection, tmp_path: Path) -> None:
    sample = draw_amber_sample(trio, name="Pilot")
    write_sample(sample, tmp_path / "study")
    assert read_key(tmp_path / "study") == sample.key


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"gold": 1', '"gold": 4', "field `gold`: is 4 in item"),
        ('"gold": 1', '"gold": "x"', r"field `items\[\d\].gold`: Expected `int`"),
        ('"study": "amber"', '"study": "other"', "field `study`: Invalid enum value 'other'"),
        ('"group": "head"', '"group": "top"', r"field `items\[\d\].group`: Invalid enum value 'top'"),
        ('"schema": 1', '"schema": 2', "field `schema`: is 2"),
    ],
)
def test_an_invalid_key_is_refused(trio: Collection, tmp_path: Path, old: str, new: str, problem: str) -> None:
    _, _, path = write_sample(draw_amber_sample(trio), tmp_path / "study")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=problem):
        read_key(tmp_path / "study")
