"""The promises of the built-in collection `namesakes`, each as a test."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shadowprobe import open_dataset
from shadowprobe.base.files import file_digest
from shadowprobe.measure.answer_matching import beginning, dpr_words, holds_any, squad_words
from shadowprobe.queries.amber_sets import AmberQuery, AmberSet, Part, read_amber_sets
from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Document
from shadowprobe.queries.question_files import Question, read_questions, relations

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "data" / "namesakes"


@pytest.fixture(scope="module")
def collection() -> Collection:
    return open_collection("namesakes")


@pytest.fixture(scope="module")
def documents(collection: Collection) -> dict[str, Document]:
    return {document.id: document for document in collection.documents()}


@pytest.fixture(scope="module")
def parts() -> dict[Part, list[AmberSet]]:
    return read_amber_sets(HOME / "amber")


@pytest.fixture(scope="module")
def questions() -> dict[str, list[Question]]:
    return read_questions(HOME / "entity_questions")


@pytest.fixture(scope="module")
def ambigdocs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((HOME / "ambigdocs.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("script", ["make_namesakes.py --check", "check_namesakes_source.py"])
def test_the_sources_are_without_fault_and_give_these_very_files(script: str) -> None:
    name, *arguments = script.split()
    ran = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / name), *arguments], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    assert "nothing wrong" in ran.stdout or "as its sources say" in ran.stdout


def test_there_is_an_article_for_every_entity_that_shares_a_name_in_mini(documents: dict[str, Document]) -> None:
    mini = open_dataset("mini")
    assert set(documents) == {title for space in mini.spaces.values() for title in space.entities}


def test_every_article_has_60_to_150_words(documents: dict[str, Document]) -> None:
    lengths = {found: len(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", one.text)) for found, one in documents.items()}
    assert {found: length for found, length in lengths.items() if not 60 <= length <= 150} == {}


def test_at_least_60_names_have_a_set_about_people_or_things(parts: dict[Part, list[AmberSet]]) -> None:
    names = {
        collection: {s.name for (c, _), sets in parts.items() if c == collection for s in sets}
        for collection, _ in parts
    }
    assert len(names["human"] | names["nonhuman"]) >= 60
    assert min(map(len, names.values())) >= 10


def test_every_task_has_sets_of_the_same_names_with_a_head_and_a_tail(parts: dict[Part, list[AmberSet]]) -> None:
    for collection in ("human", "nonhuman"):
        fc, sf, qa = ([s.name for s in parts[collection, task]] for task in ("fc", "sf", "qa"))
        assert fc == sf == qa
    for sets in parts.values():
        for one in sets:
            asked = [entity.is_head for entity in one.qids.values() if entity.queries]
            assert asked.count(True) == 1, one.name
            assert asked.count(False) >= 1, one.name


def test_every_gold_document_is_there_and_states_a_true_value(
    parts: dict[Part, list[AmberSet]], documents: dict[str, Document]
) -> None:
    for (_, task), sets in parts.items():
        for one in sets:
            for _, query in one.queries():
                assert query.gold <= documents.keys(), query.id
                if task != "fc":
                    answers = [squad_words(answer) for answer in query.output.answer]
                    for gold in query.gold:
                        words = squad_words(beginning(documents[gold].text, 350))
                        assert holds_any(words, answers), (gold, query.input)


@pytest.mark.parametrize("collection", ["human", "nonhuman"])
def test_a_false_claim_is_a_true_one_with_a_value_that_is_not_true(
    parts: dict[Part, list[AmberSet]], collection: str
) -> None:
    def facts(task: str) -> dict[str, dict[str, AmberQuery]]:
        """The queries of a task by the fact that they are made from, and by their answer or else their words."""
        found: dict[str, dict[str, AmberQuery]] = {}
        for one in parts[collection, task]:
            for _, query in one.queries():
                key = "".join(query.output.answer) if task == "fc" else "answers"
                found.setdefault(query.id.partition("=")[0], {})[key] = query
        return found

    slots, claims = facts("sf"), facts("fc")
    assert slots.keys() == claims.keys()
    for fact, claim in claims.items():
        forms, supported = slots[fact]["answers"].output.answer, claim["SUPPORTS"].input
        assert any(form in supported for form in forms), supported
        true = {supported.replace(form, other) for form in forms if form in supported for other in forms}
        assert claim["REFUTES"].input not in true


def test_a_value_has_its_other_names_whatever_it_is_asked_about(
    parts: dict[Part, list[AmberSet]], questions: dict[str, list[Question]]
) -> None:
    answers = [question.answers for asked in questions.values() for question in asked]
    for (_, task), sets in parts.items():
        if task != "fc":
            answers += [tuple(query.output.answer) for one in sets for _, query in one.queries()]
    # Some of `aliases.toml`. A value may also be the other name of another one, as that of England is.
    assert sum(forms[0] == "United States" for forms in answers) > 50
    for value, other in {
        "United States": "USA",
        "United Kingdom": "UK",
        "Soviet Union": "USSR",
        "New York City": "New York",
        "Royal Air Force": "RAF",
        "United States Navy": "US Navy",
        "World War II": "Second World War",
    }.items():
        assert all(other in forms for forms in answers if forms[0] == value), value


def test_every_query_has_the_name_of_its_set(parts: dict[Part, list[AmberSet]]) -> None:
    for sets in parts.values():
        for one in sets:
            assert all(one.name in query.input for _, query in one.queries()), one.name


def test_every_namesake_of_a_set_is_one_of_mini(parts: dict[Part, list[AmberSet]]) -> None:
    spaces = open_dataset("mini").spaces
    for sets in parts.values():
        for one in sets:
            listed = [title for title in spaces[one.name].entities if title in one.qids]
            assert listed == list(one.qids), one.name
            # Mini lists the most prominent entity first.
            assert one.qids[listed[0]].is_head, one.name


def test_there_are_200_questions_over_12_relations_of_the_paper(questions: dict[str, list[Question]]) -> None:
    assert sum(map(len, questions.values())) >= 200
    assert len(questions) >= 12
    assert set(questions) <= set(relations())


def test_every_question_is_worded_as_its_relation_is_and_asked_once(questions: dict[str, list[Question]]) -> None:
    asked = [(relation, one.question) for relation, many in questions.items() for one in many]
    assert len(set(asked)) == len(asked)
    for relation, many in questions.items():
        for one in many:
            assert one.subject
            assert one.question == relations()[relation].question.replace("[E]", one.subject)


def test_every_question_is_answered_by_the_article_of_its_subject(
    questions: dict[str, list[Question]], documents: dict[str, Document]
) -> None:
    words = {found: dpr_words(f"{one.title} {one.text}") for found, one in documents.items()}
    for relation, many in questions.items():
        for one in many:
            answers = [dpr_words(answer) for answer in one.answers]
            about = [found for found in documents if (one.subject or "") in found]
            assert any(holds_any(words[found], answers) for found in about), (relation, one.question)


def test_there_are_40_sets_of_documents_on_namesakes_with_an_answer_in_each(
    ambigdocs: list[dict[str, Any]], documents: dict[str, Document]
) -> None:
    assert len(ambigdocs) >= 40
    assert len({one["qid"] for one in ambigdocs}) == len(ambigdocs)
    for one in ambigdocs:
        assert len(one["documents"]) >= 2, one["question"]
        assert one["ambiguous_entity"] in one["question"]
        for document in one["documents"]:
            assert document["text"] == documents[document["pid"]].text
            words = dpr_words(document["text"])
            assert holds_any(words, [dpr_words(answer) for answer in document["answer"]]), document["title"]


def test_the_card_has_the_counts_and_the_digests_of_the_files(
    parts: dict[Part, list[AmberSet]], questions: dict[str, list[Question]], ambigdocs: list[dict[str, Any]]
) -> None:
    card = json.loads((HOME / "collection.json").read_text(encoding="utf-8"))
    assert card["files"] == {
        str(path.relative_to(HOME)): file_digest(path)
        for path in HOME.rglob("*")
        if path.is_file() and path.name != "collection.json"
    }
    counts = card["counts"]
    assert counts["entity_questions"] == sum(map(len, questions.values()))
    assert counts["ambigdocs"] == len(ambigdocs)
    for (collection, task), sets in parts.items():
        assert counts[f"amber_{collection}_sets"] == len(sets)
        assert counts[f"amber_{collection}_{task}"] == sum(len(list(one.queries())) for one in sets)
