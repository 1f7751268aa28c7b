"""ZELDA's JSONL: one document per line, with its mentions, page ids and titles.

Milich and Akbik, 2023, https://github.com/flairNLP/zelda. Documents of its ShadowLink copy are called "Top: NAME",
"Shadow: NAME" and "Tail: NAME". They keep their subsets and spaces, and their spans are checked against the name.
Documents of all other sets go into the subset `all`.

Our exports use the same names, and "Neutral: NAME" for neutral contexts, with our own id as `document`. ZELDA has a
page id and a title for each mention; we also read a title alone. In gold, a mention with neither, or with the title
`NIL`, has no entity. In predictions `NIL` is an answer, and no title is no answer. Scores are written as `scores`.
Candidates, QIDs and the numbers of templates are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from shadowprobe.base.identity import is_nil
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.base.model import EntitySpace, Snippet, Subset
from shadowprobe.base.spans import Span, check_span, repair_span
from shadowprobe.errors import InputError
from shadowprobe.formats.documents import (
    NOT_GOLD,
    AnnotatedDocument,
    Mention,
    drop_missing,
    make_reference,
    parse_reference,
)
from shadowprobe.formats.imported import Entities, Imported, Name, PageId, Remark

SUFFIX = ".jsonl"
TITLE = "ZELDA"
SOURCE = "https://github.com/flairNLP/zelda"
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

    def check(self, path: Path, line: int) -> None:
        """Refuses a line whose lists differ in length."""
        if not len(self.index) == len(self.wikipedia_ids) == len(self.wikipedia_titles):
            raise InputError(path, "index, wikipedia_ids and wikipedia_titles differ in length", line=line)
        if self.scores is not None and len(self.scores) != len(self.index):
            raise InputError(path, "index and scores differ in length", line=line, field="scores")

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
    imported.card.name = "zelda"
    entities = Entities(imported.remarks)
    read = [pair for file in files for pair in _read_snippets(file, entities, imported.remarks)]
    imported.spaces = _make_spaces([snippet for snippet, _ in read])
    spaces = {space.name: space for space in imported.spaces}
    for snippet, has_span in read:
        if not has_span:
            continue
        subset, name = snippet.subset, snippet.space
        space = spaces.get(name) if name is not None and subset != "tail" else None
        if why := _explain_misfit(snippet, space):
            imported.remarks.append(Remark("repaired", why, snippet.id, f"{name!r}"))
            subset, space = "all", None
        placed = replace(snippet, subset=subset, space=space.name if space else None)
        imported.snippets.setdefault(subset, []).append(placed)
    imported.entities = list(entities)


def _explain_misfit(snippet: Snippet, space: EntitySpace | None) -> str:
    """Says why a snippet cannot be in the subset that its id names; empty if it can."""
    if snippet.subset == "neutral":
        if snippet.gold is not None:
            return "neutral context with an entity put into `all`"
        return "neutral context of an unknown name put into `all`" if space is None else ""
    if snippet.gold is None and snippet.subset != "all":
        return "mention without an entity put into `all`"
    if snippet.subset == "top" and space is not None and snippet.gold != space.top:
        return "second Top of a name put into `all`"
    # Without the Top line of its name there is no space in which it could be a shadow.
    if snippet.subset == "shadow" and (space is None or snippet.gold not in space.shadows):
        return "Shadow without its Top put into `all`"
    return ""


def _make_spaces(snippets: list[Snippet]) -> list[EntitySpace]:
    shadows: dict[str | None, list[str]] = {}
    for snippet in snippets:
        if snippet.subset == "shadow" and snippet.gold is not None:
            shadows.setdefault(snippet.space, []).append(snippet.gold)
    spaces: dict[str, EntitySpace] = {}
    for snippet in snippets:
        if snippet.subset == "top" and snippet.gold and snippet.space is not None and snippet.space not in spaces:
            others = [gold for gold in shadows.get(snippet.space, []) if gold != snippet.gold]
            spaces[snippet.space] = EntitySpace(snippet.space, tuple(dict.fromkeys([snippet.gold, *others])))
    return list(spaces.values())


def _read_snippets(path: Path, entities: Entities, remarks: list[Remark]) -> Iterator[tuple[Snippet, bool]]:
    """Yields each mention under the subset and the name of its id, and whether its span could be located.

    A mention without a span becomes no snippet, but its entity still belongs to its space.
    """
    for line, document in read_lines(path, ZeldaLine):
        document.check(path, line)
        subset, name = document.parse_id()
        # The line number is used instead of the id, because two lines may have the same id.
        line_id = f"zelda-{path.stem}-{line:04d}"
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
            yield replace(snippet, document=document_id), checked.span is not None


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
        scores = [mention.score for mention in document.mentions]
        if any(score is not None for score in scores):
            line["scores"] = scores
        yield encode_lines([line]).decode()


def _make_id(document: AnnotatedDocument) -> str:
    if document.subset == "tail" and document.mentions:
        first = document.mentions[0]
        return f"Tail: {document.text[first.start : first.end]}"
    if document.subset in {"top", "shadow", "neutral"} and document.space is not None:
        return f"{document.subset.capitalize()}: {document.space}"
    return document.id
