"""Drops mentions that are part of a longer name of another entity, as "Berlin" in "Berlin Wall" or "Berlin, Ohio"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from shadowprobe.base.prose import OPENING, plain
from shadowprobe.build.qualifiers import list_names
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


def drop_longer_names(
    cuts: Iterable[Cut],
    wiki: Wiki,
    dropped: Counter[str],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Cut]:
    """Drops the snippets in which a mention is part of a name that belongs to another page of the wiki.

    A longer name that leads to the entity itself, as "President Lincoln" may do, is allowed.
    """
    candidates = [(cut, list_longer_names(cut)) for cut in cuts]
    names = sorted({name for _, longer in candidates for name in longer})
    titles: dict[str, str] = {}
    for done, (name, page) in enumerate(wiki.follow_titles(names), start=1):
        if "pageid" in page and not page.get("missing"):
            titles[name] = page["title"]
        progress(done, len(names))
    kept = [cut for cut, longer in candidates if all(titles.get(name, cut.entity) == cut.entity for name in longer)]
    if len(kept) < len(candidates):
        dropped[LONGER_NAME] += len(candidates) - len(kept)
    return kept


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
