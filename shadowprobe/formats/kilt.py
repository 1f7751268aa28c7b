"""KILT's JSONL for entity linking: one mention per line, between two markers.

Petroni et al., 2021. The text is read from `meta`, which is complete, or else from `input`, which KILT cuts to 256
words. Each line is a document of its own. In predictions `output` has one answer, and its provenance is a ranking. The
answer `NIL` is NIL, and an empty answer is no answer. Our field `ranked` tells whether a single page is a ranking of
one, or an answer without candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from shadowprobe.base.identity import is_nil
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.base.model import Candidate, TemplateNumber
from shadowprobe.base.spans import Span
from shadowprobe.errors import InputError
from shadowprobe.formats.context_pair import join
from shadowprobe.formats.documents import AnnotatedDocument, Mention
from shadowprobe.formats.fields import (
    PageKey,
    Score,
    drop_missing,
    make_candidate_fields,
    make_reference,
    parse_page_id,
    parse_reference,
    parse_score,
    read_own_fields,
)

SUFFIX = ".jsonl"
TITLE = "KILT"
SOURCE = "https://github.com/facebookresearch/KILT"
START, END = "[START_ENT]", "[END_ENT]"
NIL = "NIL"


class Provenance(Struct):
    """A page; KILT's retrievers call its title `wikipedia_title`."""

    wikipedia_id: PageKey = None
    title: str | None = None
    wikipedia_title: str | None = None
    wikidata_id: str | None = None
    score: Score = None


class KiltOutput(Struct):
    """An answer and its pages."""

    answer: str | None = None
    provenance: list[Provenance] = field(default_factory=list)
    score: Score = None
    ranked: bool | None = None


class Meta(Struct):
    """The mention with its complete contexts; with `start_pos`, a field of ours, they have all their white space."""

    left_context: str | None = None
    mention: str | None = None
    right_context: str | None = None
    start_pos: int | None = None
    space: str | None = None
    template: TemplateNumber | None = None


class KiltLine(Struct):
    """A line of a KILT file."""

    id: str | int
    input: str
    output: list[KiltOutput] = field(default_factory=list)
    meta: Meta = field(default_factory=Meta)


def read_documents(path: Path, *, predicted: bool = False) -> Iterator[AnnotatedDocument]:
    """Reads each line as a document with one mention; test sets have no answers, and so no gold."""
    for number, line in read_lines(path, KiltLine):
        text, span = _read_text(path, number, line)
        fields = _parse_predictions(line) if predicted else {**_parse_gold(line), **read_own_fields(line.meta)}
        yield AnnotatedDocument(str(line.id), text, (Mention(*span, **fields),))


def _parse_gold(line: KiltLine) -> dict[str, Any]:
    """Returns the fields of a mention; none if the answer is NIL, even if there is a page."""
    pages = _list_pages(line)
    if not pages or pages[0].get("nil") or is_nil(pages[0].get("title", "")):
        return {}
    return {**pages[0], "score": None}


def _parse_predictions(line: KiltLine) -> dict[str, Any]:
    """Returns the fields of a mention: the answer, and the ranking as its candidates."""
    pages = _list_pages(line)
    if not pages:
        return {}
    candidates = tuple(
        Candidate(page.get("title"), page.get("page_id"), page.get("qid"), page["score"])
        for page in pages
        if not page.get("nil")
    )
    return pages[0] | ({} if pages[0].get("nil") else make_candidate_fields(candidates, line.output[0].ranked))


def _list_pages(line: KiltLine) -> list[dict[str, Any]]:
    """Lists the entities of a line as fields of a mention, the answer first; none if the output is missing or empty."""
    if not line.output:
        return []
    first = line.output[0]
    # KILT's retrievers put the ranking first and copy the gold answer behind it.
    answers = [output for output in line.output if output.answer] if first.answer else []
    pages = [_make_page(output.answer or "", _find_provenance(output), output.score) for output in answers]
    titled = [(provenance.title or provenance.wikipedia_title or "", provenance) for provenance in first.provenance]
    pages += [_make_page(title, provenance, None) for title, provenance in titled]
    distinct: dict[str, dict[str, Any]] = {}
    for page in filter(None, pages):
        distinct.setdefault(make_reference(page.get("title"), page.get("page_id"), page.get("qid")), page)
    return list(distinct.values())


def _find_provenance(output: KiltOutput) -> Provenance:
    """Returns the page whose title is the answer; a page with another title only if it is the only one."""
    for provenance in output.provenance:
        if output.answer in {provenance.title, provenance.wikipedia_title}:
            return provenance
    return output.provenance[0] if len(output.provenance) == 1 else Provenance()


def _make_page(title: str, provenance: Provenance, score: Score) -> dict[str, Any]:
    keys = parse_reference(title) if title.strip() else {}
    ids = drop_missing({"page_id": parse_page_id(provenance.wikipedia_id), "qid": provenance.wikidata_id})
    if ids:
        # A page with the title Nil is an entity, and not NIL.
        keys = {**({"title": title} if keys.get("nil") else keys), **ids}
    return {**keys, "score": parse_score(score if score is not None else provenance.score)} if keys else {}


def _read_text(path: Path, number: int, line: KiltLine) -> tuple[str, Span]:
    meta = line.meta
    if meta.mention and meta.left_context is not None and meta.right_context is not None:
        return join(meta.left_context, meta.mention, meta.right_context, meta.start_pos)
    left, start, rest = line.input.partition(START)
    mention, end, right = rest.partition(END)
    if not start or not end or not mention.strip() or START in rest or END in left + right:
        raise InputError(path, f"expected one {START} mention {END}", line=number, field="input")
    return join(left.strip(), mention.strip(), right.strip())


def encode_documents(documents: Iterable[AnnotatedDocument], *, predicted: bool = False) -> Iterator[str]:
    """Writes a line for each mention; a gold mention without an entity has no output, as in the test sets."""
    for document in documents:
        for number, mention in enumerate(document.mentions):
            left, words = document.text[: mention.start], document.text[mention.start : mention.end]
            right = document.text[mention.end :]
            output = [_make_prediction(mention)] if predicted else _list_gold(mention)
            line = {
                "id": document.name_mention(number),
                "input": f"{left.strip()} {START} {words} {END} {right.strip()}".strip(),
                **({"output": output} if output else {}),
                "meta": {"left_context": left, "mention": words, "right_context": right, "start_pos": len(left)}
                | mention.own_fields,
            }
            yield encode_lines([line]).decode()


def _list_gold(mention: Mention) -> list[dict[str, Any]]:
    page = _make_provenance(mention.title, mention.page_id, mention.qid)
    return [{"answer": mention.reference, "provenance": [page]}] if mention.has_entity else []


def _make_prediction(mention: Mention) -> dict[str, Any]:
    """Makes the output of a mention; KILT's evaluation requires exactly one, even without an answer."""
    pages = [{**_make_provenance(title), "score": score} for title, score in mention.rank_entities()]
    if pages:
        pages[0] |= _make_provenance(mention.title, mention.page_id, mention.qid)
    is_ranked = bool(mention.candidates) if mention.has_entity else None
    answer = NIL if mention.nil else mention.reference
    return {"answer": answer, "provenance": pages, **drop_missing({"ranked": is_ranked, "score": mention.score})}


def _make_provenance(title: str | None, page_id: int | None = None, qid: str | None = None) -> dict[str, Any]:
    wikipedia_id = str(page_id) if page_id is not None else None
    page = {"wikipedia_id": wikipedia_id, "title": make_reference(title, page_id, qid)}
    return {**page, "wikidata_id": qid} if qid is not None else page
