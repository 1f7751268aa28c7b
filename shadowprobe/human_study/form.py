"""The questions as files for annotators: a web page, and a sheet for spreadsheets."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import msgspec

from shadowprobe.base.files import make_directory, write_atomically
from shadowprobe.base.jsonl import encode_json
from shadowprobe.base.printable import escape_formula
from shadowprobe.errors import UsageError
from shadowprobe.human_study.annotations import SPAN
from shadowprobe.human_study.sample import KEY, Choice, FormQuestion, Sample, ShownDocument
from shadowprobe.human_study.wording import WORDINGS

if TYPE_CHECKING:
    from shadowprobe.human_study.answer_keys import StoredKey

FORM, SHEET = "form.html", "sample.csv"
# A spreadsheet allows 32,767 characters in a cell.
LONGEST_CELL = 32_000


def write_sample(sample: Sample[StoredKey], path: Path, *, force: bool = False) -> list[Path]:
    """Writes the form, the sheet and then the key; overwrites existing ones only with `force`."""
    contents = {FORM: render_form(sample), SHEET: render_sheet(sample), KEY: encode_json(sample.key)}
    existing = [name for name in contents if (path / name).exists()]
    if existing and not force:
        raise UsageError(f"{path} holds {existing[0]} already; --force writes over it")
    make_directory(path)
    for name, content in contents.items():
        write_atomically(path / name, content)
    return [path / name for name in contents]


def render_form(sample: Sample[StoredKey]) -> bytes:
    """Renders the form as one page that needs no network and does not contain the answers."""
    style, script, wording = _read_part("form.css"), _read_part("form.js"), WORDINGS[sample.key.study]
    page = Template(_read_part("form.html")).substitute(
        title=html.escape(sample.key.name),
        policy=f"default-src 'none'; style-src {_hash_source(style)}; script-src {_hash_source(script)}",
        style=style,
        script=script,
        subject=wording.subject,
        welcome=_read_part(f"{sample.key.study}.html"),
        ask=wording.ask,
        study=_encode_questions(sample),
    )
    return page.encode()


def render_sheet(sample: Sample[StoredKey]) -> bytes:
    """Renders the questions as CSV, with empty columns for the answers."""
    file = io.StringIO()
    rows = [_make_row(sample, question) for question in sample.questions]
    writer = csv.DictWriter(file, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({column: escape_formula(_shorten_cell(cell)) for column, cell in row.items()})
    # Without a byte order mark, Excel reads umlauts in another code page.
    return file.getvalue().encode("utf-8-sig")


def _read_part(name: str) -> str:
    return (resources.files("shadowprobe.human_study") / "page" / name).read_text(encoding="utf-8")


def _hash_source(source: str) -> str:
    """Returns the digest of the only inline style or script that the browser may use."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _encode_questions(sample: Sample[StoredKey]) -> str:
    """Encodes the questions as JSON that is safe inside a script element, for any text of the data."""
    wording = WORDINGS[sample.key.study]
    study = {
        "sample": sample.key.sample,
        "name": sample.key.name,
        "language": sample.language,
        "noun": wording.noun,
        "is_marked": wording.is_marked,
        "always": wording.always,
        "items": sample.questions,
    }
    return msgspec.json.encode(study).decode().replace("<", "\\u003c")


def _make_row(sample: Sample[StoredKey], question: FormQuestion) -> dict[str, str]:
    wording = WORDINGS[sample.key.study]
    row = {"sample": sample.key.sample, "item": str(question.item), wording.column: _format_text(question)}
    if question.documents:
        row["documents"] = "\n".join(map(_format_document, question.documents))
    if question.output is not None:
        row["output"] = question.output
    choices = map(_format_choice, (*question.choices, *wording.always))
    row |= {str(number): choice for number, choice in enumerate(choices, start=1)}
    return {**row, "answer": "", **({SPAN: ""} if wording.is_marked else {})}


def _format_text(question: FormQuestion) -> str:
    # The mention is in brackets, because the name may occur twice.
    mention = f"[[{question.mention}]]" if question.mention else ""
    return f"{question.before}{mention}{question.after}"


def _format_choice(choice: Choice) -> str:
    return f"{choice.title}: {choice.description}" if choice.description else choice.title


def _format_document(document: ShownDocument) -> str:
    return f"{document.title} [{' / '.join(document.answers)}]: {document.text}"


def _shorten_cell(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}..."
