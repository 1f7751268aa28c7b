"""Checks the hand-written source files of the `mini` dataset against the rules of data/README.md."""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

KINDS = ("person", "place", "organisation", "work", "species", "product", "team", "event", "ship", "concept")
MARK = re.compile(r"\[\[(.+?)\]\]")
MIN_WORDS, MAX_WORDS = 15, 45
SHARED_RUN = 6


def words(text: str) -> list[str]:
    """The words of a text, lower case, without punctuation."""
    return re.findall(r"\w+", text.lower())


def plain(marked: str) -> str:
    """The text of a snippet without the brackets around its mention."""
    return MARK.sub(r"\1", marked)


def runs(text: str, length: int = SHARED_RUN) -> set[tuple[str, ...]]:
    """Every run of `length` consecutive words of a text."""
    found = words(text)
    return {tuple(found[i : i + length]) for i in range(len(found) - length + 1)}


def has_word(text: str, phrase: str) -> bool:
    """True where a phrase stands in a text as whole words."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def base_name(title: str) -> str:
    """A title without its bracketed qualifier."""
    return re.sub(r"\s*\([^)]*\)$", "", title)


def snippet_faults(name: str, title: str, marked: str) -> Iterator[str]:
    """What is wrong with one snippet."""
    marks = list(MARK.finditer(marked))
    if len(marks) != 1 or marks[0].group(1) != name:
        yield f"must mark [[{name}]] exactly once: {marked[:60]!r}"
        return
    before, after = marked[: marks[0].start()][-1:], marked[marks[0].end() :][:1]
    if before.isalnum() or after.isalnum():
        yield f"the mention touches a letter or digit: {marked[:60]!r}"
    text = plain(marked)
    count = len(text.split())
    if not MIN_WORDS <= count <= MAX_WORDS:
        yield f"has {count} words, not {MIN_WORDS} to {MAX_WORDS}: {marked[:60]!r}"
    full = base_name(title)
    if title != name and (title in text or (full != name and has_word(text, full))):
        yield f"gives its entity away by the full title {title!r}: {marked[:60]!r}"
    if text != text.strip() or "  " in text or "\n" in text:
        yield f"has stray white space: {marked[:60]!r}"


def entity_faults(name: str, entity: dict[str, Any]) -> Iterator[str]:
    """What is wrong with one entity of a space, or of the tail."""
    title = entity.get("title", "?")
    unknown = set(entity) - {
        "title",
        "name",
        "kind",
        "description",
        "redirects",
        "qid",
        "page_id",
        "snippets",
    }
    if unknown:
        yield f"{title}: unknown fields {sorted(unknown)}"
    if entity.get("kind") not in KINDS:
        yield f"{title}: kind {entity.get('kind')!r} is not one of {', '.join(KINDS)}"
    if not has_word(title, name):
        yield f"{title}: the title does not contain the name {name!r}"
    description = entity.get("description", "")
    if not 8 <= len(description.split()) <= 60:
        yield f"{title}: description has {len(description.split())} words, not 8 to 60"
    snippets = entity.get("snippets", [])
    if len(snippets) < 2:
        yield f"{title}: fewer than two snippets"
    for snippet in snippets:
        for fault in snippet_faults(name, title, snippet):
            yield f"{title}: {fault}"
        shared = runs(plain(snippet)) & runs(description)
        if shared:
            yield f"{title}: description and snippet share the words {' '.join(min(shared))!r}"
    if len(snippets) >= 2:
        # A long title may fill a run by itself, and stands in both.
        shared = runs(MARK.sub("|", snippets[0])) & runs(MARK.sub("|", snippets[1]))
        if shared:
            yield f"{title}: two snippets share the words {' '.join(min(shared))!r}"


def file_faults(data: dict[str, Any]) -> Iterator[str]:
    """What is wrong with one source file."""
    for space in data.get("space", []):
        entities = space.get("entity", [])
        if not 2 <= len(entities) <= 4:
            yield f"{space['name']}: has {len(entities)} entities, not 2 to 4"
        for entity in entities:
            yield from entity_faults(space["name"], entity)
    for entity in data.get("tail", []):
        yield from entity_faults(entity.get("name", base_name(entity["title"])), entity)


def summary(data: dict[str, Any]) -> str:
    """The counts of one source file, in a line."""
    spaces, tail = data.get("space", []), data.get("tail", [])
    entities = [entity for space in spaces for entity in space["entity"]]
    named = [(space["name"], s) for space in spaces for e in space["entity"] for s in e["snippets"]]
    starts = sum(s.startswith("[[") for _, s in named)
    ends = sum(len(words(s.rpartition("]]")[2])) <= 3 for _, s in named)
    twice = sum(plain(s).count(name) > 1 for name, s in named)
    kinds = Counter(entity["kind"] for entity in entities)
    return (
        f"{len(spaces)} spaces, {len(entities)} entities, {len(named)} snippets"
        f" (mention first in {starts}, last in {ends}, name twice in {twice}), {len(tail)} tail; {dict(kinds)}"
    )


def check_files(paths: Iterable[Path]) -> int:
    """Prints a line for each fault and one of counts for each file; returns the number of faults."""
    faults = 0
    seen: dict[str, Path] = {}
    for path in paths:
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            print(f"{path}: {error}")
            faults += 1
            continue
        found = list(file_faults(data))
        titles = [e["title"] for s in data.get("space", []) for e in s["entity"]]
        titles += [e["title"] for e in data.get("tail", [])]
        names = [f"space {s['name']}" for s in data.get("space", [])]
        for title in titles + names:
            if title in seen:
                found.append(f"{title} stands twice (also in {seen[title].name})")
            seen[title] = path
        for fault in found:
            print(f"{path}: {fault}")
        faults += len(found)
        print(f"{path.name}: {summary(data)}")
    print(f"{faults} faults")
    return faults


if __name__ == "__main__":
    sys.exit(1 if check_files(map(Path, sys.argv[1:])) else 0)
