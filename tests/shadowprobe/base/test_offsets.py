"""Code points and UTF-16 units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowprobe.base.offsets import from_utf16, is_astral, locate_in_utf16, to_utf16

CLAPPER = "\N{CLAPPER BOARD}"


@pytest.mark.parametrize(
    ("text", "offset", "units"),
    [("Zürich", 2, 2), (f"{CLAPPER} Avon", 2, 3), (f"{CLAPPER}{CLAPPER}", 2, 4), ("", 0, 0), (f"a{CLAPPER}b", 1, 1)],
)
def test_every_character_beyond_the_bmp_counts_twice(text: str, offset: int, units: int) -> None:
    assert to_utf16(text, offset) == units
    assert from_utf16(text, units) == offset


@pytest.mark.parametrize("units", [-1, 1, 3, 99])
def test_an_offset_inside_a_character_is_none(units: int) -> None:
    assert from_utf16(CLAPPER, units) is None


@given(st.text(), st.data())
def test_there_and_back_is_the_same_place(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    assert from_utf16(text, to_utf16(text, offset)) == offset
    assert to_utf16(text, offset) == len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


@given(st.text())
def test_the_two_differ_only_beyond_the_bmp(text: str) -> None:
    assert is_astral(text) == (to_utf16(text, len(text)) != len(text))


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [(2, 6, (3, 4)), (0, 1, (0, 2)), (0, 6, (0, 7))],
    ids=["after an emoji", "an emoji", "over an emoji"],
)
def test_a_span_has_its_start_and_length_in_units(start: int, end: int, span: tuple[int, int]) -> None:
    assert locate_in_utf16("\N{CLAPPER BOARD} Avon", start, end) == span


def test_the_last_character_of_the_bmp_counts_once() -> None:
    assert not is_astral("\uffff")
    assert is_astral("\U00010000")
    assert (to_utf16("\uffff!", 1), from_utf16("\uffff!", 1)) == (1, 1)
    assert (to_utf16("\U00010000!", 1), from_utf16("\U00010000!", 2)) == (2, 1)
