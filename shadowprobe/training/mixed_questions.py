"""Another set of questions that is trained along, against forgetting: in our own form, or in DPR's."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from shadowprobe.base.jsonl import NonBlank, read_json
from shadowprobe.errors import InputError
from shadowprobe.measure.answer_matching import dpr_words
from shadowprobe.queries.query import Document
from shadowprobe.queries.question_files import Question
from shadowprobe.training.content_overlap import Triple
from shadowprobe.training.passages import Asked, Example, PassageFinder
from shadowprobe.training.settings import TrainingSettings


class _Context(Struct):
    """A passage of DPR's file."""

    text: str
    title: str = ""


class _Item(Struct):
    """A question of our own files, or of DPR's, which has its passages beside it."""

    question: NonBlank
    answers: Annotated[tuple[NonBlank, ...], Meta(min_length=1)]
    positive_ctxs: list[_Context] = []
    hard_negative_ctxs: list[_Context] = []


class MixedQuestions(Struct, frozen=True):
    """Examples to train along, held-out questions, and how many questions were left out for a reason."""

    examples: list[Example]
    test: list[Question]
    # Those that name the subject of a test question, and those without a passage that answers them.
    names_test_subject: int = 0
    no_passage: int = 0


def read_mix(settings: TrainingSettings, test: Iterable[Triple], finder: PassageFinder) -> MixedQuestions:
    """Reads the file, holds a part of it out, and finds passages for the rest; nothing without a file."""
    if settings.mix is None:
        return MixedQuestions([], [])
    path = Path(settings.mix)
    if not path.is_file():
        raise InputError(path, "no such file: --mix is a JSON list of questions and answers")
    items = read_json(path, list[_Item])
    random.Random(settings.seed).shuffle(items)
    held = max(1, round(settings.held_out * len(items)))
    subjects = {tuple(dpr_words(triple.subject)) for triple in test}
    training = [item for item in items[held:] if not _names_any(item.question, subjects)]
    if not training:
        raise InputError(path, "holds no question to train on, besides those for the test")
    examples = _make_examples(training, finder, settings.negatives)
    found = [example for example in examples if example is not None]
    return MixedQuestions(
        found,
        [Question(item.question, item.answers) for item in items[:held]],
        len(items) - held - len(training),
        len(training) - len(found),
    )


def _names_any(text: str, subjects: set[tuple[str, ...]]) -> bool:
    """True if the words of a subject stand side by side in a question."""
    words = dpr_words(text)
    longest = max(map(len, subjects), default=0)
    return any(
        tuple(words[start:end]) in subjects
        for start in range(len(words))
        for end in range(start + 1, min(start + longest, len(words)) + 1)
    )


def _make_examples(items: Sequence[_Item], finder: PassageFinder, negatives: int) -> list[Example | None]:
    """The passages of each question: its own, or those of the collection that have an answer."""
    without = [item for item in items if not item.positive_ctxs]
    asked = [Asked(item.question, item.answers) for item in without]
    found = iter(finder.find(asked, negatives) if asked else [])
    return [
        _take_own(number, item, finder, negatives) if item.positive_ctxs else next(found)
        for number, item in enumerate(items)
    ]


def _take_own(number: int, item: _Item, finder: PassageFinder, negatives: int) -> Example:
    ids = []
    for place, context in enumerate([item.positive_ctxs[0], *item.hard_negative_ctxs[:negatives]]):
        # A collection has no such id, because its own have no control characters.
        document = Document(f"\0mix {number} {place}", context.title, context.text)
        finder.documents[document.id] = document
        ids.append(document.id)
    return Example(item.question, (ids[0],), tuple(ids[1:]))
