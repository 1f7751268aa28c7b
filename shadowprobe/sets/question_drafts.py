"""Makes sets of AmbigDocs from the replies of a language model, and counts what is left out and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from shadowprobe.build.funnel import Funnel
from shadowprobe.queries.ambigdocs_sets import AmbigDocument, AmbigSet
from shadowprobe.queries.query import Document, Query
from shadowprobe.sets.name_documents import NameDocuments
from shadowprobe.sets.question_prompts import read_answer, read_question, write_answer_prompt, write_question_prompt
from shadowprobe.sets.question_rules import FoundAnswer, check_answers, check_question, drop_shared, find_answer

ONE_DOCUMENT = "name with fewer than two documents"
NO_REPLY = "no reply"
# What is counted in each stage.
STAGES = {"names": "names", "questions": "names asked about", "answers": "documents", "sets": "questions"}


class Rejected(Struct, frozen=True, omit_defaults=True):
    """A draft that is not used: a question, or the answer of one document to it."""

    name: str
    reason: str
    question: str | None = None
    # The title of the document, if an answer is rejected.
    title: str | None = None
    # What the model wrote.
    reply: str | None = None


class MadeSets(NamedTuple):
    """The sets, the rejected drafts, and the counts of every stage."""

    sets: list[AmbigSet]
    rejected: list[Rejected]
    funnels: list[Funnel]


class Draft(NamedTuple):
    """The question that a model wrote about a name, and why it is dropped; empty if its documents can be asked."""

    question: str | None
    reason: str


def keep_shared(names: Sequence[NameDocuments]) -> list[NameDocuments]:
    """The names that several entities have."""
    return [one for one in names if one.is_shared]


def list_question_prompts(names: Sequence[NameDocuments]) -> Iterator[Query]:
    """A prompt for a question about each name that is shared."""
    for one in keep_shared(names):
        yield Query(one.name, write_question_prompt(one), one.name)


def list_answer_prompts(names: Sequence[NameDocuments], replies: Mapping[str, str]) -> Iterator[Query]:
    """A prompt for the answer of each document, for the questions that can be asked."""
    for one in keep_shared(names):
        draft = _read_draft(one, replies.get(one.name))
        if draft.question is not None and not draft.reason:
            for document in one.documents:
                prompt = write_answer_prompt(document, draft.question)
                yield Query(answer_key(one.name, document), prompt, one.name)


def answer_key(name: str, document: Document) -> str:
    """The key of the reply about one document; a name has no line break."""
    return f"{name}\n{document.title}"


def make_sets(names: Sequence[NameDocuments], replies: Mapping[str, str]) -> MadeSets:
    """The sets that pass all rules; every question and every document that does not is counted under one reason."""
    made = MadeSets([], [], [Funnel(stage) for stage in STAGES])
    seen, questions, answers, sets = made.funnels
    asked = keep_shared(names)
    seen.keep(len(asked))
    seen.drop(ONE_DOCUMENT, len(names) - len(asked))
    for one in asked:
        reply = replies.get(one.name)
        draft = _read_draft(one, reply)
        if draft.question is None or draft.reason:
            questions.drop(draft.reason)
            made.rejected.append(Rejected(one.name, draft.reason, draft.question, None, reply))
            continue
        questions.keep()
        found = [_read_found(one.name, document, draft.question, replies) for document in one.documents]
        kept = drop_shared(found, one.documents)
        for document, answer in zip(one.documents, kept, strict=True):
            if answer.answer is not None:
                answers.keep()
                continue
            answers.drop(answer.reason)
            text = replies.get(answer_key(one.name, document))
            made.rejected.append(Rejected(one.name, answer.reason, draft.question, document.title, text))
        if reason := check_answers(found, kept):
            sets.drop(reason)
            made.rejected.append(Rejected(one.name, reason, draft.question, None, reply))
        else:
            sets.keep()
            made.sets.append(_make_set(one, draft.question, kept))
    return made


def _read_draft(one: NameDocuments, reply: str | None) -> Draft:
    if reply is None:
        return Draft(None, NO_REPLY)
    question = read_question(reply)
    return Draft(question, check_question(question, one.name, one.documents))


def _read_found(name: str, document: Document, question: str, replies: Mapping[str, str]) -> FoundAnswer:
    reply = replies.get(answer_key(name, document))
    return FoundAnswer(None, NO_REPLY) if reply is None else find_answer(read_answer(reply), question, document)


def _make_set(one: NameDocuments, question: str, kept: Sequence[FoundAnswer]) -> AmbigSet:
    documents = (
        AmbigDocument(document.title, document.text, answer.answer, document.id)
        for document, answer in zip(one.documents, kept, strict=True)
        if answer.answer is not None
    )
    return AmbigSet(question, one.name, tuple(documents), one.name)
