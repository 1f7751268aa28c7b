"""Draws questions of AmbER sets for annotators, each with the documents of three namesakes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from msgspec import Struct

from shadowprobe.errors import UsageError
from shadowprobe.human_study.amber_questions import (
    DOCUMENTS,
    AmberQuestion,
    Collected,
    Group,
    NamesakeDocument,
    list_questions,
)
from shadowprobe.human_study.sample import SCHEMA, Choice, FormQuestion, Sample, draw_in_turn, hash_questions
from shadowprobe.queries.collection import Collection

# The paper asked about 120 queries.
SIZE = 120


class AmberItem(Struct, frozen=True):
    """A question, its documents in the order of the form, and the number of the right one."""

    item: int
    id: str
    name: str
    collection: Collected
    group: Group
    question: str
    documents: tuple[NamesakeDocument, NamesakeDocument, NamesakeDocument]
    gold: int
    answers: tuple[str, ...]


class AmberKey(Struct, frozen=True):
    """The content of `sample.json`; it has the documents, so that nothing else is needed to score answers."""

    sample: str
    name: str
    collection: str
    digest: str
    seed: int
    # How many questions could not be asked, by reason.
    left_out: dict[str, int]
    items: tuple[AmberItem, ...]
    study: Literal["amber"] = "amber"
    schema: int = SCHEMA
    choices: ClassVar[int] = DOCUMENTS

    def text_of(self, item: int, choice: int) -> str | None:
        """The document in which the answer is marked."""
        return self.items[item - 1].documents[choice - 1].text

    def find_problems(self) -> Iterator[tuple[str, str]]:
        """The fields of items that cannot be right, with their problems."""
        for item in self.items:
            if not 1 <= item.gold <= DOCUMENTS:
                yield "gold", f"is {item.gold} in item {item.item}: expected 1 to {DOCUMENTS}"
            if not item.answers:
                yield "answers", f"is empty in item {item.item}"


def draw_amber_sample(
    collection: Collection, queries: Path | None = None, n: int | None = None, seed: int = 7, name: str | None = None
) -> Sample[AmberKey]:
    """Draws questions about people and things, head and tail in turn; a name is repeated after all names were drawn."""
    askable, left_out = list_questions(collection, queries)
    size = _choose_size(n, len(askable), collection, left_out)
    generator = random.Random(seed)
    generator.shuffle(askable)
    pools: dict[str, list[AmberQuestion]] = {}
    for question in askable:
        pools.setdefault(f"{question.collection}/{question.group}", []).append(question)
    drawn = draw_in_turn(dict(sorted(pools.items())), size, lambda question: question.name)
    generator.shuffle(drawn)
    items = tuple(_make_item(number, question, seed) for number, question in enumerate(drawn, start=1))
    questions = tuple(_make_question(item) for item in items)
    sample = hash_questions(questions)
    key = AmberKey(sample, name or collection.name, collection.name, collection.digest, seed, left_out, items)
    # A collection does not say its language.
    return Sample(questions, key, "")


def _choose_size(n: int | None, most: int, collection: Collection, left_out: Mapping[str, int]) -> int:
    if not most:
        reasons = "; ".join(f"{reason} ({count})" for reason, count in left_out.items()) or "no set is of the task qa"
        raise UsageError(f"`{collection.name}` has no question that people can be asked: {reasons}")
    if n is not None and n > most:
        raise UsageError(f"--n {n}: `{collection.name}` has {most} questions with {DOCUMENTS} documents")
    return min(SIZE, most) if n is None else n


def _make_item(number: int, question: AmberQuestion, seed: int) -> AmberItem:
    """The question with three documents in random order, which are the same in samples of any size."""
    generator = random.Random(f"{seed} {question.query.id}")
    documents = [question.gold, *generator.sample(question.others, DOCUMENTS - 1)]
    generator.shuffle(documents)
    first, second, third = documents
    return AmberItem(
        item=number,
        id=question.query.id,
        name=question.name,
        collection=question.collection,
        group=question.group,
        question=question.query.input,
        documents=(first, second, third),
        gold=documents.index(question.gold) + 1,
        answers=question.query.answers,
    )


def _make_question(item: AmberItem) -> FormQuestion:
    choices = tuple(Choice(document.title, document.text) for document in item.documents)
    return FormQuestion(item.item, item.question, "", "", choices)
