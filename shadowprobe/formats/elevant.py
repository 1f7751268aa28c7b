"""ELEVANT's JSONL: one article per line, with its ground truth labels or with the entity mentions of a linker.

Bast, Hertel and Prange, 2022. Only labels that ELEVANT evaluates are gold: optional labels, descriptions, dates and
quantities are left out. Of nested labels the outer one counts; the inner ones are alternatives to it. A label of an
unknown entity becomes a mention without gold, and the labels inside it count. Entities are QIDs. `name` is a Wikidata
label, which two entities may share. An entity without a QID is written with its title, as in a benchmark with its own
knowledge base. Our field `ranked` tells whether a single candidate is a ranking of one, or an answer without
candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.base.model import Candidate, TemplateNumber
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.fields import drop_missing, make_candidate_fields, parse_reference, read_own_fields
from shadowprobe.formats.imported import PageId

SUFFIX = ".jsonl"
TITLE = "ELEVANT"
SOURCE = "https://github.com/ad-freiburg/elevant/wiki/Internally-Used-JSONL-Format"
NIL = "<NIL>"
# The second is an entity for which ELEVANT has no QID; it treats both in the same way.
UNKNOWN = frozenset({NIL, "<NO_MAPPING>"})
NO_NAME = "Unknown"
_QID = re.compile(r"Q[1-9][0-9]*")
_OPTIONAL_TYPES = frozenset({"QUANTITY", "DATETIME"})


class ElevantLabel(Struct):
    """A ground truth label."""

    span: tuple[int, int]
    entity_id: str | None = None
    name: str | None = None
    id: int | None = None
    parent: int | None = None
    optional: bool = False
    desc: bool = False
    type: str = "OTHER"
    page_id: PageId | None = None
    space: str | None = None
    template: TemplateNumber | None = None

    @property
    def is_optional(self) -> bool:
        """True if ELEVANT does not evaluate the label."""
        return self.optional or self.desc or not _OPTIONAL_TYPES.isdisjoint(self.type.split("|"))


class EntityMention(Struct):
    """A mention that a linker detected, with its predicted entity."""

    span: tuple[int, int]
    id: str | None = None
    candidates: list[str] = field(default_factory=list)
    score: float | None = None
    ranked: bool | None = None


class ElevantArticle(Struct):
    """A line of a benchmark or of linked articles; `document` is our own id if that is not a number."""

    id: int | str
    text: str
    labels: list[ElevantLabel] = field(default_factory=list)
    entity_mentions: list[EntityMention] = field(default_factory=list)
    document: str | None = None


def read_documents(path: Path, *, predicted: bool = False) -> Iterator[AnnotatedDocument]:
    """Reads the articles of a benchmark with their gold labels, or linked articles."""
    for _, article in read_lines(path, ElevantArticle):
        left_out: list[str] = []
        if predicted:
            mentions = [_parse_mention(mention) for mention in article.entity_mentions]
        else:
            mentions = list(_read_labels(article, left_out))
        name = article.document if article.document is not None else str(article.id)
        yield AnnotatedDocument(name, article.text, tuple(mentions), left_out=tuple(left_out))


def _read_labels(article: ElevantArticle, left_out: list[str]) -> Iterator[Mention]:
    by_id = {label.id: label for label in article.labels}
    for label in article.labels:
        if label.is_optional:
            left_out.append("an optional label")
        elif _is_inner(label, by_id):
            left_out.append("a label inside another, which counts")
        else:
            yield Mention(*label.span, **{**_parse_gold(label), **read_own_fields(label)})


def _is_inner(label: ElevantLabel, by_id: dict[int | None, ElevantLabel]) -> bool:
    """True for a label inside another label that is evaluated; a label without an entity hides only others without."""
    has_entity = bool(_parse_gold(label))
    seen = set()
    while label.parent is not None and label.parent in by_id and label.parent not in seen:
        seen.add(label.parent)
        label = by_id[label.parent]
        if not label.is_optional and (_parse_gold(label) or not has_entity):
            return True
    return False


def _parse_gold(label: ElevantLabel) -> dict[str, Any]:
    """Returns the fields of a mention; none for an unknown entity."""
    entity_id, page = label.entity_id or "", drop_missing({"page_id": label.page_id})
    has_name = label.name not in {None, "", NO_NAME}
    if _QID.fullmatch(entity_id):
        return {"qid": entity_id, **({"title": label.name} if has_name else {}), **page}
    # The id of a label without a name may be anything, and is not read.
    is_known = has_name and entity_id.strip() and entity_id not in UNKNOWN
    return {**parse_reference(entity_id), **page} if is_known else {}


def _parse_mention(mention: EntityMention) -> Mention:
    """Makes a mention; one without an id was detected and not linked."""
    if not mention.id or not mention.id.strip():
        return Mention(*mention.span)
    if mention.id in UNKNOWN:
        return Mention(*mention.span, score=mention.score, nil=True)
    known = [entity for entity in mention.candidates if entity.strip() and entity not in UNKNOWN]
    # ELEVANT sorts candidates by their ids, and lists the answer even if there are no others.
    candidates = [
        Candidate(qid=entity) if _QID.fullmatch(entity) else Candidate(entity)
        for entity in dict.fromkeys([mention.id, *known])
    ]
    fields = make_candidate_fields(candidates, mention.ranked)
    answer = candidates[0]
    return Mention(*mention.span, title=answer.answer, qid=answer.qid, score=mention.score, **fields)


def name_file(name: str, system: str | None = None) -> str:
    """Names a benchmark, or the linked articles of a system, so that ELEVANT finds and evaluates the file."""
    return f"{name}.benchmark.jsonl" if system is None else f"{system}.{name}.linked_articles.jsonl"


def make_metadata(name: str, about: str, system: str | None = None) -> tuple[str, dict[str, Any]]:
    """Makes the file that ELEVANT's web page shows beside a benchmark or an experiment."""
    now = datetime.now(UTC).strftime("%Y/%m/%d %H:%M")
    if system is None:
        return f"{name}.metadata.json", {"name": name, "description": about, "timestamp": now}
    experiment = {"experiment_name": system, "experiment_description": about, "linker_name": system}
    return f"{system}.{name}.metadata.json", {**experiment, "timestamp": now, "linking_time": None}


