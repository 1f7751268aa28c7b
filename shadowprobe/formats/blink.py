"""BLINK's JSONL: one mention per line, between its two contexts.

Wu et al., 2020. Its benchmark files name the gold entity as `Wikipedia_title`, `Wikipedia_ID` and `Wikipedia_URL`, its
training files as `label_title`. `label` and `label_id` belong to BLINK's own entity catalogue and are not read. BLINK
writes no predictions. It returns a list of titles and a list of scores for each mention. A line of predictions is the
line of the mention with these lists as `predictions` and `scores`. Our field `ranked` tells whether a single
prediction is a ranking of one, or an answer without candidates. Each line is a document of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.identity import wikipedia_uri
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.base.model import Candidate, TemplateNumber
from shadowprobe.errors import InputError
from shadowprobe.formats.context_pair import join
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.fields import (
    PageKey,
    drop_missing,
    make_candidate_fields,
    name_line,
    parse_edition,
    parse_page_id,
    parse_reference,
    read_own_fields,
)
from shadowprobe.formats.imported import Name

SUFFIX = ".jsonl"
TITLE = "BLINK"
SOURCE = "https://github.com/facebookresearch/BLINK"
NIL = "NIL"


class BlinkLine(Struct):
    """A line of a BLINK file; with `start_pos`, the contexts have all their white space."""

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
    space: str | None = None
    template: TemplateNumber | None = None


class PredictedLine(BlinkLine, kw_only=True):
    """A line with BLINK's predictions, best first; an empty list is no answer."""

    predictions: list[Name]
    scores: list[float | None] = field(default_factory=list)
    ranked: bool | None = None


def read_documents(path: Path, *, predicted: bool = False) -> Iterator[AnnotatedDocument]:
    """Reads each line as a document with one mention."""
    for number, line in read_lines(path, PredictedLine if predicted else BlinkLine):
        text, span = join(line.context_left, line.mention, line.context_right, line.start_pos)
        fields = _parse_predictions(path, number, line) if isinstance(line, PredictedLine) else _parse_gold(line)
        name = name_line(line.query_id if line.query_id is not None else line.id, number)
        yield AnnotatedDocument(name, text, (Mention(*span, **fields),))


def _parse_predictions(path: Path, number: int, line: PredictedLine) -> dict[str, Any]:
    """Returns the fields of a mention: the first prediction, and all of them as candidates."""
    scores = line.scores or [None] * len(line.predictions)
    if len(scores) != len(line.predictions):
        raise InputError(path, "predictions and scores differ in length", line=number, field="scores")
    if not line.predictions:
        return {}
    fields = {**parse_reference(line.predictions[0]), "score": scores[0]}
    candidates = tuple(Candidate(title, score=score) for title, score in zip(line.predictions, scores, strict=True))
    return fields if fields.get("nil") else fields | make_candidate_fields(candidates, line.ranked)


def _parse_gold(line: BlinkLine) -> dict[str, Any]:
    reference = next((name for name in (line.title, line.label_title, line.url) if name and name.strip()), None)
    fields = {**parse_edition(line.url or ""), **parse_reference(reference)} if reference is not None else {}
    keys = drop_missing({"page_id": parse_page_id(line.page_id), "qid": line.wikidata_id})
    return fields | keys | read_own_fields(line)


def encode_documents(documents: Iterable[AnnotatedDocument], *, predicted: bool = False) -> Iterator[str]:
    """Writes a line for each mention, in the shape of the benchmark files or with its predictions."""
    for document in documents:
        for number, mention in enumerate(document.mentions):
            name = document.name_mention(number)
            entity = _make_predictions(mention) if predicted else _make_gold(mention, document.language)
            line = {
                "id": name,
                "query_id": name,
                "context_left": document.text[: mention.start],
                "mention": document.text[mention.start : mention.end],
                "context_right": document.text[mention.end :],
                "start_pos": mention.start,
                "end_pos": mention.end,
                "label": "unknown",
                # BLINK looks up the page id here, and skips ids that it does not know.
                "label_id": entity.get("Wikipedia_ID") or -1,
                **entity,
                **mention.own_fields,
            }
            yield encode_lines([line]).decode()


def _make_gold(mention: Mention, language: str) -> dict[str, Any]:
    if not mention.has_entity:
        return {}
    url = wikipedia_uri(mention.title, language) if mention.title is not None else None
    return {
        "label_title": mention.reference,
        "Wikipedia_title": mention.reference,
        "Wikipedia_ID": mention.page_id,
        **drop_missing({"Wikipedia_URL": url, "wikidata_id": mention.qid}),
    }


def _make_predictions(mention: Mention) -> dict[str, Any]:
    """Returns the answer and the candidates."""
    entities = [(NIL, mention.score)] if mention.nil else mention.rank_entities()
    answer: dict[str, Any] = {
        "predictions": [title for title, _ in entities],
        "scores": [score for _, score in entities],
    }
    return {**answer, "ranked": bool(mention.candidates)} if mention.has_entity else answer
