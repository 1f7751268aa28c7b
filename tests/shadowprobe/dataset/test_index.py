"""Snippets that ask the same thing are found, and no others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shadowprobe import Snippet
from shadowprobe.dataset import index as module
from shadowprobe.dataset.index import Repeats, SnippetIndex, digest_question

SNIPPET = Snippet(id="one", subset="top", text="Avon, on the Avon.", start=0, end=4, space="Avon", gold="Avon (town)")


def is_same(first: Snippet, second: Snippet) -> bool:
    return digest_question(first) == digest_question(second)


def find_repeats(
    questions: Sequence[bytes], golds: Sequence[int] = (), waiting: Sequence[bool] = (), *, with_gold: bool = False
) -> Repeats:
    """The repeats of rows with these digests."""
    index = SnippetIndex()
    for row, question in enumerate(questions):
        index.add_codes(str(row), 0, -1, golds[row] if golds else -1, -1, question)
    rows = np.array(waiting or [True] * len(questions), dtype=np.bool_)
    return index.find_repeats(rows, with_gold=with_gold)


def test_a_question_is_the_text_and_the_place_of_the_mention() -> None:
    assert is_same(SNIPPET, replace(SNIPPET, id="two", subset="tail", space=None, source="elsewhere"))
    assert not is_same(SNIPPET, replace(SNIPPET, start=13, end=17))
    assert not is_same(SNIPPET, replace(SNIPPET, text="Avon, on the Avon!"))


def test_a_word_that_stands_in_for_two_names_is_two_questions() -> None:
    masked = replace(SNIPPET, text="this, on this.")
    assert not is_same(masked, replace(masked, space="Bath"))


def test_a_linker_that_sees_the_gold_is_asked_once_for_each_gold_answer() -> None:
    assert is_same(SNIPPET, replace(SNIPPET, id="two", gold="Avon (river)"))
    questions, golds = [b"a" * 16] * 3, [1, 2, 1]
    assert find_repeats(questions, golds).rows_of(0) == [0, 1, 2]
    assert find_repeats(questions, golds, with_gold=True).rows_of(0) == [0, 2]
    assert find_repeats(questions, golds, with_gold=True).is_first(1)


def test_every_repeat_stands_with_the_first_that_asks_the_same() -> None:
    repeats = find_repeats([letter * 16 for letter in (b"a", b"b", b"a", b"c", b"a", b"b")])
    assert [repeats.is_first(row) for row in range(6)] == [True, True, False, True, False, False]
    assert repeats.rows_of(0) == [0, 2, 4]
    assert repeats.rows_of(1) == [1, 5]
    assert repeats.rows_of(3) == [3]


def test_rows_that_have_an_answer_are_left_out() -> None:
    questions = [letter * 16 for letter in (b"a", b"a", b"b", b"a")]
    repeats = find_repeats(questions, waiting=[False, True, False, True])
    assert [repeats.is_first(row) for row in range(4)] == [False, True, False, False]
    assert repeats.rows_of(1) == [1, 3]


def test_no_questions_have_no_repeats() -> None:
    find_repeats(())


def test_questions_that_share_half_of_their_digest_are_different() -> None:
    low, high = b"l" * 8, b"h" * 8
    repeats = find_repeats([low + high, low + low, high + high, high + low])
    assert all(repeats.is_first(row) for row in range(4))


def test_digests_that_end_in_zeros_are_compared_in_full() -> None:
    repeats = find_repeats([b"x" * 15 + b"\0", b"x" * 14 + b"\0\0", b"x" * 15 + b"\0"])
    assert repeats.rows_of(0) == [0, 2]
    assert repeats.rows_of(1) == [1]


@given(st.lists(st.sampled_from([bytes([number]) * 16 for number in range(5)]), max_size=40))
def test_the_firsts_and_their_repeats_are_all_there_is(questions: list[bytes]) -> None:
    repeats = find_repeats(questions)
    firsts = [row for row in range(len(questions)) if repeats.is_first(row)]
    groups = [repeats.rows_of(row) for row in firsts]
    assert sorted(row for group in groups for row in group) == list(range(len(questions)))
    assert all(group == sorted(group) for group in groups)
    assert [{questions[row] for row in group} for group in groups] == [{questions[first]} for first in firsts]
    assert len({questions[first] for first in firsts}) == len(firsts)


def test_a_template_has_a_text_if_all_of_its_contexts_are_alike() -> None:
    index = SnippetIndex()
    contexts = [
        (1, "We saw Avon."),
        (1, "We saw Bath."),
        (2, "Avon, then."),
        (2, "Bath, now."),
        (3, "Bath?"),
        (None, "?"),
    ]
    for number, (template, text) in enumerate(contexts):
        name = "Avon" if "Avon" in text else "Bath"
        start = max(text.find(name), 0)
        snippet = replace(SNIPPET, id=str(number), text=text, start=start, end=start + 4, space=name, template=template)
        index.add(snippet, subset=0, space=0, gold=0)
    assert index.template_texts == {1: "We saw {name}.", 2: None, 3: "{name}?"}
    assert list(index.templates) == [1, 1, 2, 2, 3, -1]


def test_the_foreign_documents_of_snippets_are_numbered_as_they_come() -> None:
    index = SnippetIndex()
    for number, document in enumerate(("a.txt", None, "b.txt", "a.txt")):
        index.add(replace(SNIPPET, id=str(number), document=document), subset=0, space=0, gold=0)
    assert list(index.documents) == [0, -1, 1, 0]


def test_the_first_spaces_come_with_as_many_snippets_of_each_subset_that_have_no_space() -> None:
    index = SnippetIndex()
    # The subset and the space of each row; rows without a space have -1.
    rows = [(0, 0), (1, 0), (0, 1), (2, -1), (2, -1), (3, -1), (2, -1), (0, 2)]
    for row, (subset, space) in enumerate(rows):
        index.add_codes(f"id-{row}", subset, space, 10 + row, 20 + row, bytes([row]) * 16, 30 + row)
    index.template_texts = {1: "We saw {name}."}
    for limit, expected in ((1, [0, 1, 3, 5]), (2, [0, 1, 2, 3, 4, 5])):
        part = index.first(limit)
        assert part.rows == {f"id-{row}": number for number, row in enumerate(expected)}
        assert list(zip(part.subsets, part.spaces, strict=True)) == [rows[row] for row in expected]
        assert list(part.golds) == [10 + row for row in expected]
        assert list(part.templates) == [20 + row for row in expected]
        assert list(part.documents) == [30 + row for row in expected]
        assert part.questions == b"".join(bytes([row]) * 16 for row in expected)
        assert part.template_texts == index.template_texts


def test_repeats_are_found_across_the_blocks_in_which_rows_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 2)
    repeats = find_repeats([letter * 16 for letter in (b"a", b"a", b"a", b"b", b"b", b"a", b"c")])
    assert [repeats.rows_of(row) for row in (0, 3, 6)] == [[0, 1, 2, 5], [3, 4], [6]]
    assert [row for row in range(7) if repeats.is_first(row)] == [0, 3, 6]
