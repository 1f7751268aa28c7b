"""Snippets that ask the same thing are found, and no others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shadowprobe import Snippet
from shadowprobe.repeats import Repeats, question

SNIPPET = Snippet(id="one", subset="top", text="Avon, on the Avon.", start=0, end=4, space="Avon", gold="Avon (town)")


def same(first: Snippet, second: Snippet, *, with_gold: bool = False) -> bool:
    return question(first, with_gold=with_gold) == question(second, with_gold=with_gold)


def test_a_question_is_the_text_and_the_place_of_the_mention() -> None:
    assert same(SNIPPET, replace(SNIPPET, id="two", subset="tail", space=None, source="elsewhere"))
    assert not same(SNIPPET, replace(SNIPPET, start=13, end=17))
    assert not same(SNIPPET, replace(SNIPPET, text="Avon, on the Avon!"))


def test_a_word_that_stands_in_for_two_names_is_two_questions() -> None:
    masked = replace(SNIPPET, text="this, on this.")
    assert not same(masked, replace(masked, space="Bath"))


def test_a_linker_that_sees_the_gold_is_asked_once_for_each_gold_answer() -> None:
    other = replace(SNIPPET, id="two", gold="Avon (river)")
    assert same(SNIPPET, other)
    assert not same(SNIPPET, other, with_gold=True)


def test_every_repeat_stands_with_the_first_that_asks_the_same() -> None:
    repeats = Repeats(letter * 16 for letter in (b"a", b"b", b"a", b"c", b"a", b"b"))
    assert [repeats.asked_before(place) for place in range(6)] == [False, False, True, False, True, True]
    assert repeats.places(0) == [0, 2, 4]
    assert repeats.places(1) == [1, 5]
    assert repeats.places(3) == [3]


def test_no_questions_have_no_repeats() -> None:
    Repeats(())


def test_questions_that_share_half_of_their_digest_are_different() -> None:
    low, high = b"l" * 8, b"h" * 8
    repeats = Repeats([low + high, low + low, high + high, high + low])
    assert not any(repeats.asked_before(place) for place in range(4))


def test_digests_that_end_in_zeros_are_compared_in_full() -> None:
    repeats = Repeats([b"x" * 15 + b"\0", b"x" * 14 + b"\0\0", b"x" * 15 + b"\0"])
    assert repeats.places(0) == [0, 2]
    assert repeats.places(1) == [1]


@given(st.lists(st.sampled_from([bytes([number]) * 16 for number in range(5)]), max_size=40))
def test_the_firsts_and_their_repeats_are_all_there_is(questions: list[bytes]) -> None:
    repeats = Repeats(questions)
    firsts = [place for place in range(len(questions)) if not repeats.asked_before(place)]
    groups = [repeats.places(place) for place in firsts]
    assert sorted(place for group in groups for place in group) == list(range(len(questions)))
    assert all(group == sorted(group) for group in groups)
    assert [{questions[place] for place in group} for group in groups] == [{questions[first]} for first in firsts]
    assert len({questions[first] for first in firsts}) == len(firsts)
