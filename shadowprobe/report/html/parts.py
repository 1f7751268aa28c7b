"""What every report is made of: the page around it, names, tables and figures."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from shadowprobe.dataset import make_directory
from shadowprobe.errors import ShadowprobeError, UsageError
from shadowprobe.jsonl import write_atomically

if TYPE_CHECKING:
    from shadowprobe.figures import AnyRun

REPORT = "report.html"
Rows = list[tuple[str, list[str]]]
# A caption, the headings and the rows of a table.
Table = tuple[str, list[str], Rows]
# What a data address inside of double quotes may hold as it is.
UNQUOTED = " !$'()*+,-./:;=?@_~"
_PATH = re.compile(r'(?<= d=")[^"]*')
_NUMBER = re.compile(r"-?[0-9]+[.][0-9]+")


def write_page(runs: Sequence[Path], made: Callable[[], str], out: Path | None = None, *, force: bool = False) -> Path:
    """Writes the page of some runs, and returns where: in the run, or here where there are several."""
    path = out or (runs[0] / REPORT if len(runs) == 1 else Path(REPORT))
    if path.is_dir():
        raise UsageError(f"{path} is a directory; --out names a file")
    if path.exists() and not force:
        raise UsageError(f"{path} exists; give another --out, or --force to write over it")
    content = made().encode()
    make_directory(path.parent)
    write_atomically(path, content)
    return path


def assembled(
    parts: Mapping[str, str], data: Any, scripts: Sequence[str], styles: Sequence[str] = ("report.css",)
) -> str:
    """The whole file: its parts as markup, the data, and the files that become its one script and its one style."""
    style, script = ("".join(map(_file, names)) for names in (styles, scripts))
    frame = {
        "policy": f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        # Nothing inside of a script element is markup but what could end it.
        "data": msgspec.json.encode(data).decode().replace("<", "\\u003c"),
    }
    return Template(_file("report.html")).substitute(parts, **frame)


def browser(name: str, title: str, fields: Mapping[str, str], find: str) -> str:
    """The section of a browser: what it is called, its lists of choices by name, and what its search looks in."""
    choices = "".join(f'<label>{label} <select id="{field}"></select></label>\n' for field, label in fields.items())
    words = {"name": name, "title": title, "lower": title.lower(), "choices": choices, "find": find}
    return Template(_file("browser.html")).substitute(words)


def skip_to(name: str) -> str:
    """The link over everything that stands before a section, for those who go by keyboard."""
    return f'<a class="skip" href="#{name}">To the {name}</a>'


def no_browser(name: str, title: str, reason: str) -> str:
    """The section of a browser that there is not, with the reason."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title" tabindex="-1">\n<h2 id="{name}-title">{title}</h2>\n'
        f'<p id="left-out">They are not shown: {isolated(reason)}.</p>\n</section>'
    )


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """What the page's policy calls the one script, or the one style, that it allows."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def isolated(name: str) -> str:
    """A name whose marks of direction turn nothing but itself: numbers after it would read backwards."""
    return f"<bdi>{escape(name)}</bdi>"


def system(label: str, words: Sequence[str]) -> str:
    """What was run, and what a careful reader must know besides."""
    items = "".join(f"<li>{isolated(word)}</li>" for word in words)
    return f"<section><h3>{isolated(label)}</h3><ul>{items}</ul></section>"


def table(name: str, content: Table, first: str = "system", mark: str | None = None) -> str:
    """A table of which the first column is `first`; rows whose label ends with a mark are others' and stand back."""
    caption, heads, rows = content
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in (first, *heads))
    body = "".join(
        f'<tr{_back(label, mark)}><th scope="row">{isolated(label)}</th>'
        f"<td>{'</td><td>'.join(map(escape, cells))}</td></tr>"
        for label, cells in rows
    )
    # A wide table scrolls by itself, by keyboard too, and not the page; what it is about stays where it is.
    return (
        f'<p class="quiet" id="about-{name}">{escape(caption.strip())}</p>'
        f'<div class="wide" tabindex="0" role="region" aria-labelledby="about-{name}">'
        f'<table id="table-{name}" aria-labelledby="about-{name}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _back(label: str, mark: str | None) -> str:
    return ' class="back"' if mark is not None and label.endswith(mark) else ""


def figures(captions: Mapping[str, str], runs: Sequence[AnyRun]) -> Iterator[str]:
    """The figures that can be drawn of these runs; one that cannot be is left out."""
    for name, caption in captions.items():
        try:
            drawn = _svg(name, runs)
        except (ImportError, ShadowprobeError):
            continue
        # As an image and not as markup: its names cannot meet those of the page, and no script in it would run.
        source = f"data:image/svg+xml,{quote(drawn, safe=UNQUOTED)}"
        yield (
            f'<figure><img id="figure-{name}" alt="{escape(caption)}; the tables have the numbers" src="{source}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )


def _svg(name: str, runs: Sequence[AnyRun]) -> str:
    """A figure without the digits that nobody sees: a hatched bar has tens of thousands of them."""
    from shadowprobe.figures import plot, save

    with TemporaryDirectory() as directory:
        path = Path(directory) / f"{name}.svg"
        save(plot(name, runs), path)
        content = path.read_text(encoding="utf-8")
    return _PATH.sub(lambda path: _NUMBER.sub(_rounded, " ".join(path[0].split())), content)


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".rstrip("0").rstrip(".")
