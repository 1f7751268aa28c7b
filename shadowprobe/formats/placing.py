"""Puts imported snippets into the subsets that their file or id names, and makes the spaces that these need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from shadowprobe.base.model import EntitySpace, Snippet, Subset
from shadowprobe.formats.imported import Imported, Remark

# How `export` names its files; some formats require a second suffix.
_EXPORTED = re.compile(rf"(?P<name>.+)-(?P<subset>{'|'.join(get_args(Subset))})(?:\.benchmark)?")


def parse_export_names(files: Sequence[Path]) -> tuple[str, dict[Path, Subset]] | None:
    """Returns the dataset's name and the subset of each file, if the files are named as one export names them."""
    matches = [_EXPORTED.fullmatch(file.stem) for file in files]
    names = {match["name"] for match in matches if match}
    if None in matches or len(names) != 1:
        return None
    subsets = {file: match["subset"] for file, match in zip(files, matches, strict=True) if match}
    return names.pop(), subsets  # type: ignore[return-value]


def place_snippets(imported: Imported, snippets: Iterable[Snippet], unlocated: Iterable[Snippet] = ()) -> None:
    """Puts each snippet into its subset, or into `all` if it does not fit there.

    `unlocated` are mentions without a valid span. They become no snippets, but their entities belong to the spaces.
    """
    snippets = list(snippets)
    imported.spaces = _make_spaces([*snippets, *unlocated])
    spaces = {space.name: space for space in imported.spaces}
    for snippet in snippets:
        subset, name = snippet.subset, snippet.space
        space = spaces.get(name) if name is not None and subset != "tail" else None
        if why := _explain_misfit(snippet, space):
            imported.remarks.append(Remark("repaired", why, snippet.id, f"{name!r}"))
            subset, space = "all", None
        placed = replace(snippet, subset=subset, space=space.name if space else None)
        imported.snippets.setdefault(subset, []).append(placed)


def _explain_misfit(snippet: Snippet, space: EntitySpace | None) -> str:
    """Says why a snippet cannot be in the subset that its file or id names; empty if it can."""
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
