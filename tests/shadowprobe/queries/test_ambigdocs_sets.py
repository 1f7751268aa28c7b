"""AmbigDocs' files, and sets made from a dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from namesake_sets import AVON, BERG, SETS, ambig_set, as_released, write_sets
from world import write_world

from shadowprobe import Card, Dataset, InputError, write_dataset
from shadowprobe.base.jsonl import encode_json
from shadowprobe.measure.content_words import content_words
from shadowprobe.queries.ambigdocs_sets import make_ambig_sets, read_ambigdocs


def test_a_list_and_lines_are_read_alike(tmp_path: Path) -> None:
    listed = write_sets(tmp_path / "sets.json")
    lines = tmp_path / "sets.jsonl"
    lines.write_text("\n".join(json.dumps(as_released(one)) for one in SETS) + "\n\n")
    for path in (listed, lines):
        assert [(one.id, one.question, len(one.documents)) for one in read_ambigdocs(path)] == [
            ("avon", "What of Avon?", 2),
            ("berg", "What of Berg (disambiguation)?", 2),
            ("como", "What of Como?", 3),
        ]


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    (tmp_path / "sets.json").write_bytes(encode_json(SETS))
    assert read_ambigdocs(tmp_path / "sets.json") == SETS


def test_a_set_is_known_by_its_number_or_else_by_its_place(tmp_path: Path) -> None:
    path = write_sets(tmp_path / "sets.json", replace(AVON, qid=7133), replace(BERG, qid=None))
    assert [one.id for one in read_ambigdocs(path)] == ["7133", "1"]


def test_the_mark_of_a_disambiguation_page_is_no_part_of_the_name() -> None:
    assert [replace(BERG, ambiguous_entity=name).name for name in ("Berg (Disambiguation) ", "Berg")] == ["Berg"] * 2


def test_an_answer_may_have_several_forms(tmp_path: Path) -> None:
    one = ambig_set(1, "Dale", ("Dale (hill)", ["Kent", "Kent county"]), ("Dale (ship)", "Lyon"))
    (found,) = read_ambigdocs(write_sets(tmp_path / "sets.json", one))
    assert [document.answers for document in found.documents] == [["Kent", "Kent county"], ["Lyon"]]


def test_the_first_documents_of_a_set_are_a_set() -> None:
    assert [document.title for document in SETS[2].first(2).documents] == ["Como (river)", "Como (ship)"]
    assert SETS[2].first(9) == SETS[2]


def changed(**fields: Any) -> dict[str, Any]:
    """The second item with other fields; None takes one away."""
    item = as_released(BERG) | fields
    return {name: value for name, value in item.items() if value is not None}


def with_document(**fields: Any) -> dict[str, Any]:
    first, second = as_released(BERG)["documents"]
    return changed(documents=[first, {name: value for name, value in (second | fields).items() if value is not None}])


FAULTS = [
    (changed(question=None), "question", "Object missing required field `question`"),
    (changed(question=7), "question", "Expected `str`, got `int`"),
    (changed(question=" "), "question", "is empty"),
    (changed(ambiguous_entity="(disambiguation)"), "ambiguous_entity", "contains no name"),
    (changed(qid=""), "qid", "is empty"),
    (changed(qid="avon"), "qid", "'avon' stands twice"),
    (changed(documents=[]), "documents", "expected at least two namesakes, got 0"),
    (changed(documents=as_released(BERG)["documents"][:1]), "documents", "expected at least two namesakes, got 1"),
    (with_document(title=""), "documents[1].title", "is empty"),
    (with_document(answer=[]), "documents[1].answer", "is empty"),
    (with_document(answer=["1912", " "]), "documents[1].answer[1]", "is empty"),
    (with_document(text=None), "documents[1]", "Object missing required field `text`"),
    (with_document(answer=1912), "documents[1].answer", "Expected `str | array`, got `int`"),
]


@pytest.mark.parametrize(("item", "field", "problem"), FAULTS, ids=[f"{field}-{what}" for _, field, what in FAULTS])
def test_what_is_wrong_is_named_by_item_or_line_and_by_field(
    tmp_path: Path, item: dict[str, Any], field: str, problem: str
) -> None:
    listed, lines = tmp_path / "sets.json", tmp_path / "sets.jsonl"
    listed.write_text(json.dumps([as_released(AVON), item]))
    lines.write_text(f"{json.dumps(as_released(AVON))}\n\n{json.dumps(item)}\n")
    with pytest.raises(InputError) as caught:
        read_ambigdocs(listed)
    assert (caught.value.path, caught.value.problem) == (listed, problem)
    # The field of an item that lacks a field is the item itself.
    assert caught.value.field == ("[1]" if problem == "Object missing required field `question`" else f"[1].{field}")
    with pytest.raises(InputError) as caught:
        read_ambigdocs(lines)
    assert (caught.value.line, caught.value.field) == (3, field)
    assert caught.value.problem == problem


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "holds no set"),
        (b"[]", "holds no set"),
        (b"[", "not valid JSON"),
        (b"<html>", "not valid JSON"),
        (b"[\xff]", "is not UTF-8"),
        (b'[{"question"', "not valid JSON"),
        (b"[7]", "field `[0]`: Expected `object`, got `int`"),
    ],
)
def test_a_file_that_holds_no_sets_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "sets.json").write_bytes(content)
    with pytest.raises(InputError, match=r"sets\.json") as caught:
        read_ambigdocs(tmp_path / "sets.json")
    assert problem in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: no such file"):
        read_ambigdocs(tmp_path / "none.json")


def test_the_words_of_a_text_are_small_and_without_punctuation_articles_and_stop_words() -> None:
    assert content_words("The Bridge of an Iron-Age  HERO, who won't!") == ["bridge", "ironage", "hero", "wont"]
    # An article before a dash that is no ASCII punctuation is still one.
    assert content_words("Alice – the—1") == ["alice", "–", "—1"]
    assert content_words("The Who") == []


def asked(path: Path, *lines: dict[str, Any]) -> Path:
    """A file of questions."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


