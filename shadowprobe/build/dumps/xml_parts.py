"""Splits the XML file of a dump into parts that can be read on their own, and opens them."""

from __future__ import annotations

import bz2
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from msgspec import Struct

from shadowprobe.base.compressed import open_compressed
from shadowprobe.base.files import open_for_reading

# The size of a part in the file, compressed or not.
PART = 64 << 20
# A page, or a stream of a hundred pages, is shorter: if none begins within so many bytes, the file is not split.
LONGEST = 32 << 20
CHUNK = 1 << 20
# The first bytes of a page, and of one of the streams of a multistream file: its head and the mark of its first block.
_PAGE, _STREAM = b"<page>", b"BZh91AY&SY"


class Span(Struct, frozen=True):
    """A range of bytes of a file."""

    start: int = 0
    # None is the end of the file.
    end: int | None = None


WHOLE = Span()


def split_file(path: Path) -> list[Span]:
    """Splits a file where a page begins, or a compressed stream of pages; a file of one stream is not split."""
    mark = {".bz2": _STREAM, ".gz": b""}.get(path.suffix, _PAGE)
    starts = [0]
    if mark:
        with open_for_reading(path) as file:
            while (found := _find_mark(file, mark, starts[-1] + PART)) is not None:
                starts.append(found)
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], None], strict=True)]


def _find_mark(file: IO[bytes], mark: bytes, place: int) -> int | None:
    """Finds the first mark at a place or after it."""
    file.seek(place)
    content = b""
    while len(content) < LONGEST and (chunk := file.read(CHUNK)):
        content += chunk
        if (found := content.find(mark)) >= 0:
            return place + found
    return None


@contextmanager
def open_span(path: Path, span: Span) -> Iterator[IO[bytes]]:
    """Opens the decompressed bytes of a part of a file."""
    if span == WHOLE:
        with open_compressed(path) as file:
            yield file
        return
    with open_for_reading(path) as file:
        part = cast(IO[bytes], io.BufferedReader(_Range(file, span), CHUNK))
        if path.suffix == ".bz2":
            with bz2.BZ2File(part) as unpacked:
                yield unpacked
        else:
            yield part


class _Range(io.RawIOBase):
    """A file that has only the bytes of a span."""

    def __init__(self, file: IO[bytes], span: Span) -> None:
        self._file = file
        self._left = None if span.end is None else span.end - span.start
        file.seek(span.start)

    def readable(self) -> bool:
        """True: it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Reads bytes until the end of the span."""
        size = len(buffer) if self._left is None else min(len(buffer), self._left)
        content = self._file.read(size)
        buffer[: len(content)] = content
        if self._left is not None:
            self._left -= len(content)
        return len(content)
