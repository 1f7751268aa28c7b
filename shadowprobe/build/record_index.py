"""Finds records by their keys: digests and places are in memory, and the records stay where they are."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from shadowprobe.build.record_file import Records

T = TypeVar("T", bound=Struct)


def digest(*key: str) -> int:
    """The digest of a key in 64 bits: of 20 million keys, two share one in one of 100,000 builds."""
    return int.from_bytes(blake2b("\0".join(key).encode(), digest_size=8).digest(), "big")


def view_numbers(numbers: npt.NDArray[np.uint64]) -> memoryview[int]:
    """A view of numbers, from which a single one is read faster than from an array of NumPy."""
    return memoryview(numbers.data).cast("B").cast("Q")


class KeyIndex:
    """Numbers by digests, in 16 bytes per entry, and in 50 while it is made."""

    def __init__(self, entries: Iterable[tuple[int, int]]) -> None:
        keys, values = array("Q"), array("Q")
        for key, value in entries:
            keys.append(key)
            values.append(value)
        order = np.argsort(np.array(keys, np.uint64), kind="stable")
        self._keys, self._values = (view_numbers(np.array(column, np.uint64)[order]) for column in (keys, values))

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, key: int) -> Sequence[int]:
        """The numbers of a digest, in the order of the entries."""
        first = bisect_left(self._keys, key)
        return self._values[first : bisect_right(self._keys, key, first)]


class RecordIndex(Generic[T]):
    """The records of a file by the digests of their keys; a record may have several keys."""

    def __init__(self, records: Records[T], list_keys: Callable[[T], Iterable[int]]) -> None:
        self._records = records
        self._index = KeyIndex((key, place) for place, record in records.list_places() for key in list_keys(record))

    def count(self, key: int) -> int:
        """Counts the records of a key."""
        return len(self._index.find(key))

    def find(self, key: int) -> Iterator[T]:
        """The records of a key, in the order of the file."""
        return map(self._records.read, self._index.find(key))


class RecordTable(Generic[T]):
    """The records of some files by the text that names each: the first one of a text counts."""

    def __init__(self, files: Iterable[Records[T]], name_of: Callable[[T], str]) -> None:
        self._indexes = [RecordIndex(records, lambda record: [digest(name_of(record))]) for records in files]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(index.count(digest(name)) for index in self._indexes)

    def __getitem__(self, name: str) -> T:
        for index in self._indexes:
            for record in index.find(digest(name)):
                return record
        raise KeyError(name)
