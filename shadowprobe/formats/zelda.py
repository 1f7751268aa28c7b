"""ZELDA's JSONL: one document a line, with its mentions, page ids and titles.

Milich and Akbik, 2023, https://github.com/flairNLP/zelda. Documents of its ShadowLink copy are called "Top: NAME",
"Shadow: NAME" and "Tail: NAME" and keep their subsets and spaces, and the name tells whether a span is right; those of
every other set go into the subset `all`.

Our exports are called the same way, neutral contexts "Neutral: NAME", with their own id as `document`. Where ZELDA has
a page id and a title, a title alone will do, and neither, or a title of `NIL`, is a mention without an entity; in
predictions `NIL` is an answer, and no title is none. Scores go out as `scores`; candidates, QIDs and the numbers of
templates are lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from shadowprobe.dataset import Card
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.documents import NOT_GOLD, Document, Mention, named, reference
from shadowprobe.formats.imported import Entities, Imported, Name, PageId, Remark
from shadowprobe.formats.spans import Span, mend, tidy
from shadowprobe.identity import is_nil
from shadowprobe.jsonl import encode_lines, read_lines
from shadowprobe.model import EntitySpace, Snippet, Subset

SUFFIX = ".jsonl"
TITLE = "ZELDA"
SOURCE = "https://github.com/flairNLP/zelda"
NIL = "NIL"
_NAMED = re.compile(r"(Top|Shadow|Tail|Neutral): (.+)", re.DOTALL)


class Line(Struct):
    """A line of a ZELDA file."""

    id: str | int
    text: str
    index: list[tuple[int, int]]
    wikipedia_ids: list[PageId | None]
    wikipedia_titles: list[Name | None]
    document: str | None = None
    scores: list[float | None] | None = None

    def check(self, path: Path, line: int) -> None:
        """Refuses a line whose lists do not belong together."""
        if not len(self.index) == len(self.wikipedia_ids) == len(self.wikipedia_titles):
            raise InputError(path, "index, wikipedia_ids and wikipedia_titles differ in length", line=line)
        if self.scores is not None and len(self.scores) != len(self.index):
            raise InputError(path, "index and scores differ in length", line=line, field="scores")

    def entity(self, number: int) -> str | None:
        """What a mention is said to be: a title, or `curid:` and a page id."""
        return reference(self.wikipedia_titles[number], self.wikipedia_ids[number]) or None

    def called(self) -> tuple[Subset, str | None]:
        """The subset and the name that the id tells."""
        told = _NAMED.fullmatch(str(self.id))
        # ZELDA has no neutral contexts; ours have an id of their own.
        if told is None or (told[1] == "Neutral" and self.document is None):
            return "all", None
        return told[1].lower(), told[2]  # type: ignore[return-value]


class _Mention(Struct):
    """A mention on its way into the dataset."""

    snippet_id: str
    document: str | None
    subset: Subset
    name: str | None
    text: str
    span: Span | None
    gold: str | None


def read(paths: Sequence[Path]) -> Imported:
    """Reads one or more ZELDA files."""
    paths = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    if not paths:
        raise UsageError("import zelda takes one or more JSONL files, or a directory that holds them")
    if twice := [stem for stem, count in Counter(path.stem for path in paths).items() if count > 1]:
        # The ids of the snippets are made from it.
        raise UsageError(f"two files are called {twice[0]}: give each once, under a name of its own")
    imported = Imported(
        Card(
            name="zelda",
            title=f"{TITLE}: " + ", ".join(path.stem for path in paths),
            source=SOURCE,
            made="shadowprobe import zelda; `repairs` lists what was not taken as it stood",
        )
    )
    entities = Entities(imported.remarks)
    mentions = [mention for path in paths for mention in _mentions(path, entities, imported.remarks)]
    imported.spaces = _spaces(mentions)
    tops = {space.name: space for space in imported.spaces}
    for mention in mentions:
        if mention.span is None:
            continue
        space = tops.get(mention.name) if mention.name is not None and mention.subset != "tail" else None
        subset = mention.subset
        if why := _homeless(mention, space):
            imported.remarks.append(Remark("repaired", why, mention.snippet_id, f"{mention.name!r}"))
            subset, space = "all", None
        imported.snippets.setdefault(subset, []).append(
            Snippet(
                id=mention.snippet_id,
                subset=subset,
                text=mention.text,
                start=mention.span.start,
                end=mention.span.end,
                space=space.name if space else None,
                gold=mention.gold,
                document=mention.document,
            )
        )
    imported.entities = list(entities)
    imported.remark_contradictions()
    return imported


def _homeless(mention: _Mention, space: EntitySpace | None) -> str:
    """Why a mention has no place in the subset that its name tells, if it has none."""
    if mention.subset == "neutral":
        if mention.gold is not None:
            return "neutral context with an entity put into `all`"
        return "neutral context of an unknown name put into `all`" if space is None else ""
    if mention.gold is None and mention.subset != "all":
        return "mention without an entity put into `all`"
    if mention.subset == "top" and space is not None and mention.gold != space.top:
        return "second Top of a name put into `all`"
    # Without the Top line of its name there is no space that it could be a shadow of.
    if mention.subset == "shadow" and (space is None or mention.gold not in space.shadows):
        return "Shadow without its Top put into `all`"
    return ""


def _spaces(mentions: list[_Mention]) -> list[EntitySpace]:
    shadows: dict[str | None, list[str]] = {}
    for mention in mentions:
        if mention.subset == "shadow" and mention.gold is not None:
            shadows.setdefault(mention.name, []).append(mention.gold)
    spaces: dict[str, EntitySpace] = {}
    for mention in mentions:
        if mention.subset == "top" and mention.gold and mention.name is not None and mention.name not in spaces:
            others = [gold for gold in shadows.get(mention.name, []) if gold != mention.gold]
            spaces[mention.name] = EntitySpace(mention.name, tuple(dict.fromkeys([mention.gold, *others])))
    return list(spaces.values())


def _mentions(path: Path, entities: Entities, remarks: list[Remark]) -> Iterator[_Mention]:
    for line, document in read_lines(path, Line):
        document.check(path, line)
        subset, name = document.called()
        # Not by its id, which two lines may share.
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
            mended = mend(document.text, name, span) if name is not None else tidy(document.text, span)
            if mended.problem:
                words = f"{name!r} " if name is not None else ""
                remarks.append(Remark(mended.action, mended.problem, snippet_id, f"{words}[{start}, {end}]"))
            # One without a span is no snippet, but what it says of its space still holds.
            whole = line_id if several else None
            yield _Mention(snippet_id, whole, subset, name, document.text, mended.span, title)


def documents(path: Path) -> Iterator[Document]:
    """The documents of a file with their entities, gold or predicted."""
    for number, line in read_lines(path, Line):
        line.check(path, number)
        mentions = []
        for place, (start, end) in enumerate(line.index):
            entity, page_id = line.entity(place), line.wikipedia_ids[place]
            fields = named(entity) if entity is not None else {}
            fields = fields if page_id is None else {**fields, "page_id": page_id}
            mentions.append(Mention(start, end, score=line.scores[place] if line.scores else None, **fields))
        yield Document(line.document if line.document is not None else str(line.id), line.text, tuple(mentions))


def lines(found: Iterable[Document]) -> Iterator[str]:
    """Documents as ZELDA's lines, with ids that tell the subset and the name."""
    for document in found:
        titles = [NIL if mention.nil else _title(mention) for mention in document.mentions]
        line = {
            "id": _name(document),
            "text": document.text,
            "index": [[mention.start, mention.end] for mention in document.mentions],
            "wikipedia_ids": [mention.page_id for mention in document.mentions],
            "wikipedia_titles": titles,
            "document": document.id,
        }
        scores = [mention.score for mention in document.mentions]
        said = {"scores": scores} if any(score is not None for score in scores) else {}
        yield encode_lines([{**line, **said}]).decode()


def _title(mention: Mention) -> str | None:
    return reference(mention.title, mention.page_id, mention.qid) or None


def _name(document: Document) -> str:
    if document.subset == "tail" and document.mentions:
        first = document.mentions[0]
        return f"Tail: {document.text[first.start : first.end]}"
    if document.subset in {"top", "shadow", "neutral"} and document.space is not None:
        return f"{document.subset.capitalize()}: {document.space}"
    return document.id
