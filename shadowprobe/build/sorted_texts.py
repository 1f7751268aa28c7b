"""Sorts texts that do not fit in memory: parts are sorted and stored, and then merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from pathlib import Path

from shadowprobe.build.record_file import TemporaryRecords

# The number of texts that are in memory at the same time: about 50 MB.
MOST = 500_000


class SortedTexts:
    """Texts in order, each once; at most so many are in memory."""

    def __init__(self, directory: Path, most: int = MOST) -> None:
        self._directory, self._most = directory, most
        self._waiting: set[str] = set()
        self._parts: list[TemporaryRecords[str]] = []

    def add(self, texts: Iterable[str]) -> None:
        """Adds texts."""
        self._waiting.update(texts)
        if len(self._waiting) >= self._most:
            self._parts.append(TemporaryRecords(self._directory, str))
            self._parts[-1].add(*sorted(self._waiting))
            self._waiting.clear()

    def __iter__(self) -> Iterator[str]:
        return (text for text, _ in groupby(merge(sorted(self._waiting), *self._parts)))

    def count(self) -> int:
        """Counts the texts; it reads all of them."""
        return sum(1 for _ in self) if self._parts else len(self._waiting)

    def close(self) -> None:
        """Removes the temporary files."""
        for part in self._parts:
            part.close()
