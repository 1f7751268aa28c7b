"""ELEVANT's simple JSONL: a text a line with its labels, or with predictions in the order of the texts.

Bast, Hertel and Prange, 2022. Entities are QIDs, titles or URIs, and none or `<NIL>` is NIL. ELEVANT's own files have
no ids: a line without one is known by its number, on both sides. Our lines have ids, and beside a QID the title and the
page id; where the answer is the only candidate, it is listed as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.formats.documents import Document, Mention, named, ranking, reference
from shadowprobe.formats.imported import PageId
from shadowprobe.identity import parse
from shadowprobe.jsonl import encode_lines, read_lines
from shadowprobe.model import Candidate

SUFFIX = ".jsonl"
TITLE = "simple JSONL"
SOURCE = "https://github.com/ad-freiburg/elevant/wiki/How-To-Add-A-Benchmark"
NIL = "<NIL>"
# What ELEVANT takes for NIL beside the empty reference.
UNKNOWN = frozenset({"NIL", NIL, "<unk_wid>", "<unk>", "<UNK>"})


class Label(Struct):
    """An entity at a place, gold or predicted."""

    start_char: int
    end_char: int
    entity_reference: str | None
    title: str | None = None
    page_id: PageId | None = None
    score: float | None = None
    candidates: list[str] = field(default_factory=list)


class Article(Struct):
    """A line of a benchmark."""

    text: str
    labels: list[Label]
    id: str | int | None = None


class Predicted(Struct):
    """A line of predictions."""

    predictions: list[Label]
    text: str = ""
    id: str | int | None = None


def documents(path: Path) -> Iterator[Document]:
    """The texts of a benchmark; a label of no entity is a mention without gold."""
    for number, line in read_lines(path, Article):
        mentions = (Mention(label.start_char, label.end_char, **_entity(label)) for label in line.labels)
        yield Document(_name(line.id, number), line.text, tuple(mentions))


def answer_documents(path: Path) -> Iterator[Document]:
    """The predictions of a file; their documents have no text, unless a line gives it."""
    for number, line in read_lines(path, Predicted):
        mentions = tuple(_answer(label) for label in line.predictions)
        yield Document(_name(line.id, number), line.text, mentions)


def _name(said: str | int | None, number: int) -> str:
    return f"line-{number}" if said is None else str(said)


def _answer(label: Label) -> Mention:
    fields = _entity(label) or {"nil": True}
    known = [candidate for candidate in label.candidates if _is_known(candidate)]
    candidates = tuple(Candidate(candidate) for candidate in dict.fromkeys([label.entity_reference, *known]))
    if not fields.get("nil") and known:
        fields["candidates"] = candidates
    return Mention(label.start_char, label.end_char, score=label.score, **fields)


def _is_known(said: str | None) -> bool:
    return said is not None and said.strip() != "" and said not in UNKNOWN and "nil" not in named(said)


def _entity(label: Label) -> dict[str, Any]:
    """The fields of a mention; none for NIL."""
    said = label.entity_reference
    if said is None or not _is_known(said):
        return {}
    qid = parse(said).qid
    # ELEVANT takes every reference of the shape for a QID, and never for a title.
    fields: dict[str, Any] = {"qid": qid} if qid is not None else named(said)
    known = {"title": label.title, "page_id": label.page_id}
    return {**fields, **{key: value for key, value in known.items() if value is not None}}


def lines(found: Iterable[Document]) -> Iterator[str]:
    """A line for each document."""
    for document in found:
        labels = [_label(mention) for mention in document.mentions]
        yield encode_lines([{"id": document.id, "text": document.text, "labels": labels}]).decode()


def answer_lines(found: Iterable[Document]) -> Iterator[str]:
    """A line for each document; a mention without an answer is left out."""
    for document in found:
        said = [mention for mention in document.mentions if mention.has_entity or mention.nil]
        predictions = [{**_label(mention), **_extra(mention)} for mention in said]
        yield encode_lines([{"id": document.id, "predictions": predictions}]).decode()


def _label(mention: Mention) -> dict[str, Any]:
    label: dict[str, Any] = {"entity_reference": NIL, "start_char": mention.start, "end_char": mention.end}
    if mention.has_entity:
        label["entity_reference"] = mention.qid or reference(mention.title, mention.page_id)
        if mention.qid is not None and mention.title is not None:
            label["title"] = mention.title
        if mention.page_id is not None:
            label["page_id"] = mention.page_id
    return label


def _extra(mention: Mention) -> dict[str, Any]:
    extra: dict[str, Any] = {} if mention.score is None else {"score": mention.score}
    others = [entity.removeprefix("wd:") for entity, _ in ranking(mention)[1:]] if mention.has_entity else []
    if mention.candidates and not others:
        others = [mention.qid or reference(mention.title, mention.page_id)]
    return {**extra, "candidates": others} if others else extra
