"""Mentions that are part of a longer name of something else, as "Berlin" is in "Berlin Wall"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from shadowprobe.build.records import Cut
from shadowprobe.build.text import OPENING
from shadowprobe.build.wiki import Wiki

LONGER_NAME = "part of a longer name that the wiki knows"
# So many words on each side: "Berlin Brandenburg Airport" is two longer than "Berlin".
_MOST = 2
# No title of a wiki has more bytes.
_LONGEST = 255
_WORD = r"[^\W_]+(?:[-.&'’][^\W_]+)*"
# "St." has its point within a name.
_BEFORE = re.compile(rf"{_WORD}\.?")
_BEHIND = re.compile(rf"[^\S\n]+(?P<word>{_WORD})")
_POSSESSIVE = re.compile(r"['’][sS]$")


def without_longer_names(
    cuts: Iterable[Cut],
    wiki: Wiki,
    dropped: Counter[str],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Cut]:
    """The snippets without those in which a mention is part of a name that means another page to the wiki.

    A longer name that leads to the entity itself, as "President Lincoln" may, is one of its own.
    """
    found = [(cut, longer_names(cut)) for cut in cuts]
    asked = sorted({name for _, names in found for name in names})
    meant: dict[str, str] = {}
    for done, (name, page) in enumerate(wiki.resolved(asked), start=1):
        if "pageid" in page and not page.get("missing"):
            meant[name] = page["title"]
        progress(done, len(asked))
    kept = [cut for cut, names in found if all(meant.get(name, cut.entity) == cut.entity for name in names)]
    if len(kept) < len(found):
        dropped[LONGER_NAME] += len(found) - len(kept)
    return kept


def longer_names(cut: Cut) -> set[str]:
    """The names that the entity's makes with the words right before and behind a mention that could belong to it."""
    found: set[str] = set()
    for start in (cut.start, *(start for start, _ in cut.also)):
        before, behind = _before(cut.text[:start]), _behind(cut.text, start + len(cut.space))
        names = (
            " ".join([*before[first:], cut.entity, *behind[:last]])
            for first in range(len(before) + 1)
            for last in range(len(behind) + 1)
        )
        found.update(names)
    return {name for name in found - {cut.entity} if len(name.encode()) <= _LONGEST}


def _before(text: str) -> list[str]:
    """The words with a capital letter at the end of a text."""
    words: list[str] = []
    while len(words) < _MOST and text[-1:].isspace():
        token = "".join(text.rsplit(maxsplit=1)[-1:])
        word = token.lstrip(OPENING)
        if not word[:1].isupper() or not _BEFORE.fullmatch(word):
            break
        words.insert(0, word)
        text = text.rstrip()[: -len(token)] if word == token else ""
    return words


def _behind(text: str, place: int) -> list[str]:
    """The words with a capital letter, and the numbers, that follow a place in a text."""
    words: list[str] = []
    while len(words) < _MOST and (match := _BEHIND.match(text, place)):
        word = _POSSESSIVE.sub("", match["word"])
        if not (word[0].isupper() or word[0].isdigit()):
            break
        words.append(word)
        place = match.end() if word == match["word"] else len(text)
    return words
