"""ZELDA's JSONL: one document per line, with its mentions, page ids and titles.

Milich and Akbik, 2023, https://github.com/flairNLP/zelda. Documents of its ShadowLink copy are called "Top: NAME",
"Shadow: NAME" and "Tail: NAME". They keep their subsets and spaces, and their spans are checked against the name.
Documents of all other sets go into the subset `all`.

Our exports use the same names, and "Neutral: NAME" for neutral contexts, with our own id as `document`. ZELDA has a
page id and a title for each mention; we also read a title alone. In gold, a mention with neither, or with the title
`NIL`, has no entity. In predictions `NIL` is an answer, and no title is no answer. Scores are written as `scores`.
Numbers of templates are written as `templates`. Candidates and QIDs are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.base.identity import is_nil
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.base.model import Snippet, Subset, TemplateNumber
from shadowprobe.base.spans import Span, check_span, repair_span
from shadowprobe.errors import InputError
from shadowprobe.formats.documents import NOT_GOLD, AnnotatedDocument, Mention
from shadowprobe.formats.fields import drop_missing, make_reference, parse_reference
from shadowprobe.formats.imported import Entities, Imported, Name, PageId, Remark
from shadowprobe.formats.placing import parse_export_names, place_snippets

SUFFIX = ".jsonl"
TITLE = "ZELDA"
SOURCE = "https://github.com/flairNLP/zelda"
LOST = frozenset({"qid"})
NIL = "NIL"
_NAMED = re.compile(r"(Top|Shadow|Tail|Neutral): (.+)", re.DOTALL)


class ZeldaLine(Struct):
    """A line of a ZELDA file."""

    id: str | int
    text: str
    index: list[tuple[int, int]]
    wikipedia_ids: list[PageId | None]
    wikipedia_titles: list[Name | None]
    document: str | None = None
    scores: list[float | None] | None = None
    templates: list[TemplateNumber | None] | None = None

    def check(self, path: Path, line: int) -> None:
        """Refuses a line whose lists differ in length."""
        if not len(self.index) == len(self.wikipedia_ids) == len(self.wikipedia_titles):
            raise InputError(path, "index, wikipedia_ids and wikipedia_titles differ in length", line=line)
        for field, values in (("scores", self.scores), ("templates", self.templates)):
            if values is not None and len(values) != len(self.index):
                raise InputError(path, f"index and {field} differ in length", line=line, field=field)

    def entity(self, number: int) -> str | None:
        """The entity of a mention: a title, or `curid:` and a page id."""
        return make_reference(self.wikipedia_titles[number], self.wikipedia_ids[number]) or None

    def parse_id(self) -> tuple[Subset, str | None]:
        """Returns the subset and the name in the id."""
        match = _NAMED.fullmatch(str(self.id))
        # ZELDA has no neutral contexts; ours have an id of their own.
        if match is None or (match[1] == "Neutral" and self.document is None):
            return "all", None
        return match[1].lower(), match[2]  # type: ignore[return-value]


def import_files(imported: Imported, files: Sequence[Path]) -> None:
    """Reads ZELDA files, with the subsets and spaces that the ids of their documents name."""
    if parse_export_names(files) is None:
        imported.card.name = "zelda"
    entities = Entities(imported.remarks)
    seen: set[str] = set()
    read = [pair for file in files for pair in _read_snippets(file, entities, imported.remarks, seen)]
    located, others = ([snippet for snippet, has_span in read if has_span is wanted] for wanted in (True, False))
    place_snippets(imported, located, others)
    imported.entities = list(entities)


def _read_snippets(
    path: Path, entities: Entities, remarks: list[Remark], seen: set[str]
) -> Iterator[tuple[Snippet, bool]]:
    """Yields each mention under the subset and the name of its id, and whether its span could be located.

    A mention without a span becomes no snippet, but its entity still belongs to its space.
    """
    for line, document in read_lines(path, ZeldaLine):
        document.check(path, line)
        subset, name = document.parse_id()
        # Without an id of ours the line number is used instead of the id, because two lines may have the same id.
        line_id = document.document or f"zelda-{path.stem}-{line:04d}"
        if line_id in seen:
            line_id = f"{line_id}~{line}"
        seen.add(line_id)
        several = len(document.index) > 1
        for number, (start, end) in enumerate(document.index):
            snippet_id = f"{line_id}#{number}" if several else line_id
            entity = document.entity(number)
            title = None
            if entity is not None and not is_nil(entity):
                title = entities.add(entity, document.wikipedia_ids[number], snippet_id)
            elif subset != "neutral":
                remarks.append(Remark("kept", NOT_GOLD, snippet_id))
            span = Span(start, end)
            checked = repair_span(document.text, name, span) if name is not None else check_span(document.text, span)
            if checked.problem:
                words = f"{name!r} " if name is not None else ""
                remarks.append(Remark(checked.action, checked.problem, snippet_id, f"{words}[{start}, {end}]"))
            document_id = line_id if several else None
            snippet = Snippet(snippet_id, subset, document.text, *(checked.span or span), name, title)
            template = document.templates[number] if document.templates else None
            yield replace(snippet, document=document_id, template=template), checked.span is not None


def read_documents(path: Path, *, predicted: bool = False) -> Iterator[AnnotatedDocument]:
    """Reads the documents of a file; predictions are written like gold."""
    for number, line in read_lines(path, ZeldaLine):
        line.check(path, number)
        mentions = []
        for position, (start, end) in enumerate(line.index):
            entity = line.entity(position)
            fields = parse_reference(entity) if entity is not None else {}
            fields |= drop_missing({"page_id": line.wikipedia_ids[position]})
            mentions.append(Mention(start, end, score=line.scores[position] if line.scores else None, **fields))
        yield AnnotatedDocument(
            line.document if line.document is not None else str(line.id), line.text, tuple(mentions)
        )


def encode_documents(documents: Iterable[AnnotatedDocument], *, predicted: bool = False) -> Iterator[str]:
    """Writes documents as ZELDA's lines, with ids that contain the subset and the name."""
    for document in documents:
        titles = [NIL if mention.nil else mention.reference or None for mention in document.mentions]
        line: dict[str, object] = {
            "id": _make_id(document),
            "text": document.text,
            "index": [[mention.start, mention.end] for mention in document.mentions],
            "wikipedia_ids": [mention.page_id for mention in document.mentions],
            "wikipedia_titles": titles,
            "document": document.id,
        }
        for field in ("score", "template"):
            values = [getattr(mention, field) for mention in document.mentions]
            if any(value is not None for value in values):
                line[f"{field}s"] = values
        yield encode_lines([line]).decode()


def _make_id(document: AnnotatedDocument) -> str:
    first = next(iter(document.gold or document.mentions), None)
    if document.subset == "tail" and first is not None:
        return f"Tail: {document.text[first.start : first.end]}"
    if document.subset in {"top", "shadow", "neutral"} and first is not None and first.space is not None:
        return f"{document.subset.capitalize()}: {first.space}"
    return document.id
