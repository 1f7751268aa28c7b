"""Snippets that nearly repeat an earlier one are left out."""

from __future__ import annotations

from array import array
from collections import Counter

import pytest
from cutting import URL, around
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowprobe.build import near_duplicates
from shadowprobe.build.near_duplicates import NearDuplicates
from shadowprobe.dataset.kept_pages import Cut


def made(text: str, entity: str = "Paul Smith") -> Cut:
    start = text.index("Smith")
    return Cut(entity, "Smith", text, start, start + 5, entity, text, URL, 0)


def distinct(*texts: str) -> tuple[list[str], int]:
    dropped: Counter[str] = Counter()
    kept = [each.text for each in NearDuplicates().drop((made(text) for text in texts), dropped)]
    return kept, dropped[near_duplicates.NEAR_DUPLICATE]


LONG = "a b c d e f g h i j k l m n o p q r s t Smith"


def test_of_two_equal_snippets_the_first_stays() -> None:
    first, second = made(around("Smith")), made(around("Smith"), "John Smith")
    assert list(NearDuplicates().drop([first, second], Counter())) == [first]


def test_case_and_punctuation_make_no_difference() -> None:
    assert distinct("He saw Smith, in the town.", "“HE SAW Smith – in the town!”") == (
        ["He saw Smith, in the town."],
        1,
    )


def test_one_other_word_in_twenty_one_makes_a_near_duplicate_and_two_do_not() -> None:
    # 19 runs of three words; a word in the middle is in 3 of them: 16 in common of 22, which is more than 7 in 10.
    assert distinct(LONG, LONG.replace("j", "x")) == ([LONG], 1)
    # Two words far from one another: 13 in common of 25.
    other = LONG.replace(" f ", " x ").replace(" m ", " y ")
    assert distinct(LONG, other) == ([LONG, other], 0)


def test_seven_of_ten_runs_in_common_make_a_near_duplicate_and_six_do_not() -> None:
    # 12 words have 10 runs of three, their first 9 words 7 of these, and their first 8 words 6.
    ten, seven, six = "Smith b c d e f g h i j k l", "Smith b c d e f g h i", "Smith b c d e f g h"
    assert distinct(ten, seven) == ([ten], 1)
    assert distinct(seven, ten) == ([seven], 1)
    assert distinct(ten, six) == ([ten, six], 0)


def test_snippets_that_share_few_words_both_stay() -> None:
    assert distinct("He saw Smith in the town.", "She met Smith at the sea.")[1] == 0


def test_snippets_shorter_than_a_run_are_compared_whole() -> None:
    assert distinct("Smith", "Smith left", "smith Smith", "Smith") == (["Smith", "Smith left", "smith Smith"], 1)


WORDS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12)


@settings(deadline=None)
@given(st.lists(WORDS, max_size=12))
def test_exactly_the_near_duplicates_are_found(texts: list[list[str]]) -> None:
    given_texts = [" ".join([*text, "Smith"]) for text in texts]
    expected: list[str] = []
    for text in given_texts:
        if not any(alike(text, other) for other in expected):
            expected.append(text)
    assert distinct(*given_texts) == (expected, len(texts) - len(expected))


# How soon the index is built again, and how soon a slot is crowded: few snippets then have all that many have.
@settings(deadline=None)
@given(st.lists(WORDS, max_size=40), st.integers(1, 8), st.integers(0, 3), st.integers(0, 3))
def test_an_index_that_is_built_again_and_again_finds_the_same(
    texts: list[list[str]], first: int, crowded: int, comparisons: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_duplicates, "_FIRST", first)
        patch.setattr(near_duplicates, "_CROWDED", crowded)
        patch.setattr(near_duplicates, "_COMPARISONS", comparisons)
        seen = NearDuplicates()
        kept: list[str] = []
        for text in (" ".join(text) for text in texts):
            assert seen.add(text) is not any(alike(text, other) for other in kept)
            kept += [text] if len(seen) > len(kept) else []


def test_every_text_of_a_crowded_index_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "_CROWDED", 1)
    seen = NearDuplicates()
    texts = [f"{number} b c" for number in range(100)]
    assert all(map(seen.add, texts))
    assert not any(map(seen.add, texts))


def test_a_snippet_takes_at_most_three_hundred_bytes() -> None:
    seen = NearDuplicates()
    for number in range(2_000):
        # 20 runs of three words.
        assert seen.add(" ".join(f"w{number}x{at}" for at in range(22)))
    arrays = [value for value in vars(seen).values() if isinstance(value, array)]
    assert sum(each.itemsize * len(each) for each in arrays) <= 300 * len(seen)


def alike(one: str, other: str) -> bool:
    """The definition, by comparing all with all."""
    first, second = runs(one), runs(other)
    return 10 * len(first & second) >= 7 * len(first | second)


def runs(text: str) -> set[tuple[str, ...]]:
    found = text.lower().split()
    return {tuple(found[at : at + 3]) for at in range(max(1, len(found) - 2))}
