"""The prefix tree against a plain list of sequences."""

from __future__ import annotations

import tracemalloc
from importlib import import_module
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

# By its name, since type checkers do not see where the folder is installed.
Trie: Any = import_module("shadowprobe.linkers._shared.trie").Trie
END = 2
MERCURY = [("Mercury (planet)", [50, 7, 9, END]), ("Mercury", [50, END]), ("Venus", [60000, 70000, END])]

# Few different tokens, so that most sequences share a beginning; some are the beginning of others.
sequences = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), max_size=12)


def test_what_may_follow_a_prefix() -> None:
    trie = Trie(MERCURY)
    assert trie.after([]) == [50, 60000]
    assert trie.after([50]) == [END, 7]
    assert trie.after([50, 7]) == [9]
    assert trie.after([60000]) == [70000]


def test_nothing_follows_a_whole_title_or_what_no_title_begins_with() -> None:
    trie = Trie(MERCURY)
    assert trie.after([50, END]) == []
    assert trie.after([50, END, END]) == []
    assert trie.after([50, 9]) == []
    assert trie.after([7]) == []


def test_a_whole_sequence_is_a_title_and_a_part_of_one_is_not() -> None:
    trie = Trie(MERCURY)
    assert [trie.title(sequence) for _, sequence in MERCURY] == ["Mercury (planet)", "Mercury", "Venus"]
    assert trie.title([50]) is None
    assert trie.title([50, 7, 9]) is None
    assert trie.title([50, END, END]) is None
    assert trie.title([]) is None


def test_its_length_and_depth() -> None:
    assert (len(Trie(MERCURY)), Trie(MERCURY).depth) == (3, 4)
    assert (len(Trie([])), Trie([]).depth) == (0, 0)


def test_an_empty_one_allows_nothing() -> None:
    assert Trie([]).after([]) == []
    assert Trie([]).title([1]) is None


def test_of_equal_sequences_the_first_title_stands() -> None:
    trie = Trie([("Zoë", [5, END]), ("Zoe", [5, END]), ("Zoë", [5, END])])
    assert len(trie) == 1
    assert trie.title([5, END]) == "Zoë"


def test_titles_keep_every_character() -> None:
    titles = ["Grüße", "🎬", "東京", "a b", " x "]
    trie = Trie((title, [number, END]) for number, title in enumerate(titles, start=10))
    assert [trie.title([number, END]) for number in range(10, 15)] == titles


@given(sequences, st.lists(st.integers(0, 3), max_size=6))
def test_it_says_what_a_list_of_all_sequences_says(listed: list[list[int]], prefix: list[int]) -> None:
    trie = Trie((str(sequence), sequence) for sequence in listed)
    begun = [sequence for sequence in listed if sequence[: len(prefix)] == prefix]
    assert trie.after(prefix) == sorted({sequence[len(prefix)] for sequence in begun if len(sequence) > len(prefix)})
    assert trie.title(prefix) == (str(prefix) if prefix in listed else None)
    assert len(trie) == len({tuple(sequence) for sequence in listed})
    assert trie.depth == max(map(len, listed), default=0)


def test_a_title_takes_few_bytes() -> None:
    # Eight tokens of two bytes each, 12 bytes of text and two places of eight are 44 bytes; the text has some slack.
    count = 20_000
    tracemalloc.start()
    try:
        trie = Trie((f"{number:012}", [*_digits(number), END]) for number in range(count))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(trie) == count
    assert kept < 50 * count


def _digits(number: int) -> list[int]:
    return [40_000 + number // 7**place % 7 for place in range(7)]
