"""Offsets in code points, as we count, and in UTF-16 units, as Java services count."""

from __future__ import annotations

LAST_OF_BMP = "\uffff"


def to_utf16(text: str, offset: int) -> int:
    """Converts an offset in code points to UTF-16 units."""
    return offset + sum(character > LAST_OF_BMP for character in text[:offset])


def locate_in_utf16(text: str, start: int, end: int) -> tuple[int, int]:
    """Converts a span to its start and its length in UTF-16 units."""
    first = to_utf16(text, start)
    return first, to_utf16(text, end) - first


def from_utf16(text: str, offset: int) -> int | None:
    """Converts an offset in UTF-16 units to code points; None inside a surrogate pair or outside the text."""
    units = 0
    for place, character in enumerate(text):
        if units >= offset:
            return place if units == offset else None
        units += 2 if character > LAST_OF_BMP else 1
    return len(text) if units == offset else None


def is_astral(text: str) -> bool:
    """True if a text has characters beyond the BMP, for which the two counts differ."""
    return any(character > LAST_OF_BMP for character in text)
