"""Parses rows of numbers of a MySQL dump, such as `(1,0,22),(1,0,23),`, with NumPy on many rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
# Eight digits fit in a machine word. Two words hold as many digits as a number of 64 bits has for sure, and a few less.
WORD, MOST_DIGITS = 8, 16
_ZERO, _NINE = ord("0"), ord("9")
# Each step joins neighbouring groups of digits in all parts of a word: pairs, fours, and all eight.
_STEPS = (
    (np.uint64(10), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10_000), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)
_DIGITS = np.uint64(0x0F0F0F0F0F0F0F0F)


def parse_number_rows(buffer: bytes, start: int, width: int, columns: Sequence[int]) -> tuple[list[Numbers], int]:
    """Parses the rows of `width` plain numbers from a position on, each of which a comma follows.

    Returns the wanted columns and the number of parsed bytes. Another parser must read a row that is not plain.
    """
    # A statement ends at a semicolon: what follows it are no rows.
    end = buffer.find(b";", start)
    view = np.frombuffer(buffer, np.uint8, (end if end >= 0 else len(buffer)) - start, start)
    # Everything but digits; bytes below `0` become large numbers.
    marks = np.flatnonzero(view - np.uint8(_ZERO) > _NINE - _ZERO)
    # The marks of a row: `(`, a comma after each number but the last, `)` and `,`.
    size = width + 2
    rows = len(marks) // size
    marks = marks[: rows * size]
    plain = rows if _are_plain(view, marks, width) else _count_plain_rows(view, marks, width)
    marks = marks[: plain * size]
    parsed = [_parse_numbers(buffer, start, marks[column::size], marks[column + 1 :: size]) for column in columns]
    return parsed, int(marks[-1]) + 1 if plain else 0


def _are_plain(view: Bytes, marks: Numbers, width: int) -> bool:
    """True if all rows are plain; it looks at each column only once, because almost all rows are."""
    size = width + 2
    if not len(marks) or marks[0] != 0 or view[marks].tobytes() != _make_row(width) * (len(marks) // size):
        return False
    gaps = np.diff(marks)
    numbers = [gaps[column::size] for column in range(width)]
    return all(each.min() > 1 and each.max() <= MOST_DIGITS + 1 for each in numbers) and all(
        bool((gaps[column::size] == 1).all()) for column in (width, width + 1)
    )


def _count_plain_rows(view: Bytes, marks: Numbers, width: int) -> int:
    """Counts the rows up to the first that is not plain."""
    if not len(marks) or marks[0] != 0:
        return 0
    table = marks.reshape(-1, width + 2)
    is_plain = (view[table] == np.frombuffer(_make_row(width), np.uint8)).all(axis=1)
    gaps = np.diff(table, axis=1)
    is_plain &= ((gaps[:, :-1] > 1) & (gaps[:, :-1] <= MOST_DIGITS + 1)).all(axis=1) & (gaps[:, -1] == 1)
    # A row begins where the row before ends.
    is_plain[1:] &= table[1:, 0] == table[:-1, -1] + 1
    return len(is_plain) if is_plain.all() else int(is_plain.argmin())


def _make_row(width: int) -> bytes:
    """Returns the marks of a plain row."""
    return b"(" + b"," * (width - 1) + b"),"


def _parse_numbers(buffer: bytes, start: int, before: Numbers, after: Numbers) -> Numbers:
    """Parses the digits between two marks each."""
    digits = after - before - 1
    # The words that end at each byte; there are none within the first eight bytes.
    words = np.ndarray((max(0, len(buffer) - WORD + 1),), "<u8", buffer, strides=(1,))
    ends = after + start
    if len(ends) and ends[0] < 2 * WORD:
        # Two words before the first number are not in the buffer.
        return _parse_numbers(b"0" * 2 * WORD + buffer, start + 2 * WORD, before, after)
    numbers = _join_digits(words[ends - WORD], np.minimum(digits, WORD))
    is_long = digits > WORD
    if is_long.any():
        upper = _join_digits(words[ends[is_long] - 2 * WORD], digits[is_long] - WORD)
        numbers[is_long] += upper * 10**WORD
    return numbers


def _join_digits(words: np.ndarray[Any, np.dtype[np.uint64]], digits: Numbers) -> Numbers:
    """Returns the numbers that the last digits of the words make; a word has its first byte lowest."""
    unwanted = ((WORD - digits) * 8).astype(np.uint64)
    words = (words >> unwanted << unwanted) & _DIGITS
    for factor, distance, mask in _STEPS:
        words = (words * factor + (words >> distance)) & mask
    return words.astype(np.int64)
