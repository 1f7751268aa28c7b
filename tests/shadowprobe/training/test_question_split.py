"""The split: a training question shares no word with a test question, and a planted leak is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from retrieval_world import write_documents

from shadowprobe import UsageError
from shadowprobe.queries.collection import Collection, open_collection
from shadowprobe.queries.query import Document
from shadowprobe.queries.question_files import Question
from shadowprobe.training import question_split
from shadowprobe.training.content_overlap import Triple, check_disjoint, list_content_words, make_triples
from shadowprobe.training.question_split import find_questions, hold_out, split_questions
from shadowprobe.training.settings import Disjoint, TrainingSettings

Facts = Sequence[tuple[str, str]]


def make_all(facts: Mapping[str, Facts]) -> list[Triple]:
    questions = {
        relation: [Question(f"Where was {subject} born?", (answer,), subject) for subject, answer in of_relation]
        for relation, of_relation in facts.items()
    }
    return make_triples(questions)[0]


def write_part(folder: Path, name: str, facts: Mapping[str, Facts]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for relation, of_relation in facts.items():
        # As released: without a subject.
        items = [{"question": f"Where was {subject} born?", "answers": [answer]} for subject, answer in of_relation]
        (folder / f"{relation}.{name}.json").write_text(json.dumps(items))


def make_released(tmp_path: Path, training: Mapping[str, Facts], test: Mapping[str, Facts]) -> Collection:
    """A collection with train, dev and test folders, as the release has them."""
    write_documents(tmp_path / "little" / "documents.jsonl", [Document("1", "Nobody", "nothing")])
    questions = tmp_path / "little" / "entity_questions"
    for name, facts in (("train", training), ("dev", test), ("test", test)):
        write_part(questions / name, name, facts)
    return open_collection(str(tmp_path / "little"))


def shared_words(training: Sequence[Triple], test: Sequence[Triple]) -> set[str]:
    """Every word that both have, found pair by pair and with other code than the product's."""
    return {
        word
        for one in training
        for other in test
        for word in " ".join((one.subject, *one.question.answers)).lower().replace(",", " ").split()
        if word in " ".join((other.subject, *other.question.answers)).lower().replace(",", " ").split()
    }


def test_words_of_subject_and_answers_count_but_not_stop_words_and_punctuation() -> None:
    assert list_content_words("The Duke of York, 2nd", "Café-Bar") == {"duke", "york", "2nd", "cafe\u0301", "bar"}


def test_a_training_question_that_shares_a_word_with_a_test_question_is_dropped(tmp_path: Path) -> None:
    training = {"P19": [("Anna Berg", "Rome"), ("Carl Dahl", "Oslo"), ("Eva Falk", "Paris")]}
    # `Berg` is in a subject of the test, `Oslo` among its answers.
    collection = make_released(tmp_path, training, {"P19": [("Gustav Berg", "Lima"), ("Ida Jung", "Oslo")]})
    split = split_questions(collection, TrainingSettings(collection=""))
    assert [triple.subject for triple in split.training] == ["Eva Falk"]
    assert split.counts["dropped_for_overlap"] == 2
    assert split.counts["candidates"] == {"P19": 3}


@pytest.mark.parametrize(("disjoint", "kept"), [("all", []), ("relation", ["Anna Berg"])])
def test_words_are_compared_with_all_test_questions_or_with_those_of_the_relation(
    tmp_path: Path, disjoint: Disjoint, kept: list[str]
) -> None:
    collection = make_released(tmp_path, {"P19": [("Anna Berg", "Rome")]}, {"P20": [("Anna Kron", "Rome")]})
    # The pattern of P19 does not fit P20, whose question is read by its own.
    (tmp_path / "little/entity_questions/test/P20.test.json").write_text(
        '[{"question": "Where did Anna Kron die?", "answers": ["Rome"]}]'
    )
    settings = TrainingSettings(collection="", disjoint=disjoint)
    if not kept:
        with pytest.raises(
            UsageError, match=r"no training question is left: each of the 1 shares a word .* --disjoint"
        ):
            split_questions(collection, settings)
        return
    assert [triple.subject for triple in split_questions(collection, settings).training] == kept


def test_a_planted_leak_is_refused_before_anything_is_trained() -> None:
    training, test = make_all({"P19": [("Eva Falk", "Paris")]}), make_all({"P19": [("Ida Jung", "Oslo")]})
    check_disjoint(training, test, "all")
    (leak,) = make_all({"P19": [("Otto Lund", "OSLO")]})
    with pytest.raises(
        UsageError, match=r"'Where was Otto Lund born.' and .* 'Where was Ida Jung born.' share .* 'oslo'"
    ):
        check_disjoint([*training, leak], test, "all")


@pytest.mark.parametrize("seed", range(5))
def test_the_built_in_questions_are_split_without_a_shared_word(seed: int) -> None:
    split = split_questions(open_collection("namesakes"), TrainingSettings(seed=seed))
    stop_words = {"the", "of", "and", "in", "at", "for", "on", "a", "to", "&"}
    # Hyphens and dots within a word part it for the product, so that it is stricter than this.
    assert shared_words(split.training, split.test) <= stop_words
    assert len(split.test) >= 0.25 * 829
    dropped = split.counts["dropped_for_overlap"]
    assert len(split.training) + dropped + len(split.test) == 829
    assert dropped > 0


