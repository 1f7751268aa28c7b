"""A predictions file: JSON lines, or a table as CSV (`.csv`) or TSV (`.tsv`); errors name the line and the column."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from shadowprobe.base.files import read_text_lines
from shadowprobe.base.jsonl import read_lines
from shadowprobe.base.model import Candidate, Prediction, Status
from shadowprobe.errors import InputError, nearest

# The separators of tables by the suffix of the file.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
COLUMNS = ("id", "answer", "page_id", "qid", "status", "score", "candidates", "candidate_scores")
# Between candidates. No title of Wikipedia contains it.
BETWEEN = "|"
LONGEST_PAGE_ID = 18


def is_table(path: Path) -> bool:
    """True if the file is read as a table, and not as JSON lines."""
    return path.suffix.lower() in SEPARATORS


def read_predictions(path: Path) -> Iterator[tuple[int, Prediction]]:
    """Yields line number and prediction."""
    return _read_table(path) if is_table(path) else read_lines(path, Prediction)


def _read_table(path: Path) -> Iterator[tuple[int, Prediction]]:
    separator = SEPARATORS[path.suffix.lower()]
    # Lines keep their ends, because a quoted cell may contain one.
    rows = csv.reader((f"{line}\n" for _, line in read_text_lines(path)), delimiter=separator, strict=True)
    header: list[str] = []
    first = 1
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise InputError(path, f"is not a valid table ({error})", line=max(rows.line_num, first)) from None
        if cells is None:
            break
        # A row with line breaks in its cells is named by its first line.
        line, first = first, rows.line_num + 1
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = _check_header(path, line, cells)
        elif len(cells) != len(header):
            problem = f"has {len(cells)} cells, and the first line names {len(header)} columns"
            raise InputError(path, problem, line=line)
        else:
            row = {name: cell.strip() for name, cell in zip(header, cells, strict=True) if cell.strip()}
            yield line, _make_prediction(path, line, row)
    if not header:
        raise InputError(path, "is empty: expected a first line with the names of the columns", line=1)


def _check_header(path: Path, line: int, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    if "id" not in header:
        word = {",": "commas", "\t": "tabs"}[SEPARATORS[path.suffix.lower()]]
        hint = nearest("id", [name for name in header if name])
        problem = f"expected a column `id`{hint}: the first line names the columns, separated by {word}"
        raise InputError(path, problem, line=line)
    if twice := next((name for name in header if name and header.count(name) > 1), None):
        raise InputError(path, "stands twice in the first line", line=line, field=twice)
    return header


def _make_prediction(path: Path, line: int, row: dict[str, str]) -> Prediction:
    def convert(column: str, text: str, kind: Callable[[str], Any], what: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not math.isfinite(value):
            raise InputError(path, f"expected {what}, got {text!r}", line=line, field=column)
        return value

    if "id" not in row:
        raise InputError(path, "is empty", line=line, field="id")
    statuses: dict[str, Status] = {status: status for status in get_args(Status)}
    status = statuses.get(row.get("status", "linked"))
    if status is None:
        raise InputError(path, f"{row['status']!r} is not one of {', '.join(statuses)}", line=line, field="status")
    titles = _split(row.get("candidates"))
    scores = [
        convert("candidate_scores", text, float, "numbers") if text else None
        for text in _split(row.get("candidate_scores"))
    ]
    if scores and len(scores) != len(titles):
        problem = f"has {len(scores)} numbers for {len(titles)} candidates"
        raise InputError(path, problem, line=line, field="candidate_scores")
    candidates = zip(titles, scores or [None] * len(titles), strict=True)
    return Prediction(
        row["id"],
        status=status,
        answer=row.get("answer"),
        page_id=convert("page_id", row["page_id"], _parse_page_id, "a whole number") if "page_id" in row else None,
        qid=row.get("qid"),
        score=convert("score", row["score"], float, "a number") if "score" in row else None,
        candidates=tuple(Candidate(title, score=score) for title, score in candidates),
    )


def _parse_page_id(text: str) -> int:
    """Reads a page id; a longer one than any page has could not be written as JSON."""
    if len(text) > LONGEST_PAGE_ID:
        raise ValueError
    return int(text)


def _split(cell: str | None) -> list[str]:
    return [part.strip() for part in cell.split(BETWEEN)] if cell else []
