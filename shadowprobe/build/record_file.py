"""The records of a file: they are read in order as often as needed, or one of them by its place."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from shadowprobe.base.files import BOM, open_for_reading, write_out
from shadowprobe.base.jsonl import decode_lines, encode_lines

R = TypeVar("R")
T = TypeVar("T", bound=Struct)
T_co = TypeVar("T_co", bound=Struct, covariant=True)


class CountedRecords(Protocol[T_co]):
    """Records that can be counted, and read more than once."""

    def __iter__(self) -> Iterator[T_co]:
        """All records in order."""

    def __len__(self) -> int:
        """The number of records."""


class RecordFile(Generic[T]):
    """The records of a file with one JSON object per line; no record is kept in memory."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        self._path, self._kind = path, kind
        self._decode = msgspec.json.Decoder(kind).decode

    def __iter__(self) -> Iterator[T]:
        return (record for _, record in self.list_places())

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        with open_for_reading(self._path) as file:
            return sum(1 for line in file if line.strip())

    def list_places(self) -> Iterator[tuple[int, T]]:
        """All records, each with the byte at which its line begins; an invalid line is refused."""
        place = end = 0

        def follow(lines: Iterable[bytes]) -> Iterator[bytes]:
            nonlocal place, end
            for line in lines:
                place, end = end, end + len(line)
                yield line

        with open_for_reading(self._path) as file:
            for _, record in decode_lines(self._path, follow(file), self._kind):
                yield place, record

    def read(self, place: int) -> T:
        """The record whose line begins at a byte."""
        self._file.seek(place)
        return self._decode(self._file.readline().removeprefix(BOM))

    @cached_property
    def _file(self) -> BinaryIO:
        file: BinaryIO = open_for_reading(self._path)
        weakref.finalize(self, file.close)
        return file


class RecordList(list[T]):
    """A few records in memory, with the same interface as those of a file."""

    def list_places(self) -> Iterator[tuple[int, T]]:
        """All records, each with its number."""
        return enumerate(self)

    def read(self, place: int) -> T:
        """The record of a number."""
        return self[place]


# Records that can also be read one by one.
Records = RecordFile[T] | RecordList[T]


class TemporaryRecords(Generic[R]):
    """Records that are written to a temporary file, and read again as often as needed."""

    def __init__(self, directory: Path, kind: type[R]) -> None:
        self._directory, self._file = directory, TemporaryFile(dir=directory)  # noqa: SIM115
        self._decode = msgspec.json.Decoder(kind).decode

    def add(self, *records: R) -> None:
        """Adds records."""
        write_out(self._file, encode_lines(records), self._directory)

    def __iter__(self) -> Iterator[R]:
        self._file.seek(0)
        yield from map(self._decode, self._file)

    def close(self) -> None:
        """Removes the file."""
        self._file.close()
