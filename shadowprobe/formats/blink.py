"""BLINK's JSONL: one mention a line, between its two contexts.

Wu et al., 2020. Its benchmark files name the gold entity as `Wikipedia_title`, `Wikipedia_ID` and `Wikipedia_URL`, its
training files as `label_title`; `label` and `label_id` are a text and a number of one entity catalogue, and no keys.
BLINK writes no predictions: it returns a list of titles and one of scores for each mention, and a line of predictions
is the line of the mention with these, as `predictions` and `scores`. Our `ranked` says of a single prediction whether
it is a ranking of one, or an answer without candidates. Each line is a document of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.errors import InputError
from shadowprobe.formats.contexts import join
from shadowprobe.formats.documents import (
    Document,
    Mention,
    PageKey,
    edition,
    named,
    page_id_of,
    ranked,
    ranking,
    reference,
)
from shadowprobe.formats.imported import Name
from shadowprobe.identity import wikipedia_uri
from shadowprobe.jsonl import encode_lines, read_lines
from shadowprobe.model import Candidate

SUFFIX = ".jsonl"
TITLE = "BLINK"
SOURCE = "https://github.com/facebookresearch/BLINK"
NIL = "NIL"


class Line(Struct):
    """A line of a BLINK file; `start_pos` says that the contexts have all their white space."""

    context_left: str
    mention: Name
    context_right: str
    id: str | int | None = None
    query_id: str | int | None = None
    start_pos: int | None = None
    title: str | None = field(default=None, name="Wikipedia_title")
    label_title: str | None = None
    url: str | None = field(default=None, name="Wikipedia_URL")
    page_id: PageKey = field(default=None, name="Wikipedia_ID")
    wikidata_id: str | None = None


class Answered(Line, kw_only=True):
    """A line with what BLINK answered, best first; no prediction is no answer."""

    predictions: list[Name]
    scores: list[float | None] = field(default_factory=list)
    ranked: bool | None = None


def documents(path: Path) -> Iterator[Document]:
    """Each line as a document with one mention."""
    for number, line in read_lines(path, Line):
        yield _document(number, line, _gold(line))


def answer_documents(path: Path) -> Iterator[Document]:
    """Each line as a document whose mention has the first prediction, and all of them as its candidates."""
    for number, line in read_lines(path, Answered):
        scores = line.scores or [None] * len(line.predictions)
        if len(scores) != len(line.predictions):
            raise InputError(path, "predictions and scores differ in length", line=number, field="scores")
        candidates = tuple(Candidate(title, score=score) for title, score in zip(line.predictions, scores, strict=True))
        fields: dict[str, Any] = {}
        if candidates:
            fields = {**named(line.predictions[0]), "score": scores[0]}
        if not fields.get("nil"):
            fields |= ranked(candidates, line.ranked)
        yield _document(number, line, fields)


def _document(number: int, line: Line, fields: dict[str, Any]) -> Document:
    text, span = join(line.context_left, line.mention, line.context_right, line.start_pos)
    name = line.query_id if line.query_id is not None else line.id
    return Document(f"line-{number}" if name is None else str(name), text, (Mention(*span, **fields),))


def _gold(line: Line) -> dict[str, Any]:
    said = next((name for name in (line.title, line.label_title, line.url) if name and name.strip()), None)
    fields = {**edition(line.url or ""), **named(said)} if said is not None else {}
    known = {"page_id": page_id_of(line.page_id), "qid": line.wikidata_id}
    return {**fields, **{key: value for key, value in known.items() if value is not None}}


def lines(found: Iterable[Document]) -> Iterator[str]:
    """A line for each mention, in the shape of the benchmark files."""
    for document in found:
        for number, mention in enumerate(document.mentions):
            gold: dict[str, Any] = {}
            if mention.has_entity:
                title = reference(mention.title, mention.page_id, mention.qid)
                gold = {"label_title": title, "Wikipedia_title": title, "Wikipedia_ID": mention.page_id}
                if mention.title is not None:
                    gold["Wikipedia_URL"] = wikipedia_uri(mention.title, document.language)
                if mention.qid is not None:
                    gold["wikidata_id"] = mention.qid
            yield _line(document, number, mention, gold)


def answer_lines(found: Iterable[Document]) -> Iterator[str]:
    """A line for each mention, with the answer and the candidates in `predictions`."""
    for document in found:
        for number, mention in enumerate(document.mentions):
            best = [(NIL, mention.score)] if mention.nil else ranking(mention) if mention.has_entity else []
            given: dict[str, Any] = {
                "predictions": [title for title, _ in best],
                "scores": [score for _, score in best],
            }
            if mention.has_entity:
                given["ranked"] = bool(mention.candidates)
            yield _line(document, number, mention, given)


def _line(document: Document, number: int, mention: Mention, more: dict[str, Any]) -> str:
    name = f"{document.id}#{number}" if len(document.mentions) > 1 else document.id
    line = {
        "id": name,
        "query_id": name,
        "context_left": document.text[: mention.start],
        "mention": document.text[mention.start : mention.end],
        "context_right": document.text[mention.end :],
        "start_pos": mention.start,
        "end_pos": mention.end,
        "label": "unknown",
        # BLINK looks up the page id here, and passes over what it does not find.
        "label_id": more.get("Wikipedia_ID") or -1,
        **more,
    }
    return encode_lines([line]).decode()
