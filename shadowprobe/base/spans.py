"""Where a name stands in a text: offsets made right, or found where they are missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

Action = Literal["repaired", "dropped", "kept"]


# What makes a word longer: a letter or digit. An underscore does not, texts mark titles with it.
_LETTER = r"[^\W_]"
# The two faults of a span that holds its name all the same.
_WHITE_SPACE = "white space in the span"
_INSIDE_WORD = "span inside a longer word"


class Span(NamedTuple):
    """Code-point offsets, end exclusive."""

    start: int
    end: int


class Mended(NamedTuple):
    """A span that holds, and what was wrong with the one given (nothing, if `problem` is empty)."""

    span: Span | None
    problem: str = ""
    moved: bool = False

    @property
    def action(self) -> Action:
        """What became of a span that had a problem."""
        if self.span is None:
            return "dropped"
        return "repaired" if self.moved else "kept"


def whole_words(text: str, name: str, *, any_case: bool = False) -> list[Span]:
    """Every place where a name stands in a text and is not part of a longer word; places may overlap."""
    if not name:
        return []
    # Looking ahead takes no text away, so that "Duran Duran Duran" holds "Duran Duran" twice.
    pattern = rf"(?<!{_LETTER})(?={re.escape(name)}(?!{_LETTER}))"
    starts = (match.start() for match in re.finditer(pattern, text, re.IGNORECASE if any_case else 0))
    return [Span(start, start + len(name)) for start in starts]


def inside_word(text: str, span: Span) -> bool:
    """True where a letter or digit touches the span from outside."""
    before, after = text[span.start - 1 : span.start] if span.start else "", text[span.end : span.end + 1]
    return before.isalnum() or after.isalnum()


def trim(text: str, span: Span) -> Span:
    """The span without the white space at its ends."""
    inner = text[span.start : span.end]
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, start + len(inner.strip()))


def mend(text: str, name: str, span: Span) -> Mended:
    """The span of a name, with white space trimmed, or moved to where the name stands as a whole word.

    A span that is wrong is moved only if there is one place it can mean; otherwise it is given up. One inside a
    longer word that stands nowhere else is kept as it is, and said to be so.
    """
    problem = _problem(text, name, span)
    if not problem:
        return Mended(span)
    holds_name = problem in {_WHITE_SPACE, _INSIDE_WORD}
    trimmed = trim(text, span) if holds_name else span
    if holds_name and not inside_word(text, trimmed):
        return Mended(trimmed, problem, moved=trimmed != span)
    places = whole_words(text, name) or whole_words(text, name, any_case=True)
    if len(places) == 1:
        return Mended(places[0], problem, moved=True)
    if holds_name:
        return Mended(trimmed, problem, moved=trimmed != span)
    found = f"stands in {len(places)} places" if places else "is not in the text"
    return Mended(None, f"{problem}, and the name {found}")


def tidy(text: str, span: Span) -> Mended:
    """The span where nothing tells the name: made right as far as its fault can be seen from outside."""
    if not 0 <= span.start < span.end <= len(text):
        return Mended(None, "offset outside the text")
    trimmed = trim(text, span)
    if trimmed == span:
        return Mended(span)
    if trimmed.start == trimmed.end:
        return Mended(None, "span of nothing but white space")
    return Mended(trimmed, "white space in the span", moved=True)


def _problem(text: str, name: str, span: Span) -> str:
    if span.start < 0:
        return "negative offset"
    if span.end > len(text) or span.start >= span.end:
        return "offset outside the text"
    inner = text[span.start : span.end].casefold()
    if inner == name.casefold():
        return _INSIDE_WORD if inside_word(text, span) else ""
    return _WHITE_SPACE if inner.split() == name.casefold().split() else "span on other words"


class Template(NamedTuple):
    """What stands before and after the name in a neutral context."""

    before: str
    after: str

    def locate(self, text: str, name: str) -> Span | None:
        """The span of the name in a text made from this template."""
        if text != f"{self.before}{name}{self.after}":
            return None
        return Span(len(self.before), len(self.before) + len(name))


def infer_template(texts: Sequence[str], names: Sequence[str]) -> Template | None:
    """The template behind texts that differ only in a name, learned from those that hold their name once."""
    seen = Counter(
        Template(*text.split(name)) for text, name in zip(texts, names, strict=True) if name and text.count(name) == 1
    )
    return seen.most_common(1)[0][0] if seen else None
