"""AIDA-CoNLL's tab-separated tokens: AIDA-YAGO2-dataset.tsv, and files of the same shape.

Hoffart et al., 2011. `-DOCSTART- (ID)` begins a document, and a blank line ends a sentence. A token of a mention has B
or I, the whole mention, and its YAGO2 entity or `--NME--`. Its Wikipedia URL, its page id (0 for none) and a Freebase
id may follow. The text is the tokens, with spaces between them and newlines between sentences.

A text is written as tokens: it is cut at its white space and at the edges of its mentions. Its white space may
therefore change. A newline ends a sentence, except inside a mention. In gold, `--NME--` is a mention without an
entity. In predictions it is NIL, and a mention without an answer is not marked. We add the score as an eighth column.
Candidates are lost, and so is the QID of an entity that has a title.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from shadowprobe.base.files import read_text_lines
from shadowprobe.base.identity import is_nil, unescape_yago, wikidata_uri, wikipedia_uri, yago_id
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.fields import parse_edition, parse_page_id, parse_reference

SUFFIX = ".tsv"
TITLE = "AIDA-CoNLL"
SOURCE = (
    "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/downloads"
)
LOST = frozenset({"space", "template", "qid"})
NIL = "--NME--"
NO_PAGE_ID = "000"
_START = re.compile(r"-DOCSTART-(?: \((?P<name>.*)\))?")
_WHITE_SPACE = re.compile(r"(\s+)")
_PAGE_ID = re.compile(r"[0-9]{0,18}")
_SCORE = re.compile(r"-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?|")


class _Token(NamedTuple):
    """A token; it begins a mention with these fields, or is part of the mention before it."""

    text: str
    fields: dict[str, Any] | None = None
    goes_on: bool = False


def read_documents(path: Path, *, predicted: bool = False) -> Iterator[AnnotatedDocument]:
    """Reads the documents of a file; `--NME--` is NIL in predictions, and no entity in gold."""
    name = None
    # None ends a sentence.
    tokens: list[_Token | None] = []
    for number, line in read_text_lines(path):
        columns = [column.strip() for column in line.split("\t")]
        if start := _START.fullmatch(columns[0]):
            if name is not None:
                yield _make_document(name, tokens)
            name, tokens = start["name"] or f"line-{number}", []
        elif not line.strip():
            tokens.append(None)
        elif name is None:
            raise InputError(path, "expected -DOCSTART- (ID) before the first token", line=number)
        else:
            tokens.append(_read_token(path, number, columns, predicted=predicted))
    if name is not None:
        yield _make_document(name, tokens)


def _make_document(name: str, tokens: Iterable[_Token | None]) -> AnnotatedDocument:
    text = between = ""
    mentions: list[Mention] = []
    is_open = False
    for token in tokens:
        if token is None:
            between, is_open = "\n" if text else "", False
            continue
        start = len(text) + len(between)
        text += between + token.text
        between = " "
        if is_open and token.goes_on:
            mentions[-1] = replace(mentions[-1], end=len(text))
        else:
            is_open = token.fields is not None
            mentions += [Mention(start, len(text), **token.fields)] if token.fields is not None else []
    return AnnotatedDocument(name, text, tuple(mentions))


def _read_token(path: Path, number: int, columns: list[str], *, predicted: bool) -> _Token:
    token, tag = columns[0], columns[1] if len(columns) > 1 else "O"
    if not token:
        raise InputError(path, "is empty", line=number, field="token")
    if tag not in {"B", "I", "O"}:
        raise InputError(path, f"expected B or I, got {tag!r}", line=number, field="B/I")
    if tag == "O":
        return _Token(token)
    if len(columns) < 4:
        raise InputError(path, f"expected 4 to 7 columns in a mention, got {len(columns)}", line=number)
    entity, url, page_id, _, score = (*columns[3:8], "", "", "", "")[:5]
    for field, value, pattern, expected in (
        ("page id", page_id, _PAGE_ID, "a number of at most 18 digits"),
        ("score", score, _SCORE, "a number"),
    ):
        if not pattern.fullmatch(value):
            raise InputError(path, f"expected {expected}, got {value!r}", line=number, field=field)
    if tag == "B" and entity == "null":
        # The second half of a mention that was cut in two has no entity of its own.
        return _Token(token, goes_on=True)
    fields = ({"nil": True} if predicted else {}) if is_nil(entity) else _parse_entity(entity, url, page_id)
    return _Token(token, {**fields, "score": float(score)} if score else fields, goes_on=tag == "I")


def _parse_entity(entity: str, url: str, page_id: str) -> dict[str, Any]:
    reference = unescape_yago(entity) or url
    fields = {**parse_edition(url), **parse_reference(reference)} if reference else {}
    known_id = parse_page_id(page_id)
    return fields if known_id is None else {**fields, "page_id": known_id}


def encode_documents(documents: Iterable[AnnotatedDocument], *, predicted: bool = False) -> Iterator[str]:
    """Writes documents as tokens; a mention without an entity is `--NME--`, and in predictions it is not marked."""
    for document in documents:
        name = " ".join(document.id.split())
        yield f"-DOCSTART- ({name})\n"
        position = 0
        for mention in _sort_mentions(document, predicted=predicted):
            yield from _encode_words(document.text[position : mention.start])
            yield from _encode_mention(document, mention)
            position = mention.end
        yield from _encode_words(document.text[position:])
        yield "\n"


def _sort_mentions(document: AnnotatedDocument, *, predicted: bool) -> list[Mention]:
    """Returns the mentions to mark in the order of the text, each once; refuses mentions that overlap."""
    marked = {mention for mention in document.mentions if mention.is_answered or not predicted}
    ordered = sorted(marked, key=lambda mention: (mention.start, mention.end))
    for before, after in itertools.pairwise(ordered):
        if after.start < before.end:
            words = document.text[after.start : after.end]
            raise UsageError(
                f"{document.id}: {words!r} overlaps another mention, but aida-conll allows one mention per token:"
                " choose nif"
            )
    return ordered


def _encode_words(text: str) -> Iterator[str]:
    for part in _WHITE_SPACE.split(text):
        if part.strip():
            yield f"{part}\n"
        elif "\n" in part:
            yield "\n"


def _encode_mention(document: AnnotatedDocument, mention: Mention) -> Iterator[str]:
    tokens = document.text[mention.start : mention.end].split()
    columns = [" ".join(tokens), NIL]
    if mention.has_entity:
        name = " ".join(mention.reference.split())
        columns[1:] = [yago_id(name).removeprefix("YAGO:"), _make_url(mention, document.language)]
        columns.append(str(mention.page_id) if mention.page_id is not None else NO_PAGE_ID)
    if mention.score is not None and math.isfinite(mention.score):
        columns += [*[""] * (5 - len(columns)), str(float(mention.score))]
    for number, token in enumerate(tokens):
        yield "\t".join([token, "I" if number else "B", *columns]) + "\n"


def _make_url(mention: Mention, language: str) -> str:
    if mention.title is not None:
        return wikipedia_uri(" ".join(mention.title.split()), language)
    if mention.qid is not None:
        return wikidata_uri(mention.qid)
    return f"https://{language}.wikipedia.org/?curid={mention.page_id}"
