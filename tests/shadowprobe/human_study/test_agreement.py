"""Cohen's kappa and rates, worked out by hand."""

from __future__ import annotations

import pytest

from shadowprobe.human_study.agreement import Kappa, Rate, average, compute_kappa, make_rate

NAMES = ("ann", "bob")


def test_kappa_compares_two_annotators_on_the_items_that_both_have() -> None:
    found = compute_kappa(NAMES, {1: "a", 2: "a", 3: "b", 4: "b", 6: "b"}, {1: "a", 2: "b", 3: "b", 4: "b", 5: "a"})
    # They agree on 3 of 4; by chance on 2/4 * 1/4 + 2/4 * 3/4 = 1/2. So (3/4 - 1/2) / (1 - 1/2).
    assert (found.annotators, found.n, found.observed) == (NAMES, 4, 0.75)
    assert found.kappa == pytest.approx(0.5)


def test_without_two_labels_or_common_items_there_is_no_kappa() -> None:
    assert compute_kappa(NAMES, {1: "a"}, {2: "a"}) == Kappa(NAMES, 0, None, None)
    same = compute_kappa(NAMES, {1: "a", 2: "a"}, {1: "a", 2: "a"})
    assert (same.n, same.observed, same.kappa) == (2, 1.0, None)


def test_rates_without_items_are_not_known_and_not_averaged() -> None:
    assert make_rate(0, 0) == Rate(0, 0, None, None)
    quarter = make_rate(1, 4)
    assert (quarter.n, quarter.hits, quarter.rate) == (4, 1, 0.25)
    assert average([0.25, None, 0.75]) == 0.5
    assert average([None]) is None
