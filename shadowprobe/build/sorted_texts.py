"""Sorts texts that do not fit in memory: parts are sorted and stored, and then merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from heapq import merge
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import msgspec

# The number of texts that are in memory at the same time: about 50 MB.
MOST = 500_000


class SortedTexts:
    """Texts in order, each once; at most so many are in memory."""

    def __init__(self, directory: Path, most: int = MOST) -> None:
        self._directory, self._most = directory, most
        self._waiting: set[str] = set()
        self._files: list[BinaryIO] = []
        self._open = ExitStack()

    def add(self, texts: Iterable[str]) -> None:
        """Adds texts."""
        self._waiting.update(texts)
        if len(self._waiting) >= self._most:
            self._store()

    def __iter__(self) -> Iterator[str]:
        return (text for text, _ in groupby(merge(sorted(self._waiting), *map(_read, self._files))))

    def count(self) -> int:
        """Counts the texts; it reads all of them."""
        return sum(1 for _ in self) if self._files else len(self._waiting)

    def close(self) -> None:
        """Removes the temporary files."""
        self._open.close()

    def _store(self) -> None:
        file = self._open.enter_context(TemporaryFile(dir=self._directory))  # noqa: SIM115
        # As JSON, because a text may have any character that ends a line.
        file.writelines(msgspec.json.encode(text) + b"\n" for text in sorted(self._waiting))
        self._files.append(file)
        self._waiting.clear()


def _read(file: BinaryIO) -> Iterator[str]:
    file.seek(0)
    yield from map(msgspec.json.Decoder(str).decode, file)
