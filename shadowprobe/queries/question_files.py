"""EntityQuestions in the released format: for each relation, questions about one entity and their answers."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from shadowprobe.base.jsonl import NonBlank, read_json
from shadowprobe.errors import InputError

_RELATION = re.compile(r"P[1-9][0-9]*")
_BUCKET = re.compile(r"bucket(\d+)")
_SPLIT = re.compile(r"\.(train|dev|test)\.json$")
PLACE = "[E]"


class Question(Struct, frozen=True, omit_defaults=True):
    """A question and its answers; `subject` and `frequency` are our own fields."""

    question: NonBlank
    answers: Annotated[tuple[NonBlank, ...], Meta(min_length=1)]
    subject: str | None = None
    # The number of links to the subject, or another measure of how common it is.
    frequency: Annotated[int, Meta(ge=0)] | None = None
    # The bucket of equal cumulative frequency that the file name gives; 0 is the rarest.
    bucket: int | None = None


class Relation(Struct, frozen=True):
    """One of the 24 relations of the paper."""

    label: str
    question: str
    # The same in other words.
    similar: str


@lru_cache(1)
def relations() -> dict[str, Relation]:
    """The relations of the paper by their numbers."""
    source = files("shadowprobe.queries") / "entity_relations.toml"
    return msgspec.convert(tomllib.loads(source.read_text(encoding="utf-8")), dict[str, Relation])


def make_question(relation: str, subject: str) -> str:
    """Makes the question of a relation about a subject."""
    return relations()[relation].question.replace(PLACE, subject)


def read_questions(path: Path) -> dict[str, list[Question]]:
    """Reads the questions of a file `P19.test.json`, or of a folder of such files, by relation.

    The questions of a single file without a relation in its name are those of one relation, named as the file. A folder
    of buckets, as in `common-random-buckets/P19/bucket3.test.json`, is read with the bucket of each question.
    """
    if not path.exists():
        raise InputError(path, "no such file or folder")
    # A file that the user names may have questions of no relation, as those of other papers.
    files = (
        [path] if path.is_file() else sorted(path.glob("**/*.json"), key=lambda file: (_find_relation(file), str(file)))
    )
    files = [file for file in files if file == path or _find_relation(file)]
    if not files:
        raise InputError(path, "holds no questions: their files are named by relation, as in P19.test.json")
    splits = {split[1] for file in files if (split := _SPLIT.search(file.name))}
    if len(splits) > 1:
        # The release has the splits side by side. Figures over all of them could not be compared with published ones.
        raise InputError(path, f"holds questions of {' and '.join(sorted(splits))}: give the folder of one of these")
    questions: dict[str, list[Question]] = {}
    for file in files:
        contents = read_json(file, list[Question])
        if bucket := _BUCKET.match(file.name):
            contents = [msgspec.structs.replace(question, bucket=int(bucket[1])) for question in contents]
        if contents:
            questions.setdefault(_find_relation(file) or file.name.partition(".")[0], []).extend(contents)
    if not questions:
        raise InputError(path, "holds no questions")
    return questions


def number_questions(questions: Mapping[str, Sequence[Question]]) -> Iterator[tuple[str, str, Question]]:
    """Every question with its id, which has its number within its relation, and with the relation."""
    for relation, of_relation in questions.items():
        for number, question in enumerate(of_relation):
            yield f"{relation}-{number}", relation, question


def word_relation(relation: str) -> str | None:
    """The question of a relation of the paper with a place for the subject; None for another relation."""
    known = relations().get(relation)
    return known.question if known is not None else None


def _find_relation(file: Path) -> str:
    """Returns the relation at the beginning of the file name, or else of the folder name; else an empty string."""
    for name in (file.name, file.parent.resolve().name):
        if match := _RELATION.match(name):
            return match[0]
    return ""


def equal_buckets(frequencies: Sequence[int], count: int = 8) -> list[int]:
    """Returns the bucket of each frequency, 0 for the rarest; all buckets have about the same cumulative frequency.

    Equal frequencies are in the same bucket, so that their order does not matter.
    """
    total = sum(frequencies)
    if not total:
        return [0] * len(frequencies)
    buckets: dict[int, int] = {}
    below = 0
    for value, times in sorted(Counter(frequencies).items()):
        # A value that would fill several buckets is put into the middle one.
        middle = below + value * times / 2
        buckets[value] = int(count * middle / total)
        below += value * times
    return [buckets[value] for value in frequencies]
