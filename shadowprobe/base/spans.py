"""Spans of names in a text: checks and repairs offsets, and finds them where they are missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

Action = Literal["repaired", "dropped", "kept"]


# Letters and digits are part of a word. An underscore is not, because some texts mark titles with it.
_LETTER = r"[^\W_]"
# With these two problems the span still contains its name.
WHITE_SPACE = "white space in the span"
_INSIDE_WORD = "span inside a longer word"


class Span(NamedTuple):
    """Code-point offsets, end exclusive."""

    start: int
    end: int


class CheckedSpan(NamedTuple):
    """A correct span, and the problem of the given one (empty if there was none)."""

    span: Span | None
    problem: str = ""
    moved: bool = False

    @property
    def action(self) -> Action:
        """What was done with a span that had a problem."""
        if self.span is None:
            return "dropped"
        return "repaired" if self.moved else "kept"


def find_name(text: str, name: str, *, any_case: bool = False) -> list[Span]:
    """Finds every span of a text where a name stands as whole words; spans may overlap."""
    if not name:
        return []
    # The lookahead consumes no text, so that "Duran Duran" is found twice in "Duran Duran Duran".
    pattern = rf"(?<!{_LETTER})(?={re.escape(name)}(?!{_LETTER}))"
    starts = (match.start() for match in re.finditer(pattern, text, re.IGNORECASE if any_case else 0))
    return [Span(start, start + len(name)) for start in starts]


def is_inside_word(text: str, span: Span) -> bool:
    """True if a letter or digit is directly before or after the span."""
    before, after = text[span.start - 1 : span.start] if span.start else "", text[span.end : span.end + 1]
    return before.isalnum() or after.isalnum()


def trim(text: str, span: Span) -> Span:
    """Returns the span without the white space at its ends."""
    inner = text[span.start : span.end]
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, start + len(inner.strip()))


def repair_span(text: str, name: str, span: Span) -> CheckedSpan:
    """Checks the span of a name: trims white space, or moves the span to where the name stands as a whole word.

    A wrong span is moved only if the name occurs exactly once, and dropped otherwise. A span inside a longer word is
    kept if the name occurs nowhere else, and its problem is reported.
    """
    problem = _find_problem(text, name, span)
    if not problem:
        return CheckedSpan(span)
    has_name = problem in {WHITE_SPACE, _INSIDE_WORD}
    trimmed = trim(text, span) if has_name else span
    if has_name and not is_inside_word(text, trimmed):
        return CheckedSpan(trimmed, problem, moved=trimmed != span)
    spans = find_name(text, name) or find_name(text, name, any_case=True)
    if len(spans) == 1:
        return CheckedSpan(spans[0], problem, moved=True)
    if has_name:
        return CheckedSpan(trimmed, problem, moved=trimmed != span)
    reason = f"stands in {len(spans)} places" if spans else "is not in the text"
    return CheckedSpan(None, f"{problem}, and the name {reason}")


def check_span(text: str, span: Span) -> CheckedSpan:
    """Checks a span whose name is not known: it must be inside the text, and white space is trimmed."""
    if not 0 <= span.start < span.end <= len(text):
        return CheckedSpan(None, "offset outside the text")
    trimmed = trim(text, span)
    if trimmed == span:
        return CheckedSpan(span)
    if trimmed.start == trimmed.end:
        return CheckedSpan(None, "span of nothing but white space")
    return CheckedSpan(trimmed, WHITE_SPACE, moved=True)


def _find_problem(text: str, name: str, span: Span) -> str:
    if span.start < 0:
        return "negative offset"
    if span.end > len(text) or span.start >= span.end:
        return "offset outside the text"
    inner = text[span.start : span.end].casefold()
    if inner == name.casefold():
        return _INSIDE_WORD if is_inside_word(text, span) else ""
    return WHITE_SPACE if inner.split() == name.casefold().split() else "span on other words"


class Template(NamedTuple):
    """The text before and after the name in a neutral context."""

    before: str
    after: str

    def locate(self, text: str, name: str) -> Span | None:
        """Returns the span of the name in a text made from this template, or None for another text."""
        if text != f"{self.before}{name}{self.after}":
            return None
        return Span(len(self.before), len(self.before) + len(name))


def infer_template(texts: Sequence[str], names: Sequence[str]) -> Template | None:
    """Infers the template of texts that differ only in a name, from those in which the name occurs once."""
    seen = Counter(
        Template(*text.split(name)) for text, name in zip(texts, names, strict=True) if name and text.count(name) == 1
    )
    return seen.most_common(1)[0][0] if seen else None
