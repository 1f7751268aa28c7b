"""The answers that annotators hand in: the form's JSON, or the sheet filled in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from shadowprobe.annotate.sample import Key
from shadowprobe.errors import InputError, UsageError
from shadowprobe.jsonl import open_for_reading, read_json

SCHEMA = 1
CHOICES = (1, 2, 3)
COLUMNS = ("sample", "item", "answer")
# What a spreadsheet may put between cells, by the country that it is set to.
DELIMITERS = ",;\t"


class Answer(Struct, frozen=True):
    """The number that an annotator chose for an item: 1 or 2 for an entity, 3 for a context that is not sufficient."""

    item: int
    choice: int


class Returned(Struct, frozen=True):
    """What one annotator handed in."""

    sample: str
    annotator: str
    answers: tuple[Answer, ...]
    schema: int = SCHEMA

    @property
    def choices(self) -> dict[int, int]:
        """The choice of every item that has one."""
        return {answer.item: answer.choice for answer in self.answers}


def read_returned(paths: Sequence[Path], key: Key) -> list[Returned]:
    """The answers of each annotator, checked against the key of their sample; no two have the same name."""
    repeated = [path for place, path in enumerate(paths) if path.resolve() in {one.resolve() for one in paths[:place]}]
    if repeated:
        raise UsageError(f"{repeated[0]} is given twice: agreement needs the files of different annotators")
    found: list[Returned] = []
    for path in paths:
        returned = _read_sheet(path, key) if path.suffix.lower() in {".csv", ".tsv"} else _read_form(path, key)
        found.append(_renamed(returned, [other.annotator for other in found]))
    return found


def _read_form(path: Path, key: Key) -> Returned:
    returned = read_json(path, Returned)
    if returned.schema != SCHEMA:
        raise InputError(path, f"is {returned.schema}, and this shadowprobe reads {SCHEMA}: update it", field="schema")
    _check_sample(path, returned.sample, key)
    if not returned.annotator.strip():
        raise InputError(path, "is empty", field="annotator")
    seen: set[int] = set()
    for number, answer in enumerate(returned.answers):
        if not 1 <= answer.item <= len(key.items):
            raise InputError(path, f"the sample has no item {answer.item}", field=f"answers[{number}].item")
        if answer.item in seen:
            raise InputError(path, f"item {answer.item} is answered twice", field=f"answers[{number}].item")
        if answer.choice not in CHOICES:
            raise InputError(path, f"is {answer.choice}: give 1, 2 or 3", field=f"answers[{number}].choice")
        seen.add(answer.item)
    return returned


def _read_sheet(path: Path, key: Key) -> Returned:
    """The column `answer` of a sheet; an empty cell is an item without an answer."""
    with open_for_reading(path) as file:
        # A spreadsheet may save in a code page of its own; the columns that are read here are ASCII in all of them.
        content = file.read().decode("utf-8-sig", errors="replace")
    head = content.split("\n", 1)[0]
    table = csv.DictReader(io.StringIO(content, newline=""), delimiter=max(DELIMITERS, key=head.count), strict=True)
    answers: dict[int, Answer] = {}
    try:
        _check_columns(path, table.fieldnames or ())
        for row in table:
            answer = _sheet_answer(path, table.line_num, row, key)
            if answer is None:
                continue
            if answer.item in answers:
                raise InputError(path, f"item {answer.item} is answered twice", line=table.line_num, field="item")
            answers[answer.item] = answer
    except csv.Error as error:
        raise InputError(path, f"is no CSV ({error})", line=table.line_num) from None
    return Returned(key.sample, path.stem, tuple(answers.values()))


def _check_columns(path: Path, found: Iterable[str]) -> None:
    for column in COLUMNS:
        if column not in found:
            raise InputError(path, "no such column: save the sheet as CSV (UTF-8), first row and all", field=column)


def _sheet_answer(path: Path, line: int, row: Mapping[str, str | None], key: Key) -> Answer | None:
    sample, item, answer = ((row[column] or "").strip() for column in COLUMNS)
    if not (sample or item or answer):
        return None
    _check_sample(path, sample, key, line)
    if not (item.isascii() and item.isdigit() and 1 <= int(item) <= len(key.items)):
        raise InputError(path, f"the sample has no item {item!r}", line=line, field="item")
    if not answer:
        return None
    if answer not in map(str, CHOICES):
        raise InputError(path, f"is {answer!r}: give 1, 2 or 3, or leave it empty", line=line, field="answer")
    return Answer(int(item), int(answer))


def _check_sample(path: Path, sample: str, key: Key, line: int | None = None) -> None:
    if sample != key.sample:
        raise InputError(
            path,
            f"answers the sample {sample!r}, and the key is that of {key.sample!r}; --sample names the right one",
            line=line,
            field="sample",
        )


def _renamed(returned: Returned, taken: Iterable[str]) -> Returned:
    """The same answers under a name that nobody else has."""
    known, name, number = set(taken), returned.annotator, 2
    while name in known:
        name, number = f"{returned.annotator} #{number}", number + 1
    return Returned(returned.sample, name, returned.answers)
