"""Offsets in code points, as we count, and in UTF-16 units, as Java services count."""

from __future__ import annotations

LAST_OF_BMP = "\uffff"


def to_utf16(text: str, offset: int) -> int:
    """The offset in UTF-16 units of a place given in code points."""
    return offset + sum(character > LAST_OF_BMP for character in text[:offset])


def from_utf16(text: str, offset: int) -> int | None:
    """The place in code points of an offset in UTF-16 units; None inside a pair of units, or outside the text."""
    units = 0
    for place, character in enumerate(text):
        if units >= offset:
            return place if units == offset else None
        units += 2 if character > LAST_OF_BMP else 1
    return len(text) if units == offset else None


def is_astral(text: str) -> bool:
    """True where a text has characters beyond the BMP, for which the two ways of counting differ."""
    return any(character > LAST_OF_BMP for character in text)
