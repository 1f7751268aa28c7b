"""Reads the answers of annotators: the form's JSON, or the completed sheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from shadowprobe.base.files import open_for_reading
from shadowprobe.base.jsonl import NonBlank, read_json
from shadowprobe.errors import InputError, UsageError, shorten
from shadowprobe.human_study.wording import WORDINGS

if TYPE_CHECKING:
    from shadowprobe.human_study.answer_keys import StoredKey

SCHEMA = 1
COLUMNS = ("sample", "item", "answer")
# The column for what an annotator marks in the chosen document.
SPAN = "span"
# The separators of spreadsheets, which depend on the country setting.
DELIMITERS = ",;\t"


class ItemChoice(Struct, frozen=True, omit_defaults=True):
    """The number that an annotator chose for an item, and the answer that is marked in the document of that number.

    `start` and `end` count characters from 0, and the end is not part of it; an empty `text` says that there is none.
    """

    item: int
    choice: int
    start: int | None = None
    end: int | None = None
    text: str | None = None


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

    @property
    def spans(self) -> dict[int, str]:
        """What is marked by item; nothing for an item without a mark."""
        return {answer.item: answer.text for answer in self.answers if answer.text}


def read_annotations(paths: Sequence[Path], key: StoredKey) -> list[Annotations]:
    """Reads the answers of each annotator and checks them with the key; gives each annotator a unique name."""
    repeated = [path for place, path in enumerate(paths) if path.resolve() in {one.resolve() for one in paths[:place]}]
    if repeated:
        raise UsageError(f"{repeated[0]} is given twice: agreement needs the files of different annotators")
    annotations: list[Annotations] = []
    for path in paths:
        read_file = _read_sheet if path.suffix.lower() in {".csv", ".tsv"} else _read_form
        annotations.append(_make_unique(read_file(path, key), [other.annotator for other in annotations]))
    return annotations


def _read_form(path: Path, key: StoredKey) -> Annotations:
    annotations = read_json(path, Annotations, schema=SCHEMA)
    _check_sample(path, annotations.sample, key)
    seen: set[int] = set()
    for number, answer in enumerate(annotations.answers):
        if not 1 <= answer.item <= len(key.items):
            raise InputError(path, f"the sample has no item {answer.item}", field=f"answers[{number}].item")
        if answer.item in seen:
            raise InputError(path, f"item {answer.item} is answered twice", field=f"answers[{number}].item")
        if not 1 <= answer.choice <= key.choices:
            wanted = _list_choices(key)
            raise InputError(path, f"is {answer.choice}: give {wanted}", field=f"answers[{number}].choice")
        if problem := _find_span_problem(answer, key):
            raise InputError(path, problem, field=f"answers[{number}].text")
        seen.add(answer.item)
    return annotations


def _list_choices(key: StoredKey) -> str:
    """`1, 2 or 3`."""
    numbers = [str(number) for number in range(1, key.choices + 1)]
    return f"{', '.join(numbers[:-1])} or {numbers[-1]}"


def _find_span_problem(answer: ItemChoice, key: StoredKey) -> str:
    """What is wrong with a marked answer; empty if nothing is."""
    shown = key.text_of(answer.item, answer.choice)
    if shown is None or (not answer.text and answer.start == answer.end):
        return ""
    start, end = answer.start, answer.end
    if start is None or end is None or not 0 <= start < end or shown[start:end] != answer.text:
        return f"is not what document {answer.choice} of item {answer.item} has from {start} to {end}"
    return ""


def _read_sheet(path: Path, key: StoredKey) -> Annotations:
    """Reads the columns `answer` and `span` of a sheet; without an `answer` an item is not answered."""
    with open_for_reading(path) as file:
        # A spreadsheet may use its own code page. Numbers are ASCII, and a marked answer that is damaged is not found.
        content = file.read().decode("utf-8-sig", errors="replace")
    head = content.split("\n", 1)[0]
    table = csv.DictReader(io.StringIO(content, newline=""), delimiter=max(DELIMITERS, key=head.count), strict=True)
    answers: dict[int, ItemChoice] = {}
    try:
        _check_columns(path, table.fieldnames or (), _list_columns(key))
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


def _list_columns(key: StoredKey) -> tuple[str, ...]:
    """The columns that are read."""
    return (*COLUMNS, SPAN) if WORDINGS[key.study].is_marked else COLUMNS


def _check_columns(path: Path, columns: Iterable[str], wanted: Iterable[str]) -> None:
    for column in wanted:
        if column not in columns:
            raise InputError(path, "no such column: save the sheet as CSV (UTF-8) with its first row", field=column)


def _read_row(path: Path, line: int, row: Mapping[str, str | None], key: StoredKey) -> ItemChoice | None:
    sample, item, answer, span = ((row.get(column) or "").strip() for column in (*COLUMNS, SPAN))
    if not (sample or item or answer):
        return None
    _check_sample(path, sample, key, line)
    # A number of thousands of digits is not even converted.
    digits = item.lstrip("0")
    is_number = item.isascii() and digits.isdigit() and len(digits) <= len(str(len(key.items)))
    if not (is_number and int(digits) <= len(key.items)):
        raise InputError(path, f"the sample has no item {shorten(item, 40)!r}", line=line, field="item")
    if not answer:
        if span and SPAN in _list_columns(key):
            raise InputError(
                path, "is empty, but `span` is not: give the number of the document", line=line, field="answer"
            )
        return None
    if answer not in map(str, range(1, key.choices + 1)):
        wanted = _list_choices(key)
        raise InputError(path, f"is {answer!r}: give {wanted}, or leave it empty", line=line, field="answer")
    return _find_span(path, line, ItemChoice(int(digits), int(answer)), span, key)


def _find_span(path: Path, line: int, answer: ItemChoice, span: str, key: StoredKey) -> ItemChoice:
    """Finds what was copied from a document in it; of several places the first counts."""
    shown = key.text_of(answer.item, answer.choice)
    if shown is None or not span:
        return answer
    # A spreadsheet may change line breaks and spaces.
    found = re.search(r"\s+".join(map(re.escape, span.split())), shown)
    if found is None:
        problem = f"{shorten(span, 40)!r} does not stand in document {answer.choice}: copy it from there (CSV in UTF-8)"
        raise InputError(path, problem, line=line, field=SPAN)
    return ItemChoice(answer.item, answer.choice, *found.span(), found[0])


def _check_sample(path: Path, sample: str, key: StoredKey, line: int | None = None) -> None:
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
