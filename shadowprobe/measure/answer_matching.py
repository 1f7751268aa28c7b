"""When a text holds an answer, by the rules of the papers."""

from __future__ import annotations

import re
import string
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby
from unicodedata import category, normalize

_ARTICLES = frozenset({"a", "an", "the"})
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation))
_PUNCTUATION = str.maketrans({**dict.fromkeys(string.punctuation), "-": " "})


def squad_words(text: str) -> list[str]:
    """The words of a text as AmbER compares them: lower case, no punctuation, no articles, a hyphen as a space."""
    return [word for word in text.lower().translate(_PUNCTUATION).split() if word not in _ARTICLES]


def normalise_answer(text: str) -> list[str]:
    """The words of an answer as SQuAD compares them: lower case, without ASCII punctuation, a, an and the."""
    # As in `squad_words`, but a hyphen leaves no space, and an article ends at any character that no word has.
    return _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def score_exactly(answer: str, answers: Iterable[str]) -> bool:
    """SQuAD's exact match: True where the answer has the words of one of the right answers, in their order."""
    words = normalise_answer(answer)
    return any(words == normalise_answer(right) for right in answers)


def score_words(answer: str, answers: Iterable[str]) -> float:
    """SQuAD's F1 over words, against the right answer for which it is highest."""
    words = normalise_answer(answer)
    return max((_f1(words, normalise_answer(right)) for right in answers), default=0.0)


def _f1(words: Sequence[str], right: Sequence[str]) -> float:
    if not words and not right:
        # As in version 2 of SQuAD's evaluation: an empty answer is right if nothing is expected.
        return 1.0
    shared = (Counter(words) & Counter(right)).total()
    return 2 * shared / (len(words) + len(right))


def beginning(text: str, words: int) -> str:
    """The first words of a text, which white space separates."""
    return " ".join(text.split(maxsplit=words)[:words])


@lru_cache(1)
def _token() -> re.Pattern[str]:
    """A run of letters, digits and marks, or any other visible character; a format character separates words."""
    return re.compile(rf"(?:[^\W_]|[{_of_category('M')}])+|[^\s{_of_category('C')}]")


def _of_category(wanted: str) -> str:
    """The characters of a Unicode category, as ranges of a regular expression."""
    ranges = []
    for is_wanted, members in groupby(map(chr, range(sys.maxunicode + 1)), lambda one: category(one)[0] == wanted):
        if is_wanted:
            first, *others = members
            ranges.append(f"{re.escape(first)}-{re.escape(others[-1] if others else first)}")
    return "".join(ranges)


def dpr_words(text: str) -> list[str]:
    """The tokens of a text as DPR's evaluation has them, which EntityQuestions uses: lower case, decomposed (NFD)."""
    return [token.lower() for token in _token().findall(normalize("NFD", text))]


def holds_any(words: Sequence[str], answers: Iterable[Sequence[str]]) -> bool:
    """True where the words of an answer stand in a text side by side; an answer without words is in none."""
    # No word has white space in it, so that each stands between two spaces.
    text = f" {' '.join(words)} "
    return any(bool(answer) and f" {' '.join(answer)} " in text for answer in answers)