def encode_documents(documents: Iterable[AnnotatedDocument], *, predicted: bool = False) -> Iterator[str]:
    """Writes the articles of a benchmark; or linked articles, whose labels ELEVANT evaluates without a benchmark."""
    documents = list(documents)
    # ELEVANT reads only numbers as ids.
    have_numbers = all(document.id.isascii() and document.id.isdecimal() for document in documents)
    for number, document in enumerate(documents):
        line: dict[str, Any] = {"id": int(document.id) if have_numbers else number, "title": document.id}
        if str(line["id"]) != document.id:
            line["document"] = document.id
        line |= {"text": document.text, "evaluation_span": [0, len(document.text)]}
        gold = document.gold if predicted else document.mentions
        line["labels"] = [_make_label(position, one) for position, one in enumerate(gold)]
        if predicted:
            line["entity_mentions"] = [_make_entity_mention(one) for one in document.mentions if one.is_answered]
        yield encode_lines([line]).decode()


def _make_label(number: int, mention: Mention) -> dict[str, Any]:
    label: dict[str, Any] = {"id": number, "span": [mention.start, mention.end], "entity_id": NIL, "name": NO_NAME}
    if mention.has_entity:
        entity_id = mention.qid_or_reference
        label |= {"entity_id": entity_id, "name": mention.title or (NO_NAME if mention.qid else entity_id)}
        if mention.page_id is not None:
            label["page_id"] = mention.page_id
    return {**label, "type": "OTHER", **mention.own_fields}


def _make_entity_mention(mention: Mention) -> dict[str, Any]:
    entity_id = mention.qid_or_reference if mention.has_entity else NIL
    others = [entity.removeprefix("wd:") for entity, _ in mention.rank_entities()[1:]]
    fields: dict[str, Any] = {
        "span": [mention.start, mention.end],
        "id": entity_id,
        "recognized_by": "shadowprobe",
        "linked_by": "shadowprobe",
        "candidates": list(dict.fromkeys([entity_id, *others])) if mention.has_entity else [],
    }
    if mention.has_entity:
        fields["ranked"] = bool(mention.candidates)
    return fields if mention.score is None else {**fields, "score": mention.score}
