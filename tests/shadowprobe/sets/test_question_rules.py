"""The rules for questions that several documents answer."""

from __future__ import annotations

import pytest

from shadowprobe.queries.query import Document
from shadowprobe.sets.question_rules import FoundAnswer, check_answers, check_question, drop_shared, find_answer

RIVER = Document("1", "Avon (river)", "The Avon rises near Naseby in Northamptonshire. It has 85 miles.")
SHIP = Document("2", "HMS Avon (1842)", "She was built at Millwall, a part of London, in 1842.")


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Where did Avon begin?", ""),
        ("Where did the AVON begin?", ""),
        (None, "reply without a question"),
        ("Where did it begin?", "question without the name"),
        ("Where is Avonmouth?", "question without the name"),
        ("Where does the river Avon begin?", "question that says which entity is meant"),
        ("Where was HMS Avon built?", "question that says which entity is meant"),
        ("Where was hms AVON built?", "question that says which entity is meant"),
        ("Is Avon 1842 hms?", "question that says which entity is meant"),
        # Only a part of what sets the ship apart.
        ("What did Avon do in 1842?", ""),
        ("Which document speaks of Avon?", "question about the documents"),
        (f"Is Avon {'very ' * 38}old?", "question of more than 40 words"),
        (f"Is Avon {'very ' * 37}old?", ""),
    ],
)
def test_a_question_has_the_name_and_tells_no_entity(question: str | None, reason: str) -> None:
    assert check_question(question, "Avon", [RIVER, SHIP]) == reason


def test_a_name_may_have_a_word_for_a_text() -> None:
    assert check_question("Who wrote The Passage?", "The Passage", []) == ""


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("near Naseby", FoundAnswer("near Naseby")),
        ("NASEBY", FoundAnswer("Naseby")),
        # An article that the text does not have.
        ("the Northamptonshire", FoundAnswer("Northamptonshire")),
        ("85", FoundAnswer("85")),
        (None, FoundAnswer(None, "document that does not answer")),
        ("Nase", FoundAnswer(None, "answer that is not in the document")),
        ("Naseby Northamptonshire", FoundAnswer(None, "answer that is not in the document")),
        ("The Avon", FoundAnswer(None, "answer that is in the question")),
        ("one two three four five six seven eight nine ten", FoundAnswer(None, "answer that is not in the document")),
        ("one two three four five six seven eight nine ten eleven", FoundAnswer(None, "answer of more than 10 words")),
    ],
)
def test_an_answer_is_a_span_of_its_document(answer: str | None, found: FoundAnswer) -> None:
    assert find_answer(answer, "Where did Avon begin?", RIVER) == found


def test_an_answer_that_another_answered_document_has_too_is_dropped() -> None:
    first, second, third = (
        Document(str(n), str(n), text) for n, text in enumerate(("In London.", "Near London.", "X"))
    )
    both = [FoundAnswer("London"), FoundAnswer("Near"), FoundAnswer(None, "none")]
    shared = FoundAnswer(None, "answer that is in another document too")
    assert drop_shared(both, [first, second, third]) == [shared, both[1], both[2]]
    # The second one is not in the set, and may say what it likes.
    alone = [FoundAnswer("London"), FoundAnswer(None, "none"), FoundAnswer("X")]
    assert drop_shared(alone, [first, second, third]) == alone
    # An answer that is an article alone has no word to compare.
    article = [FoundAnswer("a"), FoundAnswer("Near"), FoundAnswer(None, "none")]
    assert drop_shared(article, [first, second, third])[0] == shared


@pytest.mark.parametrize(
    ("answered", "distinct", "reason"),
    [
        (2, 2, ""),
        (3, 2, ""),
        (1, 1, "unanswerable: fewer than two documents answer"),
        (0, 0, "unanswerable: fewer than two documents answer"),
        (2, 0, "ambiguous: fewer than two answers are in one document alone"),
        (3, 1, "ambiguous: fewer than two answers are in one document alone"),
    ],
)
def test_two_documents_must_have_an_answer_of_their_own(answered: int, distinct: int, reason: str) -> None:
    def some(count: int) -> list[FoundAnswer]:
        return [FoundAnswer("x") if place < count else FoundAnswer(None, "-") for place in range(3)]

    assert check_answers(some(answered), some(distinct)) == reason
