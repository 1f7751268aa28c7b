"""Finds the mentions of a name in the text of a page.

A mention is the name as whole words. White space and the form of an apostrophe may differ. The first letter may be
lower case if it is upper case only because a title begins with it ("The Beatles", "IPod", "Black hole").
"Paul Smith's" is a mention. "Paul Smith-led" is not, in the same way as "Stratford-upon-Avon" is not one of "Avon".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

from shadowprobe.base.prose import APOSTROPHES, compose_accents
from shadowprobe.base.spans import Span

# Characters that join the name and its neighbour to one word, address or tag; a dash does so between two letters.
_GLUE = frozenset("_@#/\\=&%+~\u00ad\u200c\u200d")
_HYPHENS, _DASHES = frozenset("-‐‑"), frozenset("-‐‑–")
_SPACE = r"(?:[^\S\n]+|[^\S\n]*\n[^\S\n]*)"
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+$")
_ARTICLES = {"en": {"The"}, "de": {"Der", "Die", "Das"}, "fr": {"Le", "La", "Les"}, "es": {"El", "Los", "Las"}}
# Languages in which "l'Avon" is an article and the name. "O'Brien" is one name in all languages.
_WITH_ELISION = frozenset({"ca", "fr", "it", "oc"})


class Mentions(NamedTuple):
    """The mentions in a text in their order, and how often a name is only a part of a longer word."""

    spans: list[Span]
    in_words: int


class MentionFinder:
    """Finds mentions in texts of one language."""

    def __init__(self, code: str) -> None:
        self._code = code
        # The pages of an entity, and the entities of a space, come directly one after the other.
        self._make_name = lru_cache(maxsize=4096)(partial(_make_name, code=code))

    def find(self, text: str, names: Iterable[str]) -> Mentions:
        """Finds the names as whole words. Of overlapping matches the first counts, and of these the longest."""
        spans = [span for name in names for span in self._make_name(name).find(text)]
        mentions: list[Span] = []
        in_words: set[int] = set()
        for span in sorted(spans, key=lambda each: (each.start, -each.end)):
            if mentions and span.start < mentions[-1].end:
                continue
            if _stands_alone(text, span, self._code):
                mentions.append(span)
            else:
                in_words.add(span.start)
        return Mentions(mentions, len(in_words.difference(span.start for span in mentions)))


class _Name(NamedTuple):
    """The forms of a title in a text."""

    pattern: re.Pattern[str]
    # The longest part that is the same in all forms: a text without it has no match.
    part: str

    def find(self, text: str) -> Iterator[Span]:
        """Yields every span of the name, also inside longer words."""
        match = self.pattern.search(text) if self.part in text else None
        while match is not None:
            yield Span(*match.span())
            # The search continues at the next character, so that overlapping matches are found.
            match = self.pattern.search(text, match.start() + 1)


def _make_name(title: str, code: str) -> _Name:
    title = compose_accents(title).strip()
    characters = [_make_pattern(char) for char in re.sub(r"\s+", " ", title)]
    if title and title[0].isalpha() and _may_be_lower_case(title, code):
        characters[0] = f"[{re.escape(title[0].lower())}{re.escape(title[0].upper())}]"
    part = max(re.split(rf"[\s{APOSTROPHES}]+", title[1:]), key=len)
    return _Name(re.compile("".join(characters) or r"(?!)"), part)


def _make_pattern(char: str) -> str:
    if char == " ":
        return _SPACE
    return f"[{APOSTROPHES}]" if char in APOSTROPHES else re.escape(char)


def _may_be_lower_case(title: str, code: str) -> bool:
    """True if the first letter is a capital only because wikis begin every title with a capital letter."""
    first, *rest = title.split()
    letters = "".join(_LETTERS.findall("".join(rest)))
    return (
        title[0].islower()
        or title[1:2].isupper()
        or (bool(rest) and first in _ARTICLES.get(code, ()))
        # A common noun of several words. Single words are excluded, because "queen" is not "Queen".
        or (bool(letters) and letters.islower())
    )


def _stands_alone(text: str, span: Span, code: str) -> bool:
    """True if the name is not part of a longer word, compound or address."""
    start, end = span
    # A combining mark after the name changes its last letter. One before it belongs to the neighbour, as in many emoji.
    while start and unicodedata.category(text[start - 1]).startswith("M"):
        start -= 1
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if before.isalnum() or after.isalnum() or before in _GLUE or after in _GLUE:
        return False
    # A dash before or after an insertion is no part of a word, but the hyphen of "Avon- and Severn-side" is.
    if before in _DASHES and text[max(0, start - 2)].isalnum():
        return False
    if after in _HYPHENS or (after in _DASHES and text[end + 1 : end + 2].isalnum()):
        return False
    if after and unicodedata.category(after).startswith("M"):
        return False
    if (after == "." and text[end + 1 : end + 2].isalnum()) or (before == "." and text[max(0, start - 2)].isalnum()):
        return False
    if after and after in APOSTROPHES:
        suffix = _LETTERS.match(text, end + 1)
        if suffix is not None and suffix[0] not in {"s", "S"}:
            return False
    if before and before in APOSTROPHES:
        prefix = _LETTERS_BEFORE.search(text[max(0, start - 20) : start - 1])
        return prefix is None or (code in _WITH_ELISION and prefix[0].islower())
    return True
