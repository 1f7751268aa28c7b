"""Which pattern a question has, and whom it is about."""

from __future__ import annotations

import pytest

from shadowprobe.queries.question_files import PLACE, Question, relations
from shadowprobe.queries.question_patterns import find_subject, list_patterns, match_subject


@pytest.mark.parametrize(
    ("pattern", "text", "subject"),
    [
        ("Where was [E] born?", "Where was Arve Furset born?", "Arve Furset"),
        ("Where was [E] born?", "where was  Arve Furset born?", "Arve Furset"),
        ("Who is [E]'s child?", "Who is A (b) [c]'s child?", "A (b) [c]"),
        ("Where was [E] born?", "Where was Arve Furset educated?", None),
        ("Where was [E] born?", "Where was  born?", None),
        ("Where was [E] born?", "So where was Arve Furset born?", None),
    ],
)
def test_the_subject_is_what_stands_in_its_place(pattern: str, text: str, subject: str | None) -> None:
    assert match_subject(pattern, text) == subject


def test_the_field_of_a_question_goes_before_its_pattern() -> None:
    text = "Where was Arve Furset born?"
    assert find_subject("P19", Question(text, ("Askvoll",), "Arve")) == "Arve"
    assert find_subject("P19", Question(text, ("Askvoll",))) == "Arve Furset"
    assert find_subject("P9999", Question(text, ("Askvoll",))) is None


def test_every_relation_has_a_similar_pattern_of_other_words() -> None:
    similar = [relation.similar for relation in relations().values()]
    assert all(pattern.count(PLACE) == 1 and pattern.endswith("?") for pattern in similar)
    assert len(set(similar)) == 24
    # No similar pattern is the usual one of any relation, or the router could not tell them apart.
    assert not {relation.question for relation in relations().values()} & set(similar)
    # Footnote 7 of the paper.
    assert list_patterns("P19")[1] == "What is the birthplace of [E]?"
    assert list_patterns("P159")[1] == "Where is [E] headquartered?"
    assert list_patterns("P170")[1] == "Who is the creator of [E]?"
