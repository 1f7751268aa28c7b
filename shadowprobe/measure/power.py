"""How large a difference must be, so that McNemar's exact test finds it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

LEVEL, POWER = 0.05, 0.8
# The difference is found to this precision.
STEP = 1e-7
# Numbers of differing pairs so many standard deviations from the expected one do not occur.
RANGE = 10


def detectable(n: int, differing: int) -> float | None:
    """The smallest difference of two rates that McNemar's exact test finds in n pairs with 80% power at the 5% level.

    The share of pairs that differ is the one that was seen, before any correction for several systems. The two rates
    can differ by this share at most; None where even that would not be found.
    """
    if differing == 0:
        return None
    test, share = _ExactTest(n, differing), differing / n
    if test.power(1.0) < POWER:
        return None
    low, high = 0.0, share
    while high - low > STEP:
        middle = (low + high) / 2
        if test.power((1 + middle / share) / 2) < POWER:
            low = middle
        else:
            high = middle
    return high


class _ExactTest:
    """The test in experiments with n pairs, of which each differs with the same probability."""

    def __init__(self, n: int, differing: int) -> None:
        from scipy.special import gammaln, xlog1py, xlogy

        share = differing / n
        reach = RANGE * math.sqrt(n * share * (1 - share)) + RANGE
        counts = np.arange(max(0, math.floor(differing - reach)), min(n, math.ceil(differing + reach)) + 1)
        logarithms = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
        logarithms += xlogy(counts, share) + xlog1py(n - counts, -share)
        limits = _find_limits(counts)
        # Too few differing pairs are never significant.
        is_enough = limits >= 0
        self._weights: npt.NDArray[np.float64] = np.exp(logarithms)[is_enough]
        self._counts, self._limits = counts[is_enough], limits[is_enough]

    def power(self, share_of_first: float) -> float:
        """How often the test is significant, if the first system wins this share of the differing pairs."""
        from scipy.special import bdtr

        found = sum(bdtr(self._limits, self._counts, share) for share in (share_of_first, 1 - share_of_first))
        return float(np.sum(self._weights * found))


def _find_limits(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each number of differing pairs, the most that the loser may win if the test is significant; -1 for none."""
    from scipy.special import bdtr

    def is_significant(wins: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        is_possible = (wins >= 0) & (wins <= counts)
        tail = bdtr(np.where(is_possible, wins, 0), counts, 0.5)
        found: npt.NDArray[np.bool_] = is_possible & (2 * tail <= LEVEL)
        return found

    # The normal approximation is off by a few at most.
    limits = np.maximum(-1, np.floor(counts / 2 - np.sqrt(counts)).astype(np.int64))
    while (more := is_significant(limits + 1)).any():
        limits = limits + more
    while (fewer := (limits >= 0) & ~is_significant(limits)).any():
        limits = limits - fewer
    return limits
