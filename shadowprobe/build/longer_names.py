"""Drops mentions that are part of a longer name of another entity, as "Berlin" in "Berlin Wall"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from shadowprobe.base.prose import OPENING
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
    """Lists the names that the entity's name forms with the words directly before and after a mention."""
    names: set[str] = set()
    for start in (cut.start, *(start for start, _ in cut.also)):
        before, after = _find_words_before(cut.text[:start]), _find_words_after(cut.text, start + len(cut.space))
        names.update(
            " ".join([*before[first:], cut.entity, *after[:last]])
            for first in range(len(before) + 1)
            for last in range(len(after) + 1)
        )
    return {name for name in names - {cut.entity} if len(name.encode()) <= _LONGEST_TITLE}


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


def _find_words_after(text: str, position: int) -> list[str]:
    """Returns the words with a capital letter, and the numbers, that follow a position in a text."""
    words: list[str] = []
    while len(words) < _MOST_WORDS and (match := _AFTER.match(text, position)):
        word = _POSSESSIVE.sub("", match["word"])
        if not (word[0].isupper() or word[0].isdigit()):
            break
        words.append(word)
        position = match.end() if word == match["word"] else len(text)
    return words
