"""Texts by number, as a page refers to them."""

from __future__ import annotations

import zlib

import msgspec

NOTHING = -1
# How many characters are in a block of passages.
BLOCK = 1 << 20


class Strings:
    """Names and titles by number, each kept once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str | None) -> int:
        """The number of a text, or NOTHING for none."""
        return NOTHING if text is None else self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        """The texts in the order of their numbers."""
        return list(self._numbers)


class Passages:
    """Running texts by number, in blocks that are compressed as soon as they are full.

    A text of this block or the one before is kept once: neutral contexts of different names share their words.
    """

    def __init__(self) -> None:
        # The number of the first text of each block.
        self.starts: list[int] = []
        self._blocks: list[bytes] = []
        self._earlier: dict[str, int] = {}
        self._current: dict[str, int] = {}
        self._count = self._size = 0

    def number(self, text: str | None) -> int:
        """The number of a text, or NOTHING for none."""
        if text is None:
            return NOTHING
        known = self._current.get(text, self._earlier.get(text))
        if known is not None:
            return known
        self._current[text] = number = self._count
        self._count += 1
        self._size += len(text)
        if self._size >= BLOCK:
            self._compress()
        return number

    def _compress(self) -> None:
        self.starts.append(self._count - len(self._current))
        self._blocks.append(zlib.compress(msgspec.json.encode(list(self._current)), 9))
        self._earlier, self._current, self._size = self._current, {}, 0

    def close(self) -> list[bytes]:
        """The blocks, each a compressed JSON list of texts."""
        if self._current:
            self._compress()
        return self._blocks
