"""ELEVANT's simple JSONL: one text per line with its labels, or with predictions in the order of the texts.

Bast, Hertel and Prange, 2022. Entities are QIDs, titles or URIs. No entity or `<NIL>` is NIL. ELEVANT's own files have
no ids: a line without an id is identified by its number, in gold and in predictions. Our lines have ids, and also the
title and the page id of an entity with a QID. If the answer is the only candidate, it is listed as a candidate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.identity import parse
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.base.model import Candidate, TemplateNumber
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.fields import drop_missing, name_line, parse_reference, read_own_fields
from shadowprobe.formats.imported import PageId

SUFFIX = ".jsonl"
TITLE = "simple JSONL"
SOURCE = "https://github.com/ad-freiburg/elevant/wiki/How-To-Add-A-Benchmark"
NIL = "<NIL>"
# ELEVANT reads these as NIL, and also an empty reference.
UNKNOWN = frozenset({"NIL", NIL, "<unk_wid>", "<unk>", "<UNK>"})


class SimpleLabel(Struct):
    """A span with its gold or predicted entity."""

    start_char: int
    end_char: int
    entity_reference: str | None
    title: str | None = None
    page_id: PageId | None = None
    score: float | None = None
    candidates: list[str] = field(default_factory=list)
    space: str | None = None
    template: TemplateNumber | None = None


class SimpleArticle(Struct, kw_only=True):
    """A line of a benchmark."""

    labels: list[SimpleLabel]
    text: str
    id: str | int | None = None


class SimplePredictions(SimpleArticle):
    """A line of predictions, which may have no text."""

    labels: list[SimpleLabel] = field(name="predictions")
    text: str = ""


def read_documents(path: Path, *, predicted: bool = False) -> Iterator[AnnotatedDocument]:
    """Reads a document from each line; in gold, a label without an entity becomes a mention without gold."""
    for number, line in read_lines(path, SimplePredictions if predicted else SimpleArticle):
        parse_label = _parse_prediction if predicted else _parse_gold
        yield AnnotatedDocument(name_line(line.id, number), line.text, tuple(map(parse_label, line.labels)))


def _parse_gold(label: SimpleLabel) -> Mention:
    return Mention(label.start_char, label.end_char, **_parse_entity(label), **read_own_fields(label))


def _parse_prediction(label: SimpleLabel) -> Mention:
    fields = _parse_entity(label) or {"nil": True}
    known = [candidate for candidate in label.candidates if _is_known(candidate)]
    candidates = tuple(Candidate(candidate) for candidate in dict.fromkeys([label.entity_reference, *known]))
    if not fields.get("nil") and known:
        fields["candidates"] = candidates
    return Mention(label.start_char, label.end_char, score=label.score, **fields)


def _is_known(entity: str | None) -> bool:
    if entity is None or not entity.strip() or entity in UNKNOWN:
        return False
    return "nil" not in parse_reference(entity)


def _parse_entity(label: SimpleLabel) -> dict[str, Any]:
    """Returns the fields of a mention; none for NIL."""
    entity = label.entity_reference
    if entity is None or not _is_known(entity):
        return {}
    qid = parse(entity).qid
    # ELEVANT reads every reference that looks like a QID as a QID, and never as a title.
    fields: dict[str, Any] = {"qid": qid} if qid is not None else parse_reference(entity)
    return fields | drop_missing({"title": label.title, "page_id": label.page_id})


def encode_documents(documents: Iterable[AnnotatedDocument], *, predicted: bool = False) -> Iterator[str]:
    """Writes a line for each document; predictions have no text, and only mentions with an answer."""
    for document in documents:
        if predicted:
            answered = [mention for mention in document.mentions if mention.is_answered]
            predictions = [{**_make_label(mention), **_make_prediction_fields(mention)} for mention in answered]
            line = {"id": document.id, "predictions": predictions}
        else:
            labels = [{**_make_label(mention), **mention.own_fields} for mention in document.mentions]
            line = {"id": document.id, "text": document.text, "labels": labels}
        yield encode_lines([line]).decode()


def _make_label(mention: Mention) -> dict[str, Any]:
    label: dict[str, Any] = {"entity_reference": NIL, "start_char": mention.start, "end_char": mention.end}
    if mention.has_entity:
        label["entity_reference"] = mention.qid_or_reference
        if mention.qid is not None and mention.title is not None:
            label["title"] = mention.title
        if mention.page_id is not None:
            label["page_id"] = mention.page_id
    return label


def _make_prediction_fields(mention: Mention) -> dict[str, Any]:
    fields: dict[str, Any] = {} if mention.score is None else {"score": mention.score}
    others = [entity.removeprefix("wd:") for entity, _ in mention.rank_entities()[1:]]
    if mention.candidates and not others:
        others = [mention.qid_or_reference]
    return {**fields, "candidates": others} if others else fields
