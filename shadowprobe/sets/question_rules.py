"""The rules for questions that several documents answer: which are kept, and why the others are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from shadowprobe.base.spans import find_name
from shadowprobe.dataset.knowledge import base_name
from shadowprobe.measure.answer_matching import holds_any, squad_words
from shadowprobe.measure.content_words import content_words
from shadowprobe.queries.query import Document

LONGEST_QUESTION, LONGEST_ANSWER = 40, 10
# A question about a text, and not about what it says.
_OF_TEXTS = re.compile(r"\b(?:documents?|passages?|contexts?|namesakes?)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:a|an|the)\s+", re.IGNORECASE)

# Why a question is dropped, a document, and a question whose documents were asked.
NO_QUESTION = "reply without a question"
LONG_QUESTION = f"question of more than {LONGEST_QUESTION} words"
NO_NAME = "question without the name"
NAMES_ENTITY = "question that says which entity is meant"
OF_TEXTS = "question about the documents"
NO_ANSWER = "document that does not answer"
LONG_ANSWER = f"answer of more than {LONGEST_ANSWER} words"
NO_SPAN = "answer that is not in the document"
IN_QUESTION = "answer that is in the question"
SHARED = "answer that is in another document too"
UNANSWERABLE = "unanswerable: fewer than two documents answer"
AMBIGUOUS = "ambiguous: fewer than two answers are in one document alone"


class FoundAnswer(NamedTuple):
    """The answer of a document as its text has it, or why there is none."""

    answer: str | None
    reason: str = ""


def check_question(question: str | None, name: str, documents: Sequence[Document]) -> str:
    """Why a question cannot be asked about a name; empty if it can."""
    if question is None:
        return NO_QUESTION
    if len(question.split()) > LONGEST_QUESTION:
        return LONG_QUESTION
    if not find_name(question, name, any_case=True):
        return NO_NAME
    if _OF_TEXTS.search(question) and not _OF_TEXTS.search(name):
        return OF_TEXTS
    return NAMES_ENTITY if any(_names(question, document.title, name) for document in documents) else ""


def _names(question: str, title: str, name: str) -> bool:
    """True if a question has a longer name of an entity, or all words of its title that the name does not have."""
    longer = base_name(title)
    if len(longer) > len(name) and find_name(question, longer, any_case=True):
        return True
    words, known = set(content_words(question)), set(content_words(name))
    own = set(content_words(title.replace("(", " ").replace(")", " "))) - known
    return bool(own) and own <= words


def find_answer(answer: str | None, question: str, document: Document) -> FoundAnswer:
    """The span of an answer in its document; an article before it may be missing there."""
    if answer is None:
        return FoundAnswer(None, NO_ANSWER)
    if len(answer.split()) > LONGEST_ANSWER:
        return FoundAnswer(None, LONG_ANSWER)
    for form in (answer, _ARTICLE.sub("", answer)):
        if spans := find_name(document.text, form, any_case=True):
            span = document.text[spans[0].start : spans[0].end]
            is_asked = holds_any(squad_words(question), [squad_words(span)])
            return FoundAnswer(None, IN_QUESTION) if is_asked else FoundAnswer(span)
    return FoundAnswer(None, NO_SPAN)


def drop_shared(found: Sequence[FoundAnswer], documents: Sequence[Document]) -> list[FoundAnswer]:
    """The same without answers that another document with an answer has too: they do not say which one is meant."""
    words = [squad_words(document.text) for document in documents]
    answered = [place for place, one in enumerate(found) if one.answer is not None]
    kept = list(found)
    for place in answered:
        form = [squad_words(found[place].answer or "")]
        # An answer of nothing but an article cannot be compared.
        if not form[0] or any(holds_any(words[other], form) for other in answered if other != place):
            kept[place] = FoundAnswer(None, SHARED)
    return kept


def check_answers(found: Sequence[FoundAnswer], kept: Sequence[FoundAnswer]) -> str:
    """Why a question is dropped after its documents were asked; empty if it is kept."""
    answered, distinct = (sum(one.answer is not None for one in many) for many in (found, kept))
    if answered < 2:
        return UNANSWERABLE
    return AMBIGUOUS if distinct < 2 else ""
