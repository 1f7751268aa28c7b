"""Joins a mention and its left and right context to one text."""

from __future__ import annotations

from shadowprobe.base.spans import Span

# Characters with no space between them and the next word, and with no space between them and the word before.
_OPENING = "([{<“‘«„‚¿¡$£€#@"
_CLOSING = ".,;:!?%)]}>'’”»…"
# Characters that join two words if they touch both.
_JOINING = "-/"


def join(left: str, mention: str, right: str, start: int | None = None) -> tuple[str, Span]:
    """Returns the text, and the span of the mention in it.

    Contexts are usually stripped: one space is put back on either side, except beside punctuation that has none.
    If `start` is the length of the left context, the contexts are complete and nothing is added.
    """
    if start != len(left):
        left, right = left + _space_after(left), _space_before(right, left) + right
    return f"{left}{mention}{right}", Span(len(left), len(left) + len(mention))


def _space_after(left: str) -> str:
    last = left[-1:]
    tight = not last or last.isspace() or last in _OPENING or (last == '"' and _has_open_quote(left))
    return "" if tight or (last in _JOINING and left[-2:-1].isalnum()) else " "


def _space_before(right: str, left: str) -> str:
    first = right[:1]
    tight = not first or first.isspace() or first in _CLOSING or (first == '"' and _has_open_quote(left))
    return "" if tight or (first in _JOINING and right[1:2].isalnum()) else " "


def _has_open_quote(left: str) -> bool:
    """True if a straight quotation mark was opened and not closed."""
    return left.count('"') % 2 == 1
