"""Places of mentions in texts that differ in white space."""

from __future__ import annotations

import pytest

from shadowprobe.formats.places import Edge, drop_white_space, find_difference, locate


def test_a_place_counts_the_characters_that_are_no_white_space() -> None:
    place = locate("the  Avon runs", 5, 9)
    assert place.positions == (3, 7)
    assert place == (Edge(3, "  ", ""), Edge(7, "", " "))
    assert not place.has_white_space


@pytest.mark.parametrize("span", [(4, 9), (5, 10), (4, 10)])
def test_a_span_may_begin_or_end_with_white_space(span: tuple[int, int]) -> None:
    place = locate("the  Avon runs", *span)
    assert place.has_white_space
    assert place.positions == (3, 7)


def test_without_a_text_offsets_are_positions() -> None:
    assert locate("", 5, 9) == (Edge(5, "", ""), Edge(9, "", ""))


def test_white_space_counts_where_both_texts_have_the_same() -> None:
    exact, wide = locate("the Avon runs", 4, 8), locate("the Avon runs", 3, 9)
    assert exact.fits(locate("the Avon runs", 4, 8))
    # Both texts have one space at these edges, and the spans differ in them.
    assert not exact.fits(wide)
    # The other text has a newline or nothing there, and its span cannot be told apart.
    assert exact.fits(locate("the\nAvon\nruns", 3, 9))
    assert wide.fits(locate("theAvonruns", 3, 7))
    assert not exact.fits(locate("the\nAvon\nruns", 4, 7))


@pytest.mark.parametrize(
    ("one", "other", "places"),
    [
        ("a b", "a c", (2, 2)),
        ("a  b", "a c", (3, 2)),
        # One ends before the other, and white space at its end is no difference.
        ("ab", "a b c", (2, 4)),
        ("ab c ", "ab", (3, 2)),
        ("", "a", (0, 0)),
        ("ab ", "a b", (3, 3)),
    ],
)
def test_texts_differ_from_the_first_other_character_on(one: str, other: str, places: tuple[int, int]) -> None:
    assert find_difference(one, other) == places


def test_every_white_space_is_dropped() -> None:
    assert drop_white_space(" a\tb\n c\u00a0") == "abc"
