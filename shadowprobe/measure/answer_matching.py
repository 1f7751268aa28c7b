"""When a text holds an answer, by the rules of the papers."""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

_ARTICLES = frozenset({"a", "an", "the"})
_PUNCTUATION = str.maketrans({**dict.fromkeys(string.punctuation), "-": " "})


def squad_words(text: str) -> list[str]:
    """The words of a text as AmbER compares them: small, without punctuation and articles, a hyphen as a space."""
    return [word for word in text.lower().translate(_PUNCTUATION).split() if word not in _ARTICLES]


def beginning(text: str, words: int) -> str:
    """The first words of a text, as white space parts them."""
    return " ".join(text.split(maxsplit=words)[:words])


@lru_cache(1)
def _token() -> re.Pattern[str]:
    """A run of letters, digits and marks, or any other character that is to be seen; a format mark parts words."""
    return re.compile(rf"(?:[^\W_]|[{_of_category('M')}])+|[^\s{_of_category('C')}]")


def _of_category(wanted: str) -> str:
    """The characters of a category of Unicode, as a class of a pattern has them."""
    ranges, start = [], None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code))[0] == wanted
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            ranges.append(f"{re.escape(chr(start))}-{re.escape(chr(code - 1))}")
            start = None
    return "".join(ranges)


def dpr_words(text: str) -> list[str]:
    """The tokens of a text as DPR's evaluation has them, which EntityQuestions uses: uncased, accents apart (NFD)."""
    return [token.lower() for token in _token().findall(unicodedata.normalize("NFD", text))]


def holds(words: Sequence[str], answer: Sequence[str]) -> bool:
    """True where the words of an answer stand in a text side by side; an answer without words is in none."""
    return holds_any(words, [answer])


def holds_any(words: Sequence[str], answers: Iterable[Sequence[str]]) -> bool:
    """True where a text holds at least one of several answers."""
    # No word has white space in it, so that whole words are what stands between spaces.
    text = f" {' '.join(words)} "
    return any(bool(answer) and f" {' '.join(answer)} " in text for answer in answers)