WHAT = {
    "name": "Avon",
    "question": "What is Avon?",
    "answers": {"avon_(ship)": "a vessel", "Avon (river)": ["fresh water", "water"]},
}


def test_sets_are_made_from_the_descriptions_of_a_dataset(world: Dataset, tmp_path: Path) -> None:
    questions = asked(tmp_path / "questions.jsonl", WHAT, WHAT | {"question": "And where?"})
    first, second = make_ambig_sets(world, questions)
    assert (first.id, second.id, second.question) == ("Avon 1", "Avon 2", "And where?")
    assert [(each.title, each.text, each.answers, each.pid) for each in first.documents] == [
        ("Avon (river)", "Fresh water that runs to the sea.", ["fresh water", "water"], 100),
        ("Avon (ship)", "Vessel with a crew and masts.", ["a vessel"], 200),
    ]
    (tmp_path / "sets.json").write_bytes(encode_json([first, second]))
    assert read_ambigdocs(tmp_path / "sets.json") == [first, second]


@pytest.mark.parametrize(
    ("fields", "field", "problem"),
    [
        ({"name": "Avom"}, "name", "`world` has no name 'Avom' (did you mean `Avon`?)"),
        ({"answers": {"Avon (river)": "a", "Avon (shop)": "b"}}, "answers", "'Avon (shop)' is not an entity of 'Avon'"),
        ({"answers": {"Avon (river)": "a"}}, "answers", "expected at least two namesakes, got 1"),
        ({"answers": {"Avon (river)": "a", "Avon (ship)": " "}}, "answers[...]", "is empty"),
        ({"question": ""}, "question", "is empty"),
        ({"answers": None}, "answers", "Expected `object`, got `null`"),
    ],
)
def test_a_question_that_does_not_fit_the_dataset_is_refused(
    world: Dataset, tmp_path: Path, fields: dict[str, Any], field: str, problem: str
) -> None:
    questions = asked(tmp_path / "questions.jsonl", WHAT, WHAT | fields)
    with pytest.raises(InputError) as caught:
        make_ambig_sets(world, questions)
    assert (caught.value.line, caught.value.field) == (2, field)
    assert caught.value.problem.startswith(problem)


def test_an_entity_without_a_description_makes_no_document(tmp_path: Path) -> None:
    whole = write_world(tmp_path / "world")
    entities = [replace(entity, description=None) for entity in whole.entities.values()]
    snippets = {"top": list(whole.snippets("top"))}
    bare = write_dataset(tmp_path / "bare", Card(name="bare"), entities, whole.spaces.values(), snippets)  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        make_ambig_sets(bare, asked(tmp_path / "questions.jsonl", WHAT))
    assert caught.value.problem == ("'Avon (ship)' has no description in `bare`: `shadowprobe describe` fills it")


def test_a_file_without_questions_is_refused(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no question"):
        make_ambig_sets(world, asked(tmp_path / "questions.jsonl"))
