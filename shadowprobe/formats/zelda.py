"""ZELDA's JSONL: one document a line, with its mentions, page ids and titles.

Milich and Akbik, 2023, https://github.com/flairNLP/zelda. Documents of its ShadowLink copy are called "Top: NAME",
"Shadow: NAME" and "Tail: NAME" and keep their subsets and spaces; those of every other set go into the subset `all`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from shadowprobe.dataset import Card
from shadowprobe.errors import InputError, UsageError
from shadowprobe.formats.imported import Entities, Imported, Remark
from shadowprobe.formats.spans import Span
from shadowprobe.jsonl import read_lines
from shadowprobe.model import EntitySpace, Snippet, Subset

_NAMED = re.compile(r"(Top|Shadow|Tail): (.+)", re.DOTALL)


class Document(Struct):
    """A line of a ZELDA file."""

    id: str | int
    text: str
    index: list[tuple[int, int]]
    wikipedia_ids: list[int]
    wikipedia_titles: list[str]


class _Mention(Struct):
    """A mention on its way into the dataset."""

    snippet_id: str
    subset: Subset
    name: str | None
    text: str
    span: Span
    gold: str


def read(paths: Sequence[Path]) -> Imported:
    """Reads one or more ZELDA files."""
    if not paths:
        raise UsageError("import zelda takes one or more JSONL files")
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
        space = tops.get(mention.name) if mention.name is not None and mention.subset != "tail" else None
        subset = mention.subset
        if subset == "shadow" and (space is None or mention.gold not in space.shadows):
            # Without the Top line of its name there is no space that it could be a shadow of.
            imported.remarks.append(Remark("repaired", "Shadow without its Top put into `all`", mention.snippet_id))
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
    return imported


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
            if not 0 <= start < end <= len(document.text):
                remarks.append(Remark("dropped", "offset outside the text", snippet_id, f"[{start}, {end}]"))
                continue
            name = named[2] if named else None
            yield _Mention(snippet_id, subset, name, document.text, Span(start, end), title)
