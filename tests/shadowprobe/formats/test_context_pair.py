"""A mention between two contexts: where a space is put back, and where none is."""

from __future__ import annotations

import pytest

from shadowprobe.formats.context_pair import join


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ("on the", "runs", "on the Avon runs"),
        ("", "", "Avon"),
        ("on the ", " runs", "on the Avon runs"),
        # Punctuation that has no space on one side.
        ("the river (", ") runs", "the river (Avon) runs"),
        ("in Bath,", ", too", "in Bath, Avon, too"),
        ("costs $", "% of", "costs $Avon% of"),
        # A joining character that touches a word on its other side, and one that does not.
        ("Stratford-", "-on", "Stratford-Avon-on"),
        ("and/", "/or", "and/Avon/or"),
        ("plan a-", "-b plan", "plan a-Avon-b plan"),
        ("dash -", "- dash", "dash - Avon - dash"),
        ("-", "-", "- Avon -"),
        # A straight quotation mark opens, and the next one closes.
        ('called "', '" here', 'called "Avon" here'),
        ('"a" and "', "runs", '"a" and "Avon runs'),
        ('the "lower"', '"upper"', 'the "lower" Avon "upper"'),
        ('a "b', '" c', 'a "b Avon" c'),
        ('"', '"', '"Avon"'),
    ],
)
def test_one_space_is_put_back_except_beside_punctuation(left: str, right: str, text: str) -> None:
    joined, span = join(left, "Avon", right)
    assert joined == text
    assert joined[span.start : span.end] == "Avon"


def test_contexts_that_are_complete_are_left_as_they_are() -> None:
    assert join("see", "Avon", "now", 3) == ("seeAvonnow", (3, 7))
    # Another number is not the length of the left context, which was stripped.
    assert join("see", "Avon", "now", 4)[0] == "see Avon now"
    assert join("", "Avon", "now", 0)[0] == "Avonnow"
