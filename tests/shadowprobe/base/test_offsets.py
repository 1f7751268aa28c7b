"""Code points and UTF-16 units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowprobe.offsets import from_utf16, is_astral, to_utf16

CLAPPER = "\N{CLAPPER BOARD}"


@pytest.mark.parametrize(
    ("text", "offset", "units"),
    [("Zürich", 2, 2), (f"{CLAPPER} Avon", 2, 3), (f"{CLAPPER}{CLAPPER}", 2, 4), ("", 0, 0), (f"a{CLAPPER}b", 1, 1)],
)
def test_every_character_beyond_the_bmp_counts_twice(text: str, offset: int, units: int) -> None:
    assert to_utf16(text, offset) == units
    assert from_utf16(text, units) == offset


@pytest.mark.parametrize("units", [-1, 1, 3, 99])
def test_a_place_that_no_character_begins_at_is_none(units: int) -> None:
    assert from_utf16(CLAPPER, units) is None


@given(st.text(), st.data())
def test_there_and_back_is_the_same_place(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    assert from_utf16(text, to_utf16(text, offset)) == offset
    assert to_utf16(text, offset) == len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


@given(st.text())
def test_the_two_differ_only_beyond_the_bmp(text: str) -> None:
    assert is_astral(text) == (to_utf16(text, len(text)) != len(text))
