"""KILT's JSONL for entity linking: one mention a line, between two markers.

Petroni et al., 2021. The text is that of `meta`, which is whole, or else that of `input`, which KILT cuts to 256
words. Each line is a document of its own. In predictions `output` has one answer, and its provenance is a ranking; an
answer of `NIL` is one, and an empty one is none. Our `ranked` says of a single page whether it is a ranking of one, or
an answer without candidates.
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
    Score,
    named,
    page_id_of,
    ranked,
    ranking,
    reference,
    score_of,
)
from shadowprobe.formats.spans import Span
from shadowprobe.identity import is_nil
from shadowprobe.jsonl import encode_lines, read_lines
from shadowprobe.model import Candidate

SUFFIX = ".jsonl"
TITLE = "KILT"
SOURCE = "https://github.com/facebookresearch/KILT"
START, END = "[START_ENT]", "[END_ENT]"
NIL = "NIL"


class Provenance(Struct):
    """A page; the retrievers of KILT call its title `wikipedia_title`."""

    wikipedia_id: PageKey = None
    title: str | None = None
    wikipedia_title: str | None = None
    wikidata_id: str | None = None
    score: Score = None


class Output(Struct):
    """An answer and the pages behind it."""

    answer: str | None = None
    provenance: list[Provenance] = field(default_factory=list)
    score: Score = None
    ranked: bool | None = None


class Meta(Struct):
    """The mention with its whole contexts; `start_pos` is ours, and says that they have all their white space."""

    left_context: str | None = None
    mention: str | None = None
    right_context: str | None = None
    start_pos: int | None = None


class Line(Struct):
    """A line of a KILT file."""

    id: str | int
    input: str
    output: list[Output] = field(default_factory=list)
    meta: Meta = field(default_factory=Meta)


def documents(path: Path) -> Iterator[Document]:
    """Each line as a document with one mention; test sets have no answers, and so no gold."""
    for number, line in read_lines(path, Line):
        text, span = _text(path, number, line)
        yield Document(str(line.id), text, (Mention(*span, **_gold(line)),))


def _gold(line: Line) -> dict[str, Any]:
    """The fields of a mention; none where the answer is NIL, whatever page stands beside it."""
    pages = _pages(line)
    return {} if not pages or pages[0].keys.get("nil") or is_nil(pages[0].keys.get("title", "")) else pages[0].keys


def answer_documents(path: Path) -> Iterator[Document]:
    """Each line as a document whose mention has the answer, and the ranking as its candidates."""
    for number, line in read_lines(path, Line):
        text, span = _text(path, number, line)
        pages = _pages(line)
        candidates = tuple(
            Candidate(keys.get("title"), keys.get("page_id"), keys.get("qid"), page.score)
            for page in pages
            if not (keys := page.keys).get("nil")
        )
        fields = {**pages[0].keys, "score": pages[0].score} if pages else {}
        if pages and not pages[0].keys.get("nil"):
            fields |= ranked(candidates, line.output[0].ranked)
        yield Document(str(line.id), text, (Mention(*span, **fields),))


class _Page(Struct):
    """An entity of a line's output, as the fields of a mention."""

    keys: dict[str, Any]
    score: float | None


def _pages(line: Line) -> list[_Page]:
    """The entities of a line, the answer first; none where there is no output or an empty one."""
    if not line.output:
        return []
    first = line.output[0]
    # The retrievers of KILT put the ranking first and copy the gold answer behind it.
    answers = [output for output in line.output if output.answer] if first.answer else []
    pages = [_page(output.answer or "", _page_of(output), output.score) for output in answers]
    titled = [(provenance.title or provenance.wikipedia_title or "", provenance) for provenance in first.provenance]
    pages += [_page(title, provenance, None) for title, provenance in titled]
    distinct: dict[str, _Page] = {}
    for page in pages:
        if page.keys:
            key = reference(page.keys.get("title"), page.keys.get("page_id"), page.keys.get("qid"))
            distinct.setdefault(key, page)
    return list(distinct.values())


def _page_of(output: Output) -> Provenance:
    """The page that an answer is the title of; of several pages, none but the one that says so."""
    for provenance in output.provenance:
        if output.answer in {provenance.title, provenance.wikipedia_title}:
            return provenance
    return output.provenance[0] if len(output.provenance) == 1 else Provenance()


def _page(title: str, provenance: Provenance, score: Score) -> _Page:
    keys = named(title) if title.strip() else {}
    known = {"page_id": page_id_of(provenance.wikipedia_id), "qid": provenance.wikidata_id}
    known = {key: value for key, value in known.items() if value is not None}
    if known:
        # A page called Nil is no NIL.
        keys = {**({"title": title} if keys.get("nil") else keys), **known}
    return _Page(keys, score_of(score if score is not None else provenance.score))


def _text(path: Path, number: int, line: Line) -> tuple[str, Span]:
    meta = line.meta
    if meta.mention and meta.left_context is not None and meta.right_context is not None:
        return join(meta.left_context, meta.mention, meta.right_context, meta.start_pos)
    left, start, rest = line.input.partition(START)
    mention, end, right = rest.partition(END)
    if not start or not end or not mention.strip() or START in rest or END in left + right:
        raise InputError(path, f"expected one {START} mention {END}", line=number, field="input")
    return join(left.strip(), mention.strip(), right.strip())


def lines(found: Iterable[Document]) -> Iterator[str]:
    """A line for each mention; one without an entity has no output, as in the test sets."""
    for document in found:
        for number, mention in enumerate(document.mentions):
            page = _provenance(mention.title, mention.page_id, mention.qid)
            output = {"output": [{"answer": _name(mention), "provenance": [page]}]} if mention.has_entity else {}
            yield _line(document, number, mention, output)


def answer_lines(found: Iterable[Document]) -> Iterator[str]:
    """A line for each mention with exactly one output, as KILT's evaluation asks."""
    for document in found:
        for number, mention in enumerate(document.mentions):
            pages: list[dict[str, Any]] = []
            if mention.has_entity:
                pages = [{**_provenance(title), "score": score} for title, score in ranking(mention)]
                pages[0] = {**pages[0], **_provenance(mention.title, mention.page_id, mention.qid)}
            answer = NIL if mention.nil else _name(mention)
            output: dict[str, Any] = {"answer": answer, "provenance": pages}
            if mention.has_entity:
                output["ranked"] = bool(mention.candidates)
            if mention.score is not None:
                output["score"] = mention.score
            yield _line(document, number, mention, {"output": [output]})


def _name(mention: Mention) -> str:
    return reference(mention.title, mention.page_id, mention.qid)


def _provenance(title: str | None, page_id: int | None = None, qid: str | None = None) -> dict[str, Any]:
    page = {"wikipedia_id": str(page_id) if page_id is not None else None, "title": reference(title, page_id, qid)}
    return {**page, "wikidata_id": qid} if qid is not None else page


def _line(document: Document, number: int, mention: Mention, output: dict[str, Any]) -> str:
    left, words = document.text[: mention.start], document.text[mention.start : mention.end]
    right = document.text[mention.end :]
    line = {
        "id": f"{document.id}#{number}" if len(document.mentions) > 1 else document.id,
        "input": f"{left.strip()} {START} {words} {END} {right.strip()}".strip(),
        **output,
        "meta": {"left_context": left, "mention": words, "right_context": right, "start_pos": len(left)},
    }
    return encode_lines([line]).decode()
