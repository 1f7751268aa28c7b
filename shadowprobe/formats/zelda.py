"""ZELDA's JSONL: one document a line, with its mentions, page ids and titles.

Milich and Akbik, 2023, https://github.com/flairNLP/zelda. Documents of its ShadowLink copy are called "Top: NAME",
"Shadow: NAME" and "Tail: NAME" and keep their subsets and spaces, and the name tells whether a span is right; those of
every other set go into the subset `all`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from shadowprobe.dataset import Card
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.imported import Entities, Imported, Name, PageId, Remark
from shadowprobe.formats.spans import Mended, Span, mend, trim
from shadowprobe.jsonl import read_lines
from shadowprobe.model import EntitySpace, Snippet, Subset

_NAMED = re.compile(r"(Top|Shadow|Tail): (.+)", re.DOTALL)


class Document(Struct):
    """A line of a ZELDA file."""

    id: str | int
    text: str
    index: list[tuple[int, int]]
    wikipedia_ids: list[PageId]
    wikipedia_titles: list[Name]


class _Mention(Struct):
    """A mention on its way into the dataset."""

    snippet_id: str
    subset: Subset
    name: str | None
    text: str
    span: Span | None
    gold: str


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
            title="ZELDA: " + ", ".join(path.stem for path in paths),
            source="https://github.com/flairNLP/zelda",
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
            )
        )
    imported.entities = list(entities)
    imported.remark_contradictions()
    return imported


def _homeless(mention: _Mention, space: EntitySpace | None) -> str:
    """Why a Top or Shadow mention has no place in a space, if it has none."""
    if mention.subset == "top" and space is not None and mention.gold != space.top:
        return "second Top of a name put into `all`"
    # Without the Top line of its name there is no space that it could be a shadow of.
    if mention.subset == "shadow" and (space is None or mention.gold not in space.shadows):
        return "Shadow without its Top put into `all`"
    return ""


def _spaces(mentions: list[_Mention]) -> list[EntitySpace]:
    shadows: dict[str | None, list[str]] = {}
    for mention in mentions:
        if mention.subset == "shadow":
            shadows.setdefault(mention.name, []).append(mention.gold)
    spaces: dict[str, EntitySpace] = {}
    for mention in mentions:
        if mention.subset == "top" and mention.name is not None and mention.name not in spaces:
            others = [gold for gold in shadows.get(mention.name, []) if gold != mention.gold]
            spaces[mention.name] = EntitySpace(mention.name, tuple(dict.fromkeys([mention.gold, *others])))
    return list(spaces.values())


def _mentions(path: Path, entities: Entities, remarks: list[Remark]) -> Iterator[_Mention]:
    for line, document in read_lines(path, Document):
        if not len(document.index) == len(document.wikipedia_ids) == len(document.wikipedia_titles):
            raise InputError(path, "index, wikipedia_ids and wikipedia_titles differ in length", line=line)
        named = _NAMED.fullmatch(str(document.id))
        subset: Subset = named[1].lower() if named else "all"  # type: ignore[assignment]
        for number, (start, end) in enumerate(document.index):
            suffix = f"#{number}" if len(document.index) > 1 else ""
            snippet_id = f"zelda-{path.stem}-{line:04d}{suffix}"
            title = entities.add(document.wikipedia_titles[number], document.wikipedia_ids[number], snippet_id)
            name = named[2] if named else None
            mended = _mend(document.text, name, Span(start, end))
            if mended.problem:
                words = f"{name!r} " if name is not None else ""
                remarks.append(Remark(mended.action, mended.problem, snippet_id, f"{words}[{start}, {end}]"))
            # One without a span is no snippet, but what it says of its space still holds.
            yield _Mention(snippet_id, subset, name, document.text, mended.span, title)


def _mend(text: str, name: str | None, span: Span) -> Mended:
    """The span made right by its name, or, where nothing tells the name, as far as that can be seen from outside."""
    if name is not None:
        return mend(text, name, span)
    if not 0 <= span.start < span.end <= len(text):
        return Mended(None, "offset outside the text")
    trimmed = trim(text, span)
    if trimmed == span:
        return Mended(span)
    if trimmed.start == trimmed.end:
        return Mended(None, "span of nothing but white space")
    return Mended(trimmed, "white space in the span", moved=True)
