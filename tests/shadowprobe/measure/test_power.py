"""The smallest detectable difference, against a sum over every outcome of the experiment."""

from __future__ import annotations

from math import comb, sqrt

import pytest

from shadowprobe.measure.power import detectable
from shadowprobe.measure.statistics import mcnemar


def find_power(n: int, share: float, difference: float) -> float:
    """The probability of p <= 0.05, summed over every number of wins of both systems in n pairs."""
    first, second = (share + difference) / 2, (share - difference) / 2
    power = 0.0
    for differing in range(n + 1):
        tail = 0
        for losses in range(differing // 2 + 1):
            tail += comb(differing, losses)
            # p is twice the tail of 2 ** differing equal cases.
            if 2 * tail / 2**differing > 0.05:
                break
            wins = differing - losses
            ways = comb(n, differing) * comb(differing, losses)
            # Either system may be the one that wins.
            cases = first**wins * second**losses + first**losses * second**wins
            power += ways * cases * (1 - share) ** (n - differing)
    return power


@pytest.mark.parametrize(("n", "differing"), [(20, 10), (40, 10), (60, 25), (60, 60), (30, 29)])
def test_the_exact_test_finds_the_smallest_detectable_difference_in_80_percent(n: int, differing: int) -> None:
    found = detectable(n, differing)
    assert found is not None
    assert 0 < found <= differing / n
    assert find_power(n, differing / n, found) >= 0.8
    assert find_power(n, differing / n, found - 1e-5) < 0.8


def test_the_normal_approximation_promised_too_much() -> None:
    # It solves sqrt(n) d = 1.96 sqrt(s) + 0.84 sqrt(s - d²) for d.
    n, share = 60, 25 / 60
    d = 0.0
    for _ in range(100):
        d = (1.959964 * sqrt(share) + 0.841621 * sqrt(share - d * d)) / sqrt(n)
    assert find_power(n, share, d) < 0.79
    assert (detectable(60, 25) or 0) > d


def test_every_pair_that_differs_has_to_agree_if_there_are_six() -> None:
    # If all pairs differ, n is known. With 6 pairs only 6 : 0 is significant (p = 2/64), so that one system has to win
    # each with 0.8 ** (1/6) = 0.9635 at least: a difference of 2 * 0.9635 - 1. The other tail is 0.04 ** 6.
    assert detectable(6, 6) == pytest.approx(2 * 0.8 ** (1 / 6) - 1, abs=1e-6)
    assert mcnemar(6, 0) == 2 / 64


@pytest.mark.parametrize(
    ("n", "differing"),
    [
        (100, 0),
        # Five pairs are never significant: 2/32 is above 0.05.
        (5, 5),
        # Six expected, and often five or fewer.
        (100, 6),
    ],
)
def test_where_too_few_pairs_differ_no_difference_can_be_seen(n: int, differing: int) -> None:
    assert detectable(n, differing) is None


def test_many_pairs_approach_the_normal_approximation() -> None:
    # (1.96 + 0.84) * sqrt(s / n) for a difference that is small beside s; the exact test needs a little more.
    approximation = (1.959964 + 0.841621) * sqrt(0.2 / 100_000)
    found = detectable(100_000, 20_000) or 0.0
    assert found == pytest.approx(approximation, rel=0.01)
    assert found > approximation
