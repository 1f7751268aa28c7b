"""AIDA-CoNLL's tab-separated tokens: AIDA-YAGO2-dataset.tsv, and what is written like it.

Hoffart et al., 2011. `-DOCSTART- (ID)` begins a document and a blank line ends a sentence; a token of a mention has B
or I, the whole mention, its YAGO2 entity or `--NME--`, and then perhaps its Wikipedia URL, its page id (0 is none) and
a Freebase id. The text is made of the tokens, with spaces between them and newlines between sentences.

Written out, a text is cut at its white space and at the edges of its mentions, so its white space changes where it is
not already so; a newline ends a sentence, unless it stands inside a mention. In gold, `--NME--` is a mention without an
entity; in predictions it is NIL, a mention without an answer is not marked at all, and a score is an eighth column of
ours. Candidates and, beside a title, QIDs are lost.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.documents import Document, Mention, edition, named, page_id_of, reference
from shadowprobe.identity import is_nil, unescape_yago, wikidata_uri, wikipedia_uri, yago_id
from shadowprobe.jsonl import open_for_reading

SUFFIX = ".tsv"
TITLE = "AIDA-CoNLL"
SOURCE = (
    "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/downloads"
)
NIL = "--NME--"
NO_PAGE_ID = "000"
_START = re.compile(r"-DOCSTART-(?: \((?P<name>.*)\))?")
_WHITE_SPACE = re.compile(r"(\s+)")
_PAGE_ID = re.compile(r"[0-9]{0,18}")
_SCORE = re.compile(r"-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?|")


def documents(path: Path) -> Iterator[Document]:
    """The documents of a file with their gold entities."""
    return _documents(path, {})


def answer_documents(path: Path) -> Iterator[Document]:
    """The documents of a file of predictions."""
    return _documents(path, {"nil": True})


class _Reading:
    """A document of which the tokens come one by one."""

    def __init__(self, name: str) -> None:
        self.name, self.text = name, ""
        self.mentions: list[Mention] = []
        self._between = ""
        self._start: int | None = None
        self._fields: dict[str, Any] = {}

    def add(self, token: str, begins: dict[str, Any] | None = None, *, goes_on: bool = False) -> None:
        """Takes a token: of no mention, or the first of one, or a further one."""
        if not goes_on:
            self._end_mention()
        self.text += self._between
        if begins is not None and self._start is None:
            self._start, self._fields = len(self.text), begins
        self.text += token
        self._between = " "

    def end_sentence(self) -> None:
        """Takes a blank line; no mention goes beyond it."""
        self._end_mention()
        self._between = "\n" if self.text else ""

    def document(self) -> Document:
        """All that came."""
        self._end_mention()
        return Document(self.name, self.text, tuple(self.mentions))

    def _end_mention(self) -> None:
        if self._start is not None:
            self.mentions.append(Mention(self._start, len(self.text), **self._fields))
        self._start = None


def _documents(path: Path, nil: dict[str, Any]) -> Iterator[Document]:
    reading = None
    for number, line in _lines(path):
        columns = [column.strip() for column in line.split("\t")]
        if start := _START.fullmatch(columns[0]):
            if reading is not None:
                yield reading.document()
            reading = _Reading(start["name"] or f"line-{number}")
        elif reading is None:
            if line.strip():
                raise InputError(path, "expected -DOCSTART- (ID) before the first token", line=number)
        elif not line.strip():
            reading.end_sentence()
        else:
            _add(path, number, reading, columns, nil)
    if reading is not None:
        yield reading.document()


def _add(path: Path, number: int, reading: _Reading, columns: list[str], nil: dict[str, Any]) -> None:
    token, tag = columns[0], columns[1] if len(columns) > 1 else "O"
    if not token:
        raise InputError(path, "is empty", line=number, field="token")
    if tag not in {"B", "I", "O"}:
        raise InputError(path, f"expected B or I, got {tag!r}", line=number, field="B/I")
    if tag == "O":
        reading.add(token)
        return
    if len(columns) < 4:
        raise InputError(path, f"expected 4 to 7 columns in a mention, got {len(columns)}", line=number)
    entity, url, page_id, _, score = (*columns[3:8], "", "", "", "")[:5]
    for field, said, shape, what in (
        ("page id", page_id, _PAGE_ID, "a number of at most 18 digits"),
        ("score", score, _SCORE, "a number"),
    ):
        if not shape.fullmatch(said):
            raise InputError(path, f"expected {what}, got {said!r}", line=number, field=field)
    if tag == "B" and entity == "null":
        # Where a mention was cut in two, its second half has no entity of its own.
        reading.add(token, goes_on=True)
        return
    fields = _fields(entity, url, page_id, nil)
    reading.add(token, {**fields, "score": float(score)} if score else fields, goes_on=tag == "I")


def _fields(entity: str, url: str, page_id: str, nil: dict[str, Any]) -> dict[str, Any]:
    if is_nil(entity):
        return nil
    said = unescape_yago(entity) or url
    fields = {**edition(url), **named(said)} if said else {}
    known = page_id_of(page_id)
    return fields if known is None else {**fields, "page_id": known}


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    with open_for_reading(path) as file:
        for number, raw in enumerate(file, start=1):
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                problem = f"is not UTF-8 (byte {error.start}: {error.reason})"
                raise InputError(path, problem, line=number) from None


def lines(found: Iterable[Document]) -> Iterator[str]:
    """Documents as tokens; a mention without an entity is `--NME--`."""
    return _tokens(found, lambda mention: True)


def answer_lines(found: Iterable[Document]) -> Iterator[str]:
    """The same for predictions."""
    return _tokens(found, lambda mention: mention.has_entity or mention.nil)


def _tokens(found: Iterable[Document], is_marked: Callable[[Mention], bool]) -> Iterator[str]:
    for document in found:
        name = " ".join(document.id.split())
        yield f"-DOCSTART- ({name})\n"
        place = 0
        for mention in _apart(document, [mention for mention in document.mentions if is_marked(mention)]):
            yield from _outside(document.text[place : mention.start])
            yield from _inside(document, mention)
            place = mention.end
        yield from _outside(document.text[place:])
        yield "\n"


def _apart(document: Document, mentions: list[Mention]) -> list[Mention]:
    """The mentions in the order of the text; one that stands twice comes once, and two that overlap are refused."""
    ordered = sorted(set(mentions), key=lambda mention: (mention.start, mention.end))
    for before, after in itertools.pairwise(ordered):
        if after.start < before.end:
            words = document.text[after.start : after.end]
            raise UsageError(
                f"{document.id}: {words!r} overlaps another mention, and in aida-conll a token has one: choose nif"
            )
    return ordered


def _outside(text: str) -> Iterator[str]:
    for part in _WHITE_SPACE.split(text):
        if part.strip():
            yield f"{part}\n"
        elif "\n" in part:
            yield "\n"


def _inside(document: Document, mention: Mention) -> Iterator[str]:
    tokens = document.text[mention.start : mention.end].split()
    columns = [" ".join(tokens), NIL]
    if mention.has_entity:
        name = " ".join(reference(mention.title, mention.page_id, mention.qid).split())
        columns[1:] = [yago_id(name).removeprefix("YAGO:"), _url(mention, document.language)]
        columns.append(str(mention.page_id) if mention.page_id is not None else NO_PAGE_ID)
    if mention.score is not None and math.isfinite(mention.score):
        columns += [*[""] * (5 - len(columns)), str(float(mention.score))]
    for number, token in enumerate(tokens):
        yield "\t".join([token, "I" if number else "B", *columns]) + "\n"


def _url(mention: Mention, language: str) -> str:
    if mention.title is not None:
        return wikipedia_uri(" ".join(mention.title.split()), language)
    if mention.qid is not None:
        return wikidata_uri(mention.qid)
    return f"https://{language}.wikipedia.org/?curid={mention.page_id}"
