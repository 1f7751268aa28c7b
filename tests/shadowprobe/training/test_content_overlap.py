"""Words that training and test questions must not share."""

from __future__ import annotations

import pytest

from shadowprobe import UsageError
from shadowprobe.queries.question_files import Question
from shadowprobe.training.content_overlap import (
    Triple,
    check_disjoint,
    drop_overlap,
    list_content_words,
    make_triples,
)


def triple(relation: str, subject: str, *words: str) -> Triple:
    question = Question(f"What of {subject}?", ("x",))
    return Triple(relation, subject, question, frozenset(words or subject.lower().split()))


TEST = [triple("P19", "Anna Berg"), triple("P20", "Como Lake")]


def test_words_are_small_and_without_stop_words_and_punctuation() -> None:
    assert list_content_words("The Isle of Man, 1999!", "of the man") == {"isle", "man", "1999"}
    assert list_content_words("of the", "- ?") == frozenset()


def test_a_triple_has_the_words_of_its_subject_and_its_answers() -> None:
    questions = {
        "P19": [
            Question("Where was Anna Berg born?", ("Upper Town", "Ulm")),
            Question("Who?", ("Nobody",), subject="Carl Dale"),
            Question("Something else?", ("x",)),
        ],
        "P1": [Question("Where was Anna Berg born?", ("Ulm",))],
    }
    triples, unknown = make_triples(questions)
    # The third has no subject, and a relation that the paper does not have has no pattern.
    assert unknown == 2
    assert [(one.relation, one.subject, set(one.words)) for one in triples] == [
        ("P19", "Anna Berg", {"anna", "berg", "upper", "town", "ulm"}),
        ("P19", "Carl Dale", {"carl", "dale", "nobody"}),
    ]


def test_a_triple_that_shares_a_word_is_dropped_in_its_relation_or_in_all() -> None:
    training = [triple("P19", "Anna Dale"), triple("P19", "Lake Dale"), triple("P21", "Berg"), triple("P19", "Elbe")]
    assert [one.subject for one in drop_overlap(training, TEST, "all")] == ["Elbe"]
    assert [one.subject for one in drop_overlap(training, TEST, "relation")] == ["Lake Dale", "Berg", "Elbe"]
    assert drop_overlap(training, [], "all") == training


def test_a_leak_is_refused_with_both_questions_and_the_word() -> None:
    check_disjoint([triple("P19", "Elbe")], TEST, "all")
    check_disjoint([triple("P21", "Berg")], TEST, "relation")
    for training in (triple("P19", "Berg Dale"), triple("P19", "Zebra Berg Anna")):
        with pytest.raises(
            UsageError, match=r"'What of .*\?' and the test question 'What of Anna Berg\?' share the word"
        ):
            check_disjoint([triple("P19", "Elbe"), training], TEST, "relation")
    with pytest.raises(UsageError, match="share the word 'berg'"):
        check_disjoint([triple("P21", "Berg")], TEST, "all")
