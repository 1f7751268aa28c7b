"""A sample for annotators: what they see, and how items are drawn."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any, Generic, Literal, TypeVar, get_args

from msgspec import Struct

from shadowprobe.base.jsonl import encode_lines

SCHEMA = 1
KEY = "sample.json"

Study = Literal["shadowlink", "amber", "ambigdocs"]
STUDIES: tuple[Study, ...] = get_args(Study)
T = TypeVar("T")


class Choice(Struct, frozen=True, omit_defaults=True):
    """What an annotator can choose: an entity without its commonness, a document, or a kind of answer."""

    title: str
    description: str | None = None


class ShownDocument(Struct, frozen=True):
    """A document that an annotator can read, with the right answers in it."""

    title: str
    text: str
    answers: tuple[str, ...]


class FormQuestion(Struct, frozen=True, omit_defaults=True):
    """What annotators see of an item; its id and its group would reveal the answer."""

    item: int
    before: str
    mention: str
    after: str
    choices: tuple[Choice, ...]
    documents: tuple[ShownDocument, ...] = ()
    # What a language model has answered.
    output: str | None = None


# The key of a study, `answer_keys.StoredKey`: the right answers, which are not shown to annotators.
Key_co = TypeVar("Key_co", covariant=True)


class Sample(Struct, Generic[Key_co], frozen=True):
    """The questions and the key."""

    questions: tuple[FormQuestion, ...]
    key: Key_co
    language: str


def hash_questions(questions: Iterable[FormQuestion]) -> str:
    """Returns an id of the sample; it begins with a letter, so that a spreadsheet does not read it as a number."""
    return f"s{hashlib.sha256(encode_lines(questions)).hexdigest()[:12]}"


def draw_in_turn(pools: Mapping[Any, Sequence[T]], n: int, name_of: Callable[[T], str]) -> list[T]:
    """Draws n items, from each pool in turn, each of a name that was drawn least often so far; skips empty pools."""
    remaining = [_group_by_name(pool, name_of) for pool in pools.values()]
    times_drawn: Counter[str] = Counter()
    drawn: list[T] = []
    for names in cycle(remaining):
        if len(drawn) == n or not any(remaining):
            break
        if names:
            name = min(names, key=times_drawn.__getitem__)
            drawn.append(names[name].pop())
            times_drawn[name] += 1
            if not names[name]:
                del names[name]
    return drawn


def _group_by_name(pool: Iterable[T], name_of: Callable[[T], str]) -> dict[str, list[T]]:
    groups: defaultdict[str, list[T]] = defaultdict(list)
    for item in pool:
        groups[name_of(item)].append(item)
    return dict(groups)
