"""Intervals and tests against published or hand-worked values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadowprobe.measure.statistics import (
    auroc,
    bootstrap_counts,
    count_pairs,
    decide,
    describe_difference,
    describe_gap,
    describe_mean,
    describe_rate,
    describe_share,
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
    [
        ((0.1, 0.3), "more"),
        ((-0.3, -0.1), "less"),
        ((-0.1, 0.1), "undecided"),
        ((0.0, 0.2), "undecided"),
        ((-0.2, 0.0), "undecided"),
    ],
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


def test_a_bootstrap_has_1000_rounds_and_seed_7_unless_told_otherwise() -> None:
    assert bootstrap_counts([3, 4]).shape == (1000, 2)
    assert (bootstrap_counts([30, 40]) == bootstrap_counts([30, 40], 1000, 7)).all()
    assert bootstrap_counts([0, 0, 0]).shape == (1000, 3)
    assert paired_difference(3, 20, 9, 4) == paired_difference(3, 20, 9, 4, rounds=1000, seed=7)
    first, second, groups = holds(2, 5, 3), holds(4, 4, 2), np.repeat(np.arange(5, dtype=np.int32), 2)
    assert grouped_difference(first, second, groups) == grouped_difference(first, second, groups, rounds=1000, seed=7)


def test_f1_of_a_single_answer_that_is_right_is_a_plain_rate() -> None:
    # 1 right: F1 = 1, so that the variance is 0 and the size is that of the denominator.
    assert f1_interval(1, 0, 0) == wilson(1, 1)
    # 2 right of 3, none skipped: the variance is 2 * (1 - 2/3) = 2/3 and the size (2/9) * 9 / (2/3) = 3.
    assert f1_interval(2, 1, 0) == pytest.approx(wilson(2, 3))


def test_a_rate_has_its_interval_beside_it() -> None:
    assert describe_rate("right", 3, 4) == {"right": 0.75, "right_ci95": list(wilson(3, 4))}
    assert describe_rate("right", 0, 0) == {"right": None, "right_ci95": None}


def test_a_share_has_its_number_of_items() -> None:
    assert describe_share([True, False, True, True]) == {"n": 4, "rate": 0.75, "ci95": list(wilson(3, 4))}
    assert describe_share([]) is None


def test_a_difference_has_its_interval_under_its_name() -> None:
    # 6 of 10 minus 5 of 10.
    groups = np.arange(10, dtype=np.int32)
    found = describe_difference("gain", holds(4, 6), holds(5, 5), groups, 50, 3)
    assert found["gain"] == pytest.approx(0.1)
    assert found["gain_ci95"] == list(grouped_difference(holds(4, 6), holds(5, 5), groups, rounds=50, seed=3))


def test_the_mean_of_two_groups_is_one_of_three_in_each_draw() -> None:
    # Only the first group (1), only the second (0), or both (2/3): each of the first two in a quarter of the draws.
    assert describe_mean([1.0, 1.0, 0.0], [8, 8, 5], 1000, 7) == {
        "n": 3,
        "rate": pytest.approx(2 / 3),
        "ci95": [0.0, 1.0],
    }


def test_equal_values_have_an_interval_without_width() -> None:
    assert describe_mean([0.5, 0.5, 0.5], [1, 2, 3], 100, 7) == {"n": 3, "rate": 0.5, "ci95": [0.5, 0.5]}


@pytest.mark.parametrize(
    ("values", "widest"), [([0.2, 0.4], [0.0, 1.0]), ([0.0, 0.4], [0.0, 1.0]), ([-0.2, 0.4], [-1.0, 1.0])]
)
def test_the_mean_of_a_single_group_can_be_anything_in_its_range(values: list[float], widest: list[float]) -> None:
    assert describe_mean(values, [4, 4], 100, 7) == {"n": 2, "rate": pytest.approx(sum(values) / 2), "ci95": widest}


def test_no_values_have_no_mean() -> None:
    assert describe_mean([], [], 100, 7) is None


def test_a_gap_is_the_mean_of_the_first_group_minus_that_of_the_second() -> None:
    # 3 of 4 minus 1 of 4, in every draw of the only unit.
    assert describe_gap([[3, 4, 1, 4]], 100, 7) == {"difference": 0.5, "ci95": [0.5, 0.5]}
    # Over both units 4 of 6 minus 1 of 6. Drawn alone, they are 3/4 - 1/4 and 1/2 - 0: 1/2 in every draw.
    found = describe_gap([[3, 4, 1, 4], [1, 2, 0, 2]], 100, 7)
    assert found == {"difference": pytest.approx(0.5), "ci95": [0.5, 0.5]}


def test_a_gap_may_be_nothing() -> None:
    assert describe_gap([[2, 4, 1, 2]], 100, 7) == {"difference": 0.0, "ci95": [0.0, 0.0]}


def test_draws_in_which_a_group_is_empty_do_not_count() -> None:
    # Both units are needed for a difference: 1 of 1 minus 1 of 2.
    assert describe_gap([[1, 1, 0, 0], [0, 0, 1, 2]], 100, 7) == {"difference": 0.5, "ci95": [0.5, 0.5]}
    # Without any draw that counts, the difference can be anything.
    assert describe_gap([[1, 1, 0, 0], [0, 0, 1, 2]], 0, 7) == {"difference": 0.5, "ci95": [-1.0, 1.0]}


@pytest.mark.parametrize("table", [[[0, 0, 1, 2]], [[1, 2, 0, 0]], []])
def test_without_one_of_the_groups_there_is_no_gap(table: list[list[int]]) -> None:
    assert describe_gap(table, 100, 7) is None


def test_a_gap_holds_the_middle_95_percent_of_the_draws() -> None:
    # 100 units with one item in each group; in half of them the first is right, and the second never is. The
    # difference 0.5 has the standard error sqrt(0.25 / 100).
    found = describe_gap([[number % 2, 1, 0, 1] for number in range(100)], 5000, 7)
    assert found is not None
    assert found["ci95"] == pytest.approx([0.5 - 1.96 * 0.05, 0.5 + 1.96 * 0.05], abs=0.011)


def test_the_area_under_the_curve_counts_the_pairs_in_order() -> None:
    # 3 above 1 and 2, 2 above 1, and a tie: 3.5 of 4 pairs.
    scores = np.array([3.0, 1.0, 2.0, 2.0, 9.0])
    high = np.array([True, False, True, False, False])
    low = np.array([False, True, False, True, False])
    assert auroc(scores, high, low) == 0.875
    assert auroc(scores, low, high) == 0.125
    nothing = np.zeros(5, dtype=np.bool_)
    assert auroc(scores, high, nothing) is None
    assert auroc(scores, nothing, low) is None
