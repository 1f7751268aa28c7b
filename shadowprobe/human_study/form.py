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

from shadowprobe.annotate.sample import KEY, Choice, Question, Sample
from shadowprobe.dataset import make_directory
from shadowprobe.errors import UsageError
from shadowprobe.jsonl import encode_json, write_atomically

FORM, SHEET = "form.html", "sample.csv"
NOT_SUFFICIENT = "The context is not sufficient to decide"
COLUMNS = ("sample", "item", "text", "1", "2", "3", "answer")
# With one of these at its head a cell is a formula, and a spreadsheet would run what a snippet says.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_sample(sample: Sample, path: Path, *, force: bool = False) -> list[Path]:
    """Writes the form, the sheet and the key, key last; refuses to write over any without `force`."""
    contents = {FORM: render_form(sample), SHEET: render_sheet(sample), KEY: encode_json(sample.key)}
    held = [name for name in contents if (path / name).exists()]
    if held and not force:
        raise UsageError(f"{path} holds {held[0]} already; --force writes over it")
    make_directory(path)
    for name, content in contents.items():
        write_atomically(path / name, content)
    return [path / name for name in contents]


def render_form(sample: Sample) -> bytes:
    """The form as one page that needs no network and holds no answers."""
    style, script = _part("form.css"), _part("form.js")
    page = Template(_part("form.html")).substitute(
        title=html.escape(sample.key.name),
        policy=f"default-src 'none'; style-src {_allowed(style)}; script-src {_allowed(script)}",
        style=style,
        script=script,
        study=_embedded(sample),
    )
    return page.encode()


def render_sheet(sample: Sample) -> bytes:
    """The questions as CSV, with an empty column for the answers 1, 2 and 3."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in _rows(sample):
        writer.writerow([_guarded(cell) for cell in row])
    # With a byte order mark, or Excel reads the umlauts in another code page.
    return file.getvalue().encode("utf-8-sig")


def _part(name: str) -> str:
    return (resources.files("shadowprobe.annotate") / "page" / name).read_text(encoding="utf-8")


def _allowed(source: str) -> str:
    """The one inline style or script that the browser may use, by its digest."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _embedded(sample: Sample) -> str:
    """The questions as JSON that can stand inside a script element, whatever the snippets say."""
    study = {
        "sample": sample.key.sample,
        "name": sample.key.name,
        "language": sample.language,
        "not_sufficient": NOT_SUFFICIENT,
        "items": sample.questions,
    }
    return msgspec.json.encode(study).decode().replace("<", "\\u003c")


def _rows(sample: Sample) -> Iterator[Iterable[str]]:
    for question in sample.questions:
        first, second = map(_words, question.choices)
        yield (sample.key.sample, str(question.item), _marked(question), first, second, NOT_SUFFICIENT, "")


def _marked(question: Question) -> str:
    """The text with its mention in brackets: the name may stand in it twice."""
    return f"{question.before}[[{question.mention}]]{question.after}"


def _words(choice: Choice) -> str:
    return f"{choice.title}: {choice.description}" if choice.description else choice.title


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell
