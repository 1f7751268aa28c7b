"""Rows of numbers, which are parsed many at a time."""

from __future__ import annotations

import random

import pytest

from shadowprobe.build.dumps.number_rows import parse_number_rows


def parse(text: bytes, width: int, start: int = 0) -> tuple[list[tuple[int, ...]], int]:
    columns, size = parse_number_rows(text, start, width, range(width))
    return list(zip(*(column.tolist() for column in columns), strict=True)), size


def test_numbers_of_every_length_are_exact() -> None:
    generator = random.Random(3)
    rows = [(generator.randrange(10**length), 10**length - 1) for length in range(1, 17) for _ in range(20)]
    text = "".join(f"({a},{b})," for a, b in rows).encode()
    assert parse(text, 2) == (rows, len(text))


def test_leading_zeros_do_not_count() -> None:
    assert parse(b"(007,00),(0000000000000012,1),", 2)[0] == [(7, 0), (12, 1)]


def test_rows_begin_at_a_position() -> None:
    assert parse(b"12(1,2),(3,4),", 2, 2) == ([(1, 2), (3, 4)], 12)


@pytest.mark.parametrize(
    "odd",
    [
        b"(NULL,2)",
        b"(-1,2)",
        b"(1.5,2)",
        b"('1',2)",
        b"(1,2,3)",
        b"(1)",
        b"(,2)",
        b"((1,2)",
        b" (1,2)",
        b"(1,2) ",
        b"x(1,2)",
        b"(12345678901234567,2)",
        b"1(1,2)",
        b"(1,2)3",
    ],
)
def test_the_rows_before_an_odd_one_are_parsed(odd: bytes) -> None:
    rows, size = parse(b"(5,6),(7,8)," + odd + b",(9,10),(11,12),", 2)
    assert (rows, size) == ([(5, 6), (7, 8)], 12)


def test_a_row_without_its_end_waits_for_more() -> None:
    assert parse(b"(5,6),(7,", 2) == ([(5, 6)], 6)
    assert parse(b"(5,6)", 2) == ([], 0)
    assert parse(b"", 2) == ([], 0)


def test_the_last_row_of_a_statement_and_what_follows_are_left() -> None:
    assert parse(b"(5,6),(7,8);\nINSERT INTO `t` VALUES (1,2),", 2) == ([(5, 6)], 6)
