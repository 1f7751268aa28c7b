"""Reads the answers of annotators: the form's JSON, or the completed sheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from shadowprobe.base.files import open_for_reading
from shadowprobe.base.jsonl import NonBlank, read_json
from shadowprobe.errors import InputError, UsageError, shorten
from shadowprobe.human_study.sample import AnswerKey

SCHEMA = 1
CHOICES = (1, 2, 3)
COLUMNS = ("sample", "item", "answer")
# The separators of spreadsheets, which depend on the country setting.
DELIMITERS = ",;\t"


class ItemChoice(Struct, frozen=True):
    """The number that an annotator chose for an item: 1 or 2 for an entity, 3 for a context that is not sufficient."""

    item: int
    choice: int


class Annotations(Struct, frozen=True):
    """The answers of one annotator."""

    sample: str
    annotator: NonBlank
    answers: tuple[ItemChoice, ...]
    schema: int = SCHEMA

    @property
    def choices(self) -> dict[int, int]:
        """The choices by item."""
        return {answer.item: answer.choice for answer in self.answers}


def read_annotations(paths: Sequence[Path], key: AnswerKey) -> list[Annotations]:
    """Reads the answers of each annotator and checks them with the key; gives each annotator a unique name."""
    repeated = [path for place, path in enumerate(paths) if path.resolve() in {one.resolve() for one in paths[:place]}]
    if repeated:
        raise UsageError(f"{repeated[0]} is given twice: agreement needs the files of different annotators")
    annotations: list[Annotations] = []
    for path in paths:
        read_file = _read_sheet if path.suffix.lower() in {".csv", ".tsv"} else _read_form
        annotations.append(_make_unique(read_file(path, key), [other.annotator for other in annotations]))
    return annotations


def _read_form(path: Path, key: AnswerKey) -> Annotations:
    annotations = read_json(path, Annotations, schema=SCHEMA)
    _check_sample(path, annotations.sample, key)
    seen: set[int] = set()
    for number, answer in enumerate(annotations.answers):
        if not 1 <= answer.item <= len(key.items):
            raise InputError(path, f"the sample has no item {answer.item}", field=f"answers[{number}].item")
        if answer.item in seen:
            raise InputError(path, f"item {answer.item} is answered twice", field=f"answers[{number}].item")
        if answer.choice not in CHOICES:
            raise InputError(path, f"is {answer.choice}: give 1, 2 or 3", field=f"answers[{number}].choice")
        seen.add(answer.item)
    return annotations


def _read_sheet(path: Path, key: AnswerKey) -> Annotations:
    """Reads the column `answer` of a sheet; an empty cell is an item without an answer."""
    with open_for_reading(path) as file:
        # A spreadsheet may use its own code page, but the columns that are read here are ASCII.
        content = file.read().decode("utf-8-sig", errors="replace")
    head = content.split("\n", 1)[0]
    table = csv.DictReader(io.StringIO(content, newline=""), delimiter=max(DELIMITERS, key=head.count), strict=True)
    answers: dict[int, ItemChoice] = {}
    try:
        _check_columns(path, table.fieldnames or ())
        for row in table:
            answer = _read_row(path, table.line_num, row, key)
            if answer is None:
                continue
            if answer.item in answers:
                raise InputError(path, f"item {answer.item} is answered twice", line=table.line_num, field="item")
            answers[answer.item] = answer
    except csv.Error as error:
        raise InputError(path, f"is not CSV ({error})", line=table.line_num) from None
    return Annotations(key.sample, path.stem, tuple(answers.values()))


def _check_columns(path: Path, columns: Iterable[str]) -> None:
    for column in COLUMNS:
        if column not in columns:
            raise InputError(path, "no such column: save the sheet as CSV (UTF-8) with its first row", field=column)


def _read_row(path: Path, line: int, row: Mapping[str, str | None], key: AnswerKey) -> ItemChoice | None:
    sample, item, answer = ((row[column] or "").strip() for column in COLUMNS)
    if not (sample or item or answer):
        return None
    _check_sample(path, sample, key, line)
    # A number of thousands of digits is not even converted.
    digits = item.lstrip("0")
    is_number = item.isascii() and digits.isdigit() and len(digits) <= len(str(len(key.items)))
    if not (is_number and int(digits) <= len(key.items)):
        raise InputError(path, f"the sample has no item {shorten(item, 40)!r}", line=line, field="item")
    if not answer:
        return None
    if answer not in map(str, CHOICES):
        raise InputError(path, f"is {answer!r}: give 1, 2 or 3, or leave it empty", line=line, field="answer")
    return ItemChoice(int(digits), int(answer))


def _check_sample(path: Path, sample: str, key: AnswerKey, line: int | None = None) -> None:
    if sample != key.sample:
        raise InputError(
            path,
            f"answers the sample {sample!r}, but the key belongs to {key.sample!r}: give its sample with --sample",
            line=line,
            field="sample",
        )


def _make_unique(annotations: Annotations, names: Iterable[str]) -> Annotations:
    """Adds a number to the annotator's name if another annotator has the same name."""
    used, name, number = set(names), annotations.annotator, 2
    while name in used:
        name, number = f"{annotations.annotator} #{number}", number + 1
    return Annotations(annotations.sample, name, annotations.answers)
