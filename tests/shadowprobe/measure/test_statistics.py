"""Intervals and tests against published or hand-worked values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowprobe.measure.statistics import (
    bootstrap_counts,
    count_pairs,
    decide,
    f1_interval,
    grouped_difference,
    mcnemar,
    paired_difference,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe 1998, "Two-sided confidence intervals for the single proportion", Table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_newcombes_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert round(interval.low, 4) == low
    assert round(interval.high, 4) == high


def test_half_of_904_is_known_to_about_3_3_points() -> None:
    # z/(1+z²/n) * sqrt(1/4n + z²/4n²) with n = 904 is 0.0325.
    interval = wilson(452, 904)
    assert interval.low == pytest.approx(0.5 - 0.0325, abs=5e-5)
    assert interval.high == pytest.approx(0.5 + 0.0325, abs=5e-5)


def test_wilson_does_not_collapse_at_the_ends() -> None:
    assert wilson(0, 10).low == 0.0
    assert wilson(0, 10).high > 0.25
    assert wilson(10, 10).high == 1.0
    assert wilson(10, 10).low < 0.75


def test_no_data_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_f1_without_skips_is_a_plain_rate() -> None:
    assert f1_interval(6, 4, 0) == pytest.approx(wilson(6, 10))


def test_f1_with_skips_has_the_effective_size_of_the_delta_method() -> None:
    # 6 right, 2 wrong, 2 skipped: D = 9, F1 = 2/3, variance * D² = 2.4 + 0.17778 - 0.8 = 1.77778,
    # size = (2/9) * 81 / 1.77778 = 10.125; Wilson there: centre 0.62083, half width 0.25145.
    interval = f1_interval(6, 2, 2)
    assert interval.low == pytest.approx(0.3694, abs=5e-5)
    assert interval.high == pytest.approx(0.8723, abs=5e-5)


def test_f1_of_nothing_answered_is_between_zero_and_something() -> None:
    interval = f1_interval(0, 0, 20)
    assert interval.low == 0.0
    assert 0 < interval.high < 1


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
def test_an_f1_interval_holds_its_f1(correct: int, wrong: int, skipped: int) -> None:
    low, high = f1_interval(correct, wrong, skipped)
    denominator = 2 * correct + 2 * wrong + skipped
    f1 = 2 * correct / denominator if denominator else 0.0
    assert 0.0 <= low <= f1 + 1e-9
    assert f1 - 1e-9 <= high <= 1.0


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        (1, 9, 22 / 1024),  # 2 * (C(10,0) + C(10,1)) / 2^10
        (5, 0, 2 / 32),
        (3, 3, 1.0),
        (0, 0, 1.0),
        (8, 2, 2 * (1 + 10 + 45) / 1024),
    ],
)
def test_mcnemar_is_the_exact_binomial_test_of_the_pairs_that_differ(first: int, second: int, p: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p)
    assert mcnemar(second, first) == pytest.approx(p)


def test_a_bootstrap_by_counts_is_distributed_like_one_by_items() -> None:
    # 40 pairs both right, 70 first only, 20 second only, 70 neither: difference 0.25.
    table = (40, 70, 20, 70)
    difference = np.repeat([0, 1, -1, 0], table)
    generator = np.random.default_rng(1)
    by_items = [generator.choice(difference, 200).mean() for _ in range(6000)]
    expected = np.quantile(by_items, [0.025, 0.975])
    assert paired_difference(*table, rounds=6000) == pytest.approx(expected, abs=0.012)


def test_the_same_seed_draws_the_same_bootstrap() -> None:
    first, second = bootstrap_counts([3, 4, 5], seed=1), bootstrap_counts([3, 4, 5], seed=1)
    assert (first == second).all()
    assert (first != bootstrap_counts([3, 4, 5], seed=2)).any()


def test_every_bootstrap_round_draws_as_many_items_as_there_are() -> None:
    assert (bootstrap_counts([10, 0, 2], rounds=50).sum(axis=1) == 12).all()
    assert (bootstrap_counts([0, 0], rounds=5) == 0).all()


def test_a_difference_without_pairs_can_be_anything() -> None:
    assert paired_difference(0, 0, 0, 0) == (-1.0, 1.0)


def test_items_are_counted_by_which_of_two_systems_has_them() -> None:
    first = np.array([True, True, True, False, False, False, False])
    second = np.array([True, False, False, True, False, False, False])
    counts = count_pairs(first, second)
    assert (counts.both, counts.first_only, counts.second_only, counts.neither) == (1, 2, 1, 3)


@pytest.mark.parametrize(
    ("interval", "word"),
    [((0.1, 0.3), "more"), ((-0.3, -0.1), "less"), ((-0.1, 0.1), "undecided"), ((0.0, 0.2), "undecided")],
)
def test_an_interval_decides_only_where_it_does_not_hold_0(interval: tuple[float, float], word: str) -> None:
    assert decide(interval, above="more", below="less") == word


def holds(*counts: int) -> np.ndarray:
    """The first of these counts does not hold, the second does, and so on."""
    return np.repeat(np.arange(len(counts)) % 2 == 1, counts)


def test_items_that_depend_on_each_other_are_drawn_together() -> None:
    # A hundred groups of four equal items: in 30 only the first holds, in 20 only the second. One group has the
    # variance 0.5 - 0.1², so that the interval is 0.1 +- 1.96 * sqrt(0.49 / 100). Drawn one by one, it would be half as
    # wide.
    groups = np.repeat(np.arange(100, dtype=np.int32), 4)
    first, second = holds(0, 120, 280), holds(120, 80, 200)
    low, high = grouped_difference(first, second, groups, rounds=20000)
    assert low == pytest.approx(0.1 - 1.96 * 0.07, abs=0.012)
    assert high == pytest.approx(0.1 + 1.96 * 0.07, abs=0.012)
    low, high = grouped_difference(first, second, np.arange(400, dtype=np.int32), rounds=20000)
    assert high - low == pytest.approx(2 * 1.96 * 0.035, abs=0.012)


def test_a_large_group_counts_with_all_its_items() -> None:
    # Of two groups, one with nine items that only the first has, and one with a single item that both have. In a
    # quarter of the draws there is only the one (1), in a quarter only the other (0), else both (0.9).
    groups = np.array([7] * 9 + [3], dtype=np.int32)
    assert grouped_difference(holds(0, 10), holds(9, 1), groups) == (0.0, 1.0)


def test_groups_of_one_item_are_items() -> None:
    first, second = holds(40, 60), holds(50, 50)
    groups = np.arange(100, 0, -1, dtype=np.int32)
    assert grouped_difference(first, second, groups) == paired_difference(*count_pairs(first, second))


def test_one_group_says_nothing_about_others() -> None:
    assert grouped_difference(holds(0, 5), holds(5), np.zeros(5, dtype=np.int32)) == (-1.0, 1.0)
