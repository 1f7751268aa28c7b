"""The order in which documents are shown."""

from __future__ import annotations

import pytest

from shadowprobe.queries.document_order import DocumentOrder, Order


@pytest.mark.parametrize(("order", "shown"), [("given", [1, 2, 3]), ("reversed", [3, 2, 1])])
def test_the_order_of_the_file_or_its_reverse(order: Order, shown: list[int]) -> None:
    assert DocumentOrder(order).arrange("avon", [1, 2, 3]) == shown


def test_a_random_order_is_another_for_each_set_and_seed_and_the_same_each_time() -> None:
    documents = list(range(8))
    orders = [DocumentOrder(seed=seed).arrange(one, documents) for seed in (0, 1) for one in ("avon", "berg")]
    assert [sorted(shown) for shown in orders] == [documents] * 4
    assert len({tuple(shown) for shown in orders}) == 4
    assert DocumentOrder().arrange("avon", documents) == orders[0]


def test_what_belongs_to_the_documents_is_arranged_as_they_are() -> None:
    letters, numbers = DocumentOrder().arrange("avon", "abcde"), DocumentOrder().arrange("avon", range(5))
    assert ["abcde".index(letter) for letter in letters] == numbers


def test_each_document_comes_first_about_as_often_as_the_others() -> None:
    first = [DocumentOrder().arrange(str(one), "abc")[0] for one in range(600)]
    # 200 of 600 are expected; a deviation of 5 standard deviations (11.5) is next to impossible.
    assert all(abs(first.count(letter) - 200) < 58 for letter in "abc")
