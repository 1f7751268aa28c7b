"""The best documents of many: by score, and among equals by a draw for each query."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from shadowprobe.queries.query import Hit, Query

best_hits: Any = import_module("shadowprobe.retrievers._shared.best_hits")
IDS = ["a", "b", "c", "d", "e"]


def best(text: str, numbers: list[int], scores: list[float], k: int) -> list[Hit]:
    found: list[Hit] = best_hits.choose_best(Query("q", text), np.array(numbers, dtype=int), np.array(scores), IDS, k)
    return found


def chosen(scores: list[float], k: int, text: str = "?") -> list[Hit]:
    return best(text, list(range(len(scores))), scores, k)


def test_the_highest_scores_come_first() -> None:
    assert chosen([0.1, 0.5, 0.3], 2) == [Hit("b", 0.5), Hit("c", 0.3)]
    assert chosen([0.1, 0.5, 0.3], 9) == [Hit("b", 0.5), Hit("c", 0.3), Hit("a", 0.1)]


def test_of_nothing_nothing_is_chosen() -> None:
    assert chosen([], 3) == []


def test_numbers_name_the_documents_that_have_scores() -> None:
    assert best("?", [4, 2], [1.0, 2.0], 5) == [Hit("c", 2.0), Hit("e", 1.0)]


def test_the_last_bits_of_a_score_decide_nothing() -> None:
    firsts = {chosen([0.3, 0.1 + 0.2], 1, f"query {n}")[0].document for n in range(50)}
    # 0.1 + 0.2 is a little more than 0.3 in binary.
    assert firsts == {"a", "b"}


def test_equal_scores_stand_in_an_order_drawn_for_each_query() -> None:
    firsts = Counter(chosen([1.0, 1.0], 2, f"query {n}")[0].document for n in range(400))
    # Of 400 fair draws 200 are expected, and 40 more or less are four standard deviations.
    assert 160 <= firsts["a"] <= 240
    assert firsts.total() == 400


def test_the_draw_is_the_same_for_the_same_query_and_another_order_of_documents() -> None:
    assert best("?", [0, 1, 2], [1.0] * 3, 3) == best("?", [2, 0, 1], [1.0] * 3, 3)


@pytest.mark.parametrize("k", [1, 2])
def test_all_that_equal_the_last_that_fits_take_part_in_the_draw(k: int) -> None:
    seen: Counter[str] = Counter()
    for n in range(200):
        hits = chosen([2.0, 1.0, 1.0, 1.0, 0.5], k + 1, f"query {n}")
        assert hits[0].document == "a"
        assert len(hits) == k + 1
        seen.update(hit.document for hit in hits[1:])
    assert set(seen) == {"b", "c", "d"}
