"""The questions as files for annotators: a web page, and a sheet for spreadsheets."""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from string import Template

import msgspec

from shadowprobe.base.files import make_directory, write_atomically
from shadowprobe.base.jsonl import encode_json
from shadowprobe.base.printable import escape_formula
from shadowprobe.errors import UsageError
from shadowprobe.human_study.sample import KEY, EntityChoice, Sample

FORM, SHEET = "form.html", "sample.csv"
NOT_SUFFICIENT = "The context is not sufficient to decide"
COLUMNS = ("sample", "item", "text", "1", "2", "3", "answer")


def write_sample(sample: Sample, path: Path, *, force: bool = False) -> list[Path]:
    """Writes the form, the sheet and then the key; overwrites existing ones only with `force`."""
    contents = {FORM: render_form(sample), SHEET: render_sheet(sample), KEY: encode_json(sample.key)}
    existing = [name for name in contents if (path / name).exists()]
    if existing and not force:
        raise UsageError(f"{path} holds {existing[0]} already; --force writes over it")
    make_directory(path)
    for name, content in contents.items():
        write_atomically(path / name, content)
    return [path / name for name in contents]


def render_form(sample: Sample) -> bytes:
    """Renders the form as one page that needs no network and does not contain the answers."""
    style, script = _read_part("form.css"), _read_part("form.js")
    page = Template(_read_part("form.html")).substitute(
        title=html.escape(sample.key.name),
        policy=f"default-src 'none'; style-src {_hash_source(style)}; script-src {_hash_source(script)}",
        style=style,
        script=script,
        study=_encode_questions(sample),
    )
    return page.encode()


def render_sheet(sample: Sample) -> bytes:
    """Renders the questions as CSV, with an empty column for the answers 1, 2 and 3."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in _make_rows(sample):
        writer.writerow([escape_formula(cell) for cell in row])
    # Without a byte order mark, Excel reads umlauts in another code page.
    return file.getvalue().encode("utf-8-sig")


def _read_part(name: str) -> str:
    return (resources.files("shadowprobe.human_study") / "page" / name).read_text(encoding="utf-8")


def _hash_source(source: str) -> str:
    """Returns the digest of the only inline style or script that the browser may use."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _encode_questions(sample: Sample) -> str:
    """Encodes the questions as JSON that is safe inside a script element, for any text of the snippets."""
    study = {
        "sample": sample.key.sample,
        "name": sample.key.name,
        "language": sample.language,
        "not_sufficient": NOT_SUFFICIENT,
        "items": sample.questions,
    }
    return msgspec.json.encode(study).decode().replace("<", "\\u003c")


def _make_rows(sample: Sample) -> Iterator[Iterable[str]]:
    for question in sample.questions:
        # The mention is in brackets, because the name may occur twice.
        text = f"{question.before}[[{question.mention}]]{question.after}"
        choices = map(_format_choice, question.choices)
        yield (sample.key.sample, str(question.item), text, *choices, NOT_SUFFICIENT, "")


def _format_choice(choice: EntityChoice) -> str:
    return f"{choice.title}: {choice.description}" if choice.description else choice.title
