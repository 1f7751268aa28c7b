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
        if test.power(middle / share) < POWER:
            low = middle
        else:
            high = middle
    return high


class _ExactTest:
    """The test in experiments with n pairs, of which each differs with the same probability."""

    def __init__(self, n: int, differing: int) -> None:
        from scipy.special import bdtrik, gammaln, xlog1py, xlogy

        share = differing / n
        reach = RANGE * math.sqrt(n * share * (1 - share)) + RANGE
        counts = np.arange(max(0, math.floor(differing - reach)), min(n, math.ceil(differing + reach)) + 1)
        # Too few differing pairs are never significant, even if one system wins all of them.
        counts = counts[2 * 0.5**counts <= LEVEL]
        logarithms = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
        logarithms += xlogy(counts, share) + xlog1py(n - counts, -share)
        self._weights: npt.NDArray[np.float64] = np.exp(logarithms)
        self._counts = counts
        # For each number of differing pairs, the most that the loser may win if the test is significant.
        self._limits = np.floor(bdtrik(LEVEL / 2, counts, 0.5))

    def power(self, lead: float) -> float:
        """How often the test is significant, if the first system leads by this share of the differing pairs."""
        from scipy.special import bdtr

        found = sum(bdtr(self._limits, self._counts, share) for share in ((1 + lead) / 2, (1 - lead) / 2))
        return float(np.sum(self._weights * found))
