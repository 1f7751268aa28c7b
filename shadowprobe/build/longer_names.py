"""Drops mentions that are part of a longer name of another entity, as "Berlin" in "Berlin Wall" or "Berlin, Ohio"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from shadowprobe.base.prose import OPENING, plain
from shadowprobe.build.qualifiers import list_names
from shadowprobe.build.record_index import KeyIndex, digest
from shadowprobe.build.sorted_texts import SortedTexts
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.dataset.kept_pages import Cut

LONGER_NAME = "part of a longer name that the wiki knows"
# The number of words on each side: "Berlin Brandenburg Airport" has two words more than "Berlin".
_MOST_WORDS = 2
# No title of a wiki has more bytes.
_LONGEST_TITLE = 255
_WORD = r"[^\W_]+(?:[-.&'’][^\W_]+)*"
# The full stop of "St." is part of a name.
_BEFORE = re.compile(rf"{_WORD}\.?")
_AFTER = re.compile(rf"[^\S\n]+(?P<word>{_WORD})")
# A qualifier that the page gives: "Berlin, New Hampshire", "Berlin (band)".
_COMMA, _IN_BRACKETS = re.compile(r",(?=[^\S\n])"), re.compile(r"[^\S\n]+\((?P<inner>[^()\n]{1,80})\)")
# The number of words of a qualifier after a comma: "New South Wales" has three.
_MOST_QUALIFIERS = 3
_POSSESSIVE = re.compile(r"['’][sS]$")


class LongerNames:
    """The names around the mentions of snippets, and the pages of the wiki to which they lead.

    All names are collected before the wiki is asked, so that each is looked up once. A name that the wiki knows takes
    16 bytes, and the others are only on disk.
    """

    def __init__(self, directory: Path) -> None:
        self._names = SortedTexts(directory)
        self._titles = KeyIndex(())

    def close(self) -> None:
        """Removes the names that are on disk."""
        self._names.close()

    def add(self, cut: Cut) -> None:
        """Adds the longer names of a snippet."""
        self._names.add(list_longer_names(cut))

    def look_up(self, wiki: Wiki, progress: Callable[[int, int], None] = lambda done, total: None) -> None:
        """Looks all names up in the wiki."""
        self._titles = KeyIndex(self._find_titles(wiki, progress))

    def _find_titles(self, wiki: Wiki, progress: Callable[[int, int], None]) -> Iterator[tuple[int, int]]:
        """Yields the digests of each name that the wiki knows, and of the title of its page."""
        total = self._names.count()
        for done, (name, page) in enumerate(wiki.follow_titles(self._names), start=1):
            if "pageid" in page:
                yield digest(name), digest(page["title"])
            progress(done, total)

    def mean_another(self, cut: Cut) -> bool:
        """True if a mention is part of a name that belongs to another page of the wiki.

        A longer name that leads to the entity itself, as "President Lincoln" may do, is allowed.
        """
        entity = digest(cut.entity)
        return any(title != entity for name in list_longer_names(cut) for title in self._titles.find(digest(name)))


def list_longer_names(cut: Cut) -> set[str]:
    """Lists the names that the entity's name forms with the words and the qualifier around a mention."""
    own = {plain(name): name for name in list_names(cut.entity, cut.space)}
    names: set[str] = set()
    for start, written in ((cut.start, cut.written), *cut.also):
        name, end = own[plain(written)], start + len(cut.space)
        before, after = _find_words_before(cut.text[:start]), _find_words_after(cut.text, end, _MOST_WORDS)
        names.update(
            " ".join([*before[first:], name, *after[:last]])
            for first in range(len(before) + 1)
            for last in range(len(after) + 1)
        )
        names.update(f"{name}{qualifier}" for qualifier in _find_qualifiers(cut.text, end))
    return {name for name in names.difference(own.values()) if len(name.encode()) <= _LONGEST_TITLE}


def _find_words_before(text: str) -> list[str]:
    """Returns the words with a capital letter at the end of a text."""
    words: list[str] = []
    while len(words) < _MOST_WORDS and text[-1:].isspace():
        token = "".join(text.rsplit(maxsplit=1)[-1:])
        word = token.lstrip(OPENING)
        if not word[:1].isupper() or not _BEFORE.fullmatch(word):
            break
        words.insert(0, word)
        text = text.rstrip()[: -len(token)] if word == token else ""
    return words


def _find_qualifiers(text: str, position: int) -> list[str]:
    """Returns what follows a position and may be the qualifier of a title."""
    if brackets := _IN_BRACKETS.match(text, position):
        return [f" ({brackets['inner'].strip()})"]
    if comma := _COMMA.match(text, position):
        words = _find_words_after(text, comma.end(), _MOST_QUALIFIERS)
        return [f", {' '.join(words[:last])}" for last in range(1, len(words) + 1)]
    return []


def _find_words_after(text: str, position: int, most: int) -> list[str]:
    """Returns the words with a capital letter, and the numbers, that follow a position in a text."""
    words: list[str] = []
    while len(words) < most and (match := _AFTER.match(text, position)):
        word = _POSSESSIVE.sub("", match["word"])
        if not (word[0].isupper() or word[0].isdigit()):
            break
        words.append(word)
        position = match.end() if word == match["word"] else len(text)
    return words
