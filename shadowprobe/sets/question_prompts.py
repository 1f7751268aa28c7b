"""What a language model is asked to make a set of AmbigDocs, and what its replies say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise

from shadowprobe.measure.answer_matching import squad_words
from shadowprobe.queries.query import Document
from shadowprobe.sets.name_documents import NameDocuments
from shadowprobe.systems.prompt_documents import number_documents

# The example is about things that do not exist, so that no model knows them.
QUESTION = """\
Two documents are about different things that share a name. Write one question that has the name in it, that both \
documents answer, and that each answers differently in a few words. Do not say which of the two is meant, and do not \
speak of documents. Reply with the question alone.

Name: Marlock
Document 1: Marlock (mill)
Marlock is a water mill on the Usk. The Harrow family built it in 1871, and it ground corn for fifty years.

Document 2: Marlock Bridge
Marlock Bridge, or Marlock, has three arches of stone. It was built by the county council in 1904.

Question: Who built Marlock?

Name: {name}
{documents}

Question:"""
ANSWER = """\
Answer each question with the shortest words that stand in its document. If the document does not answer it, reply \
with the word none.

Document: Marlock Bridge
Marlock Bridge, or Marlock, has three arches of stone. It was built by the county council in 1904.
Question: Who built Marlock?
Answer: the county council

Document: Marlock Bridge
Marlock Bridge, or Marlock, has three arches of stone. It was built by the county council in 1904.
Question: Who owned Marlock?
Answer: none

Document: {title}
{text}
Question: {question}
Answer:"""
# A line with a question mark, after the number of a list, the word "Question" and any marks.
_QUESTION = re.compile(
    r"(?:^|\n)[^\w\n]*(?:\d+[.)])?[^\w\n]*(?:question(?: \d+)?\s*:)?[^\w\n]*(\w[^\n?]*\?)", re.IGNORECASE
)
_ANSWER = re.compile(r"\s*(?:answer\s*:)?\s*([^\n]*)", re.IGNORECASE)
_NO_ANSWER = re.compile(r"\W*(?:none|no answer|not (?:given|stated|mentioned)|n/a)\b", re.IGNORECASE)
_AROUND = " \t\"'“”‘’`*"


def write_question_prompt(one: NameDocuments) -> str:
    """The prompt for a question about a name, from the two documents that have most in common."""
    documents = number_documents(choose_pair(one.documents))
    return QUESTION.format(name=one.name, documents=documents)


def write_answer_prompt(document: Document, question: str) -> str:
    """The prompt for the answer of one document."""
    return ANSWER.format(title=document.title, text=document.text, question=question)


def choose_pair(documents: Sequence[Document]) -> tuple[Document, Document]:
    """The two documents that share most pairs of words: they state the same kind of facts. The first two of a tie."""
    words = [set(pairwise(squad_words(document.text))) for document in documents]
    first, second = max(combinations(range(len(documents)), 2), key=lambda pair: len(words[pair[0]] & words[pair[1]]))
    return documents[first], documents[second]


def read_question(reply: str) -> str | None:
    """The first question of a reply; None if it has none."""
    found = _QUESTION.search(reply)
    return " ".join(found[1].split()) if found else None


def read_answer(reply: str) -> str | None:
    """The first line of a reply without quotes and the stop at its end; None if it says that there is no answer."""
    found = _ANSWER.match(reply)
    answer = found[1].strip(_AROUND) if found else ""
    if _NO_ANSWER.match(answer):
        return None
    return answer.removesuffix(".").strip(_AROUND) if re.search(r"\w", answer) else None
