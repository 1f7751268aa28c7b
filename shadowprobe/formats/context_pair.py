"""A mention between its left and its right context, made one text."""

from __future__ import annotations

from shadowprobe.formats.spans import Span

# What stands before a word without a space, and what stands after one.
_OPENING = "([{<“‘«„‚¿¡$£€#@"
_CLOSING = ".,;:!?%)]}>'’”»…"
# What joins two words, if it touches both.
_JOINING = "-/"


def join(left: str, mention: str, right: str, start: int | None = None) -> tuple[str, Span]:
    """The text, and the span of the mention in it.

    Contexts are as a rule stripped, and one space is put back on either side, except beside punctuation that takes
    none. Where `start` says that the left context is complete, all stands as it is.
    """
    if start != len(left):
        left, right = left + _space_after(left), _space_before(right, left) + right
    return f"{left}{mention}{right}", Span(len(left), len(left) + len(mention))


def _space_after(left: str) -> str:
    last = left[-1:]
    tight = not last or last.isspace() or last in _OPENING or (last == '"' and _quoting(left))
    return "" if tight or (last in _JOINING and left[-2:-1].isalnum()) else " "


def _space_before(right: str, left: str) -> str:
    first = right[:1]
    tight = not first or first.isspace() or first in _CLOSING or (first == '"' and _quoting(left))
    return "" if tight or (first in _JOINING and right[1:2].isalnum()) else " "


def _quoting(left: str) -> bool:
    """True where a straight quotation mark was opened and not closed."""
    return left.count('"') % 2 == 1
