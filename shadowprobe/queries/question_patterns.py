"""The patterns of questions about a relation: who is asked about, and which pattern a question has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from shadowprobe.queries.question_files import PLACE, Question, relations


def list_patterns(relation: str) -> tuple[str, ...]:
    """The patterns of a relation of the paper, the exact one first; none of another relation."""
    known = relations().get(relation)
    return (known.question, known.similar) if known is not None else ()


def match_subject(pattern: str, text: str) -> str | None:
    """The subject of a question that has a pattern; None if it has another one."""
    found = _compile_pattern(pattern).fullmatch(" ".join(text.split()))
    return found[1] if found is not None else None


def find_subject(relation: str, question: Question) -> str | None:
    """Whom a question is about: its own field, else what stands in the place of the subject; None if not known."""
    if question.subject is not None and question.subject.strip():
        return question.subject
    return find_first_subject(list_patterns(relation), question.question)


def find_first_subject(patterns: Iterable[str], text: str) -> str | None:
    """The subject of a question by the first pattern that it has."""
    return next((subject for pattern in patterns if (subject := match_subject(pattern, text)) is not None), None)


@lru_cache(256)
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    before, _, after = pattern.partition(PLACE)
    return re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.IGNORECASE)
