"""A prefix tree of titles over token ids, as sorted arrays."""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt


class Trie:
    """Titles by their token ids: finds the tokens that may follow a prefix, and the title of a whole sequence.

    The sequences are sorted in one array, so that a prefix is a range of rows and no node is an object: the five
    million titles of a Wikipedia take some 300 MB. Of two titles with the same tokens the first one is kept.
    """

    def __init__(self, titles: Iterable[tuple[str, Sequence[int]]]) -> None:
        keys: list[bytes] = []
        text, ends = bytearray(), array("q", [0])
        for title, sequence in titles:
            # Big-endian, so that bytes have the same order as the numbers.
            keys.append(struct.pack(f">{len(sequence)}I", *sequence))
            text += title.encode("utf-8")
            ends.append(len(text))
        # Sorting is stable, so that the first of equal keys comes first.
        order = sorted(range(len(keys)), key=keys.__getitem__)
        order = [row for n, row in enumerate(order) if n == 0 or keys[row] != keys[order[n - 1]]]
        self._starts = _starts((len(keys[row]) // 4 for row in order), len(order))
        tokens = np.frombuffer(b"".join([keys[row] for row in order]), dtype=">u4")
        # Two bytes per token are enough for a vocabulary like BART's.
        self._tokens = tokens.astype(np.min_scalar_type(int(tokens.max(initial=0))))
        del keys, tokens
        self._text_starts = _starts((ends[row + 1] - ends[row] for row in order), len(order))
        # Titles are added one by one: a list of millions of titles would need more memory than the tree.
        self._text = bytearray()
        for row in order:
            self._text += text[ends[row] : ends[row + 1]]
        self.depth = int(np.diff(self._starts).max(initial=0))
        # Every search begins with this, and its range is all rows.
        self._first = self._column(0, len(self), 0)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def after(self, prefix: Sequence[int]) -> list[int]:
        """Returns the tokens that can follow a prefix; none after a whole title or an unknown prefix."""
        return self._column(*self._rows(prefix), len(prefix)) if prefix else self._first

    def title(self, sequence: Sequence[int]) -> str | None:
        """Returns the title with these tokens, if there is one."""
        low, high = self._rows(sequence)
        # A sequence that is a prefix of others is sorted before them.
        if low == high or self._starts[low + 1] - self._starts[low] != len(sequence):
            return None
        return self._text[self._text_starts[low] : self._text_starts[low + 1]].decode("utf-8")

    def _rows(self, prefix: Sequence[int]) -> tuple[int, int]:
        """Returns the first row with a prefix, and the first row after them."""
        low, high = 0, len(self)
        every = range(high)
        for depth, token in enumerate(prefix):

            def at(row: int, depth: int = depth) -> int:
                place = self._starts[row] + depth
                return int(self._tokens[place]) if place < self._starts[row + 1] else -1

            low = bisect_left(every, token, low, high, key=at)
            high = bisect_right(every, token, low, high, key=at)
        return low, high

    def _column(self, low: int, high: int, depth: int) -> list[int]:
        """Returns the distinct tokens at a depth of a range of rows."""
        places = self._starts[low:high] + depth
        tokens: list[int] = np.unique(self._tokens[places[places < self._starts[low + 1 : high + 1]]]).tolist()
        return tokens


def _starts(lengths: Iterable[int], count: int) -> npt.NDArray[np.int64]:
    """Returns the start of each piece in the joined pieces, and the end of the last one."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=starts[1:])
    return starts
