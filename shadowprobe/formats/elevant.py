"""ELEVANT's JSONL: an article a line, with its ground truth labels, or with the entity mentions of a linker.

Bast, Hertel and Prange, 2022. Gold is what ELEVANT asks for: optional labels, descriptions, dates and quantities are
left out, and of nested labels the outer one counts, to which the inner ones are alternatives. A label of an unknown
entity stays a mention without gold. Entities are QIDs, and `name` is a Wikidata label, which two entities may share. An
entity without a QID goes out under its title, as in a benchmark over a knowledge base of one's own. Our `ranked` says
of a single candidate whether it is a ranking of one, or an answer without candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.formats.documents import Document, Mention, named, ranked, ranking, reference
from shadowprobe.formats.imported import PageId
from shadowprobe.jsonl import encode_lines, read_lines
from shadowprobe.model import Candidate

SUFFIX = ".jsonl"
TITLE = "ELEVANT"
SOURCE = "https://github.com/ad-freiburg/elevant/wiki/Internally-Used-JSONL-Format"
NIL = "<NIL>"
# The second is an entity for which ELEVANT found no QID; it treats both alike.
UNKNOWN = frozenset({NIL, "<NO_MAPPING>"})
NO_NAME = "Unknown"
_QID = re.compile(r"Q[1-9][0-9]*")
_OPTIONAL_TYPES = frozenset({"QUANTITY", "DATETIME"})


class Label(Struct):
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

    @property
    def is_optional(self) -> bool:
        """True where ELEVANT asks for no answer."""
        return self.optional or self.desc or not _OPTIONAL_TYPES.isdisjoint(self.type.split("|"))


class EntityMention(Struct):
    """A mention that a linker found, and the entity that it gave it."""

    span: tuple[int, int]
    id: str | None = None
    candidates: list[str] = field(default_factory=list)
    score: float | None = None
    ranked: bool | None = None


class Article(Struct):
    """A line of a benchmark or of linked articles; `document` is our own id, where that is no number."""

    id: int | str
    text: str
    labels: list[Label] = field(default_factory=list)
    entity_mentions: list[EntityMention] = field(default_factory=list)
    document: str | None = None

    @property
    def name(self) -> str:
        """The id of the document."""
        return self.document if self.document is not None else str(self.id)


def documents(path: Path) -> Iterator[Document]:
    """The articles of a benchmark with their gold labels."""
    for _, article in read_lines(path, Article):
        by_id = {label.id: label for label in article.labels}
        mentions, left_out = [], []
        for label in article.labels:
            if label.is_optional:
                left_out.append("an optional label")
            elif _is_inner(label, by_id):
                left_out.append("a label inside another, which counts")
            else:
                mentions.append(Mention(*label.span, **_gold(label)))
        yield Document(article.name, article.text, tuple(mentions), left_out=tuple(left_out))


def _is_inner(label: Label, by_id: dict[int | None, Label]) -> bool:
    """True inside a label that counts."""
    seen = set()
    while label.parent is not None and label.parent in by_id and label.parent not in seen:
        seen.add(label.parent)
        label = by_id[label.parent]
        if not label.is_optional:
            return True
    return False


def _gold(label: Label) -> dict[str, Any]:
    """The fields of a mention; none for an unknown entity."""
    said, page = label.entity_id or "", {"page_id": label.page_id} if label.page_id is not None else {}
    has_name = label.name not in {None, "", NO_NAME}
    if _QID.fullmatch(said):
        return {"qid": said, **({"title": label.name} if has_name else {}), **page}
    # A label that names nobody may have anything for an id.
    return {**named(said), **page} if has_name and said.strip() and said not in UNKNOWN else {}


def answer_documents(path: Path) -> Iterator[Document]:
    """Linked articles; what has no id was found and not linked."""
    for _, article in read_lines(path, Article):
        mentions = tuple(_answer(mention) for mention in article.entity_mentions)
        yield Document(article.name, article.text, mentions)


def _answer(mention: EntityMention) -> Mention:
    if not mention.id or not mention.id.strip():
        return Mention(*mention.span)
    if mention.id in UNKNOWN:
        return Mention(*mention.span, score=mention.score, nil=True)
    known = [entity for entity in mention.candidates if entity.strip() and entity not in UNKNOWN]
    # ELEVANT sorts candidates by their ids, and lists the answer even where there are no others.
    candidates = [Candidate(**_answer_keys(entity)) for entity in dict.fromkeys([mention.id, *known])]
    fields = {"title" if key == "answer" else key: value for key, value in _answer_keys(mention.id).items()}
    fields |= ranked(candidates, mention.ranked)
    return Mention(*mention.span, score=mention.score, **fields)


def _answer_keys(entity: str) -> dict[str, Any]:
    return {"qid": entity} if _QID.fullmatch(entity) else {"answer": entity}


def lines(found: Iterable[Document]) -> Iterator[str]:
    """The articles of a benchmark."""
    for head, document in _heads(list(found)):
        labels = [_label(number, mention) for number, mention in enumerate(document.mentions)]
        yield encode_lines([{**head, "labels": labels}]).decode()


def answer_lines(found: Iterable[Document]) -> Iterator[str]:
    """Linked articles, without labels: ELEVANT takes those from its benchmark."""
    for head, document in _heads(list(found)):
        mentions = [_entity_mention(mention) for mention in document.mentions if mention.has_entity or mention.nil]
        yield encode_lines([{**head, "entity_mentions": mentions}]).decode()


def _heads(found: list[Document]) -> Iterator[tuple[dict[str, Any], Document]]:
    # ELEVANT reads nothing but numbers as ids.
    numbers = all(document.id.isascii() and document.id.isdecimal() for document in found)
    for number, document in enumerate(found):
        head: dict[str, Any] = {"id": int(document.id) if numbers else number, "title": document.id}
        if str(head["id"]) != document.id:
            head["document"] = document.id
        yield {**head, "text": document.text, "evaluation_span": [0, len(document.text)]}, document


def _label(number: int, mention: Mention) -> dict[str, Any]:
    label: dict[str, Any] = {"id": number, "span": [mention.start, mention.end], "entity_id": NIL, "name": NO_NAME}
    if mention.has_entity:
        entity_id = mention.qid or reference(mention.title, mention.page_id)
        label |= {"entity_id": entity_id, "name": mention.title or (NO_NAME if mention.qid else entity_id)}
        if mention.page_id is not None:
            label["page_id"] = mention.page_id
    return {**label, "type": "OTHER"}


def _entity_mention(mention: Mention) -> dict[str, Any]:
    found: dict[str, Any] = {"span": [mention.start, mention.end], "id": NIL}
    if mention.has_entity:
        found["id"] = mention.qid or reference(mention.title, mention.page_id)
    found |= {"recognized_by": "shadowprobe", "linked_by": "shadowprobe"}
    others = [entity.removeprefix("wd:") for entity, _ in ranking(mention)[1:]] if mention.has_entity else []
    found["candidates"] = list(dict.fromkeys([found["id"], *others])) if mention.has_entity else []
    if mention.has_entity:
        found["ranked"] = bool(mention.candidates)
    return found if mention.score is None else {**found, "score": mention.score}
