"""EntityQuestions as they are released: for each relation, questions about one entity and their answers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from shadowprobe.errors import InputError
from shadowprobe.jsonl import read_json

_RELATION = re.compile(r"P[1-9][0-9]*")
_BUCKET = re.compile(r"bucket(\d+)")
_SPLIT = re.compile(r"\.(train|dev|test)\.json$")
PLACE = "[E]"


class Question(Struct, frozen=True, omit_defaults=True):
    """A question and its answers; `subject` and `frequency` are ours, and the released files have neither."""

    question: str
    answers: tuple[str, ...]
    subject: str | None = None
    # How often the subject is linked to, or any other measure of how common it is.
    frequency: int | None = None
    # The bucket of equal cumulative frequency that the file says it belongs to; 0 is the rarest.
    bucket: int | None = None


class Relation(Struct, frozen=True):
    """One of the 24 relations of the paper."""

    label: str
    question: str


@lru_cache(1)
def relations() -> dict[str, Relation]:
    """The relations of the paper by their numbers."""
    source = files("shadowprobe.retrieval") / "entity_relations.toml"
    return msgspec.convert(tomllib.loads(source.read_text(encoding="utf-8")), dict[str, Relation])


def ask(relation: str, subject: str) -> str:
    """The question of a relation about a subject."""
    return relations()[relation].question.replace(PLACE, subject)


def read_questions(path: Path) -> dict[str, list[Question]]:
    """The questions of a file `P19.test.json`, or of a folder of such, by relation.

    A folder of buckets, as in `common-random-buckets/P19/bucket3.test.json`, is read with the bucket of each question.
    """
    if not path.exists():
        raise InputError(path, "no such file or folder")
    found = [path] if path.is_file() else sorted(path.glob("**/*.json"), key=lambda file: (_relation(file), str(file)))
    known = [file for file in found if _relation(file)]
    if not known:
        raise InputError(path, "holds no questions: their files are named by relation, as in P19.test.json")
    splits = {split[1] for file in known if (split := _SPLIT.search(file.name))}
    if len(splits) > 1:
        # The release has them side by side, and what they give together would be nobody's figure.
        raise InputError(path, f"holds questions of {' and '.join(sorted(splits))}: give the folder of one of these")
    questions: dict[str, list[Question]] = {}
    for file in known:
        bucket = _BUCKET.match(file.name)
        for number, question in enumerate(read_json(file, list[Question])):
            for field, problem in _faults(question):
                raise InputError(file, problem, field=f"[{number}].{field}")
            placed = msgspec.structs.replace(question, bucket=int(bucket[1])) if bucket else question
            questions.setdefault(_relation(file), []).append(placed)
    if not questions:
        raise InputError(path, "holds no questions")
    return questions


def _faults(question: Question) -> Iterator[tuple[str, str]]:
    if not question.question.strip():
        yield "question", "is empty"
    if not question.answers:
        yield "answers", "has none"
    if not all(answer.strip() for answer in question.answers):
        yield "answers", "one is empty"
    if question.frequency is not None and question.frequency < 0:
        yield "frequency", "is below zero"


def _relation(file: Path) -> str:
    """The relation that a file's name begins with, or else its folder's; empty where neither does."""
    for name in (file.name, file.parent.resolve().name):
        if match := _RELATION.match(name):
            return match[0]
    return ""


def equal_buckets(frequencies: Sequence[int], count: int = 8) -> list[int]:
    """The bucket of each frequency, 0 for the rarest, so that each has about the same cumulative frequency.

    Equal frequencies share a bucket, so that no order among them decides.
    """
    total = sum(frequencies)
    if not total:
        return [0] * len(frequencies)
    place: dict[int, int] = {}
    below = 0
    for value, many in _counted(frequencies):
        # By the middle of what the value adds: one that spans several buckets stands in the middle of them.
        middle = below + value * many / 2
        place[value] = min(count - 1, int(count * middle / total))
        below += value * many
    return [place[value] for value in frequencies]


def _counted(values: Iterable[int]) -> list[tuple[int, int]]:
    counts: dict[int, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return sorted(counts.items())