def test_subjects_that_share_a_word_are_on_one_side() -> None:
    facts = [("Bill Evans", "a1"), ("Bill Russell", "a2"), ("Russell Crowe", "a3"), ("Uma Thurman", "a4")]
    available, test = hold_out(make_all({"P19": facts}), 0.1, seed=1)
    # The three are one group by Bill and Russell, and the largest, which is never held out.
    assert [triple.subject for triple in test] == ["Uma Thurman"]
    assert len(available) == 3


def test_questions_whose_subjects_all_share_words_cannot_be_divided() -> None:
    with pytest.raises(UsageError, match="no test can be held out"):
        hold_out(make_all({"P19": [("Bill Evans", "x"), ("Bill Russell", "y")]}), 0.5, seed=1)


def test_a_question_without_a_known_subject_is_counted(tmp_path: Path) -> None:
    collection = make_released(
        tmp_path, {"P19": [("Eva Falk", "Paris")], "P9999": [("Ole", "Bonn")]}, {"P19": [("Ida Jung", "Oslo")]}
    )
    split = split_questions(collection, TrainingSettings(collection=""))
    assert split.counts["without_subject"] == 1
    assert split.relations == ("P19",)


def test_only_the_chosen_relations_are_trained_and_all_are_tested(tmp_path: Path) -> None:
    training = {"P19": [("Eva Falk", "Paris")], "P20": [("Otto Lund", "Kiel")]}
    test = {"P19": [("Ida Jung", "Oslo")], "P20": [("Max Noll", "Rom")]}
    collection = make_released(tmp_path, training, test)
    for part, facts in (("train", training), ("test", test)):
        items = [{"question": f"Where did {subject} die?", "answers": [answer]} for subject, answer in facts["P20"]]
        (tmp_path / f"little/entity_questions/{part}/P20.{part}.json").write_text(json.dumps(items))
    split = split_questions(collection, TrainingSettings(collection="", relations=("P20",)))
    assert [triple.subject for triple in split.training] == ["Otto Lund"]
    assert split.counts["test"] == {"P19": 1, "P20": 1}
    with pytest.raises(UsageError, match=r"--relation P2: has no training questions \(did you mean `P20`"):
        split_questions(collection, TrainingSettings(collection="", relations=("P2",)))


def test_a_limit_draws_as_many_of_each_relation(tmp_path: Path) -> None:
    facts = [(f"Eva{number}", f"Paris{number}") for number in range(20)]
    collection = make_released(tmp_path, {"P19": facts}, {"P19": [("Ida Jung", "Oslo")]})
    split = split_questions(collection, TrainingSettings(collection="", limit=5))
    assert len(split.training) == 5
    assert split.counts["over_the_limit"] == 15


def test_the_split_itself_refuses_a_leak(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = make_released(tmp_path, {"P19": [("Anna Berg", "Oslo")]}, {"P19": [("Ida Jung", "Oslo")]})
    # As if nothing were dropped by a mistake.
    monkeypatch.setattr(question_split, "drop_overlap", lambda candidates, test, disjoint: candidates)
    with pytest.raises(UsageError, match="share the word 'oslo'"):
        split_questions(collection, TrainingSettings(collection=""))


def test_a_training_folder_without_a_test_folder_is_divided(tmp_path: Path) -> None:
    write_part(tmp_path / "questions" / "train", "train", {"P19": [("Eva Falk", "Paris"), ("Ida Jung", "Oslo")]})
    write_documents(tmp_path / "documents.jsonl", [Document("1", "Nobody", "nothing")])
    settings = TrainingSettings(collection="", queries=str(tmp_path / "questions"))
    split = split_questions(open_collection(str(tmp_path)), settings)
    assert (len(split.training), len(split.test)) == (1, 1)


def test_a_collection_without_questions_needs_some(tmp_path: Path) -> None:
    write_documents(tmp_path / "little" / "documents.jsonl", [Document("1", "Nobody", "nothing")])
    collection = open_collection(str(tmp_path / "little"))
    with pytest.raises(UsageError, match="the collection `little` has no questions: give --queries"):
        find_questions(collection, None)
    assert find_questions(collection, "here") == Path("here")


def test_the_seed_decides_what_is_held_out() -> None:
    triples = make_all({"P19": [(f"Eva{number}", f"Paris{number}") for number in range(12)]})
    tests = {tuple(triple.subject for triple in hold_out(triples, 0.25, seed)[1]) for seed in range(8)}
    # A quarter of twelve is three.
    assert {len(test) for test in tests} == {3}
    assert len(tests) > 1


def test_questions_are_grouped_by_their_relation_in_their_order() -> None:
    triples = make_all({"P19": [("Eva Falk", "Paris"), ("Ida Jung", "Oslo")], "P20": [("Max Noll", "Rom")]})
    grouped = question_split.group_questions([triples[0], triples[2], triples[1]])
    subjects = {relation: [question.subject for question in questions] for relation, questions in grouped.items()}
    assert subjects == {"P19": ["Eva Falk", "Ida Jung"], "P20": ["Max Noll"]}
