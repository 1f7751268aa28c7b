"""Intervals and paired tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Z95 = 1.959963984540054
Booleans = npt.NDArray[np.bool_]
ROUNDS = 1000
SEED = 7


class Interval(NamedTuple):
    """A 95% interval."""

    low: float
    high: float


def wilson(successes: float, n: float) -> Interval:
    """Wilson's score interval of a rate; unlike a bootstrap it does not collapse at 0 and 1.

    n may be an effective sample size and need not be whole.
    """
    if n <= 0:
        return Interval(0.0, 1.0)
    rate, z2 = successes / n, Z95 * Z95
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * np.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    # At the ends the exact bound is 0 or 1; rounding would leave a trace beside it.
    low = 0.0 if successes == 0 else max(0.0, float(centre - half))
    high = 1.0 if successes == n else min(1.0, float(centre + half))
    return Interval(low, high)


def describe_rate(name: str, hits: float, n: float) -> dict[str, Any]:
    """A share and its interval under a name, as findings have them; both None where there is nothing to count."""
    if not n:
        return {name: None, f"{name}_ci95": None}
    return {name: float(hits / n), f"{name}_ci95": list(wilson(hits, n))}


def describe_share(hits: Sequence[bool]) -> dict[str, Any] | None:
    """A share with its number of items and its interval, as findings have them; None if there is nothing to count."""
    if not hits:
        return None
    return {"n": len(hits), "rate": sum(hits) / len(hits), "ci95": list(wilson(sum(hits), len(hits)))}


def f1_interval(correct: int, wrong: int, skipped: int) -> Interval:
    """Wilson's interval of an F1 over mentions that are answered right, answered wrong or skipped.

    F1 = correct / (n - skipped / 2). Without skips it is a plain rate. With them its variance by the delta method
    over the three counts gives an effective sample size, at which Wilson's formula is taken.
    """
    n = correct + wrong + skipped
    denominator = n - skipped / 2
    if n == 0 or denominator == 0:
        return wilson(0, n)
    f1 = correct / denominator
    scaled = correct * (1 - correct / n) + f1 * f1 / 4 * skipped * (1 - skipped / n) - f1 * correct * skipped / n
    size = denominator if scaled <= 0 else f1 * (1 - f1) * denominator**2 / scaled
    return wilson(f1 * size, size)


def bootstrap_counts(counts: npt.ArrayLike, rounds: int = ROUNDS, seed: int = SEED) -> npt.NDArray[np.int64]:
    """How often each category comes up in every round of a bootstrap, one row a round.

    Drawing n items with replacement and counting their categories is one multinomial draw, so nothing of the
    size of the data is made: the same distribution as resampling the items, at the cost of the categories.
    """
    counted = np.asarray(counts, dtype=np.int64)
    total = int(counted.sum())
    generator = np.random.default_rng(seed)
    if total == 0:
        return np.zeros((rounds, len(counted)), dtype=np.int64)
    return generator.multinomial(total, counted / total, size=rounds)


class PairCounts(NamedTuple):
    """On how many items something holds for both of two systems, for one of them alone, or for neither."""

    both: int
    first_only: int
    second_only: int
    neither: int


def count_pairs(first: Booleans, second: Booleans) -> PairCounts:
    """Counts over the same items in the same order."""
    cells = (first & second, first & ~second, ~first & second, ~first & ~second)
    return PairCounts(*(int(np.count_nonzero(cell)) for cell in cells))


def decide(interval: Sequence[float], *, above: str, below: str) -> str:
    """What the interval of a difference decides: a word for above 0, one for below, or `undecided` where it holds 0."""
    low, high = interval
    if low > 0:
        return above
    return below if high < 0 else "undecided"


def paired_difference(
    both: int, first_only: int, second_only: int, neither: int, *, rounds: int = ROUNDS, seed: int = SEED
) -> Interval:
    """Percentile bootstrap interval of the difference of two rates over the same items."""
    total = both + first_only + second_only + neither
    if total == 0:
        return Interval(-1.0, 1.0)
    drawn = bootstrap_counts([both, first_only, second_only, neither], rounds, seed)
    low, high = np.quantile((drawn[:, 1] - drawn[:, 2]) / total, [0.025, 0.975])
    return Interval(float(low), float(high))


def grouped_difference(
    first: Booleans, second: Booleans, groups: npt.NDArray[np.int32], *, rounds: int = ROUNDS, seed: int = SEED
) -> Interval:
    """The interval of `paired_difference` over items that depend on each other within groups: groups are drawn.

    With a single group of several items, the data does not tell how much groups differ.
    """
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(sizes) == len(groups):
        return paired_difference(*count_pairs(first, second), rounds=rounds, seed=seed)
    if len(sizes) == 1:
        return Interval(-1.0, 1.0)
    differences = np.bincount(codes, weights=first.astype(np.int8) - second.astype(np.int8))
    # Groups with the same difference and size are one category of the draw.
    distinct, counts = np.unique(np.stack([differences, sizes], axis=1), axis=0, return_counts=True)
    drawn = bootstrap_counts(counts, rounds, seed) @ distinct
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return Interval(float(low), float(high))


def describe_difference(
    name: str, first: Booleans, second: Booleans, groups: npt.NDArray[np.int32], rounds: int, seed: int
) -> dict[str, Any]:
    """The difference of two rates over the same items and its interval under a name, as findings have them."""
    return {
        name: (int(np.count_nonzero(first)) - int(np.count_nonzero(second))) / len(groups),
        f"{name}_ci95": list(grouped_difference(first, second, groups, rounds=rounds, seed=seed)),
    }


def describe_mean(values: Sequence[float], groups: Sequence[int], rounds: int, seed: int) -> dict[str, Any] | None:
    """The mean of values and its bootstrap interval, as findings have them; groups are drawn. None without values.

    Values are from 0 to 1, or differences of such values.
    """
    if not len(values):
        return None
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    table = np.stack([np.bincount(codes, weights=np.asarray(values, dtype=np.float64)), np.bincount(codes)], axis=1)
    # With a single group, the data does not tell how much groups differ.
    widest = (0.0 if min(values) >= 0 else -1.0, 1.0)
    low, high = widest if len(table) == 1 else _draw_quantiles(table, rounds, seed, _mean)
    return {"n": len(values), "rate": float(np.mean(values)), "ci95": [low, high]}


def _mean(totals: npt.NDArray[Any]) -> float:
    return float(totals[0] / totals[1])


def describe_gap(table: npt.ArrayLike, rounds: int, seed: int) -> dict[str, Any] | None:
    """The mean of a first group minus that of a second, with its bootstrap interval; None if one of them is empty.

    A row of the table is one of the units that are drawn: sum and count of the first group, and of the second.
    """
    counts = np.asarray(table).reshape(-1, 4)
    totals = counts.sum(axis=0)
    if not totals[1] or not totals[3]:
        return None
    low, high = _draw_quantiles(counts, rounds, seed, _difference)
    return {"difference": float(_difference(totals) or 0.0), "ci95": [low, high]}


def _difference(totals: npt.NDArray[Any]) -> float | None:
    return float(totals[0] / totals[1] - totals[2] / totals[3]) if totals[1] and totals[3] else None


def _draw_quantiles(
    table: npt.NDArray[Any], rounds: int, seed: int, measure: Callable[[npt.NDArray[Any]], float | None]
) -> tuple[float, float]:
    """The 95% interval of a measure over the sums of drawn rows; draws of which it is None do not count."""
    generator, n = np.random.default_rng(seed), len(table)
    # How often each row is drawn, times the rows: no copy of the drawn rows is made.
    measured = (measure(np.bincount(generator.integers(n, size=n), minlength=n) @ table) for _ in range(rounds))
    values = [value for value in measured if value is not None]
    low, high = np.quantile(values, [0.025, 0.975]) if values else (-1.0, 1.0)
    return float(low), float(high)


def mcnemar(first_only: int, second_only: int) -> float:
    """McNemar's exact test: the two-sided p that both are right equally often, from the pairs that differ."""
    # Not binomtest: scipy.stats alone takes longer to import than a whole run over the release.
    from scipy.special import bdtr

    # At one half the distribution is symmetric, so that both tails together are twice the lower one.
    return min(1.0, 2 * float(bdtr(min(first_only, second_only), first_only + second_only, 0.5)))


def auroc(score: npt.NDArray[np.float64], high: Booleans, low: Booleans) -> float | None:
    """The chance that one of `high` scores above one of `low`, where a tie counts half; None where one is empty."""
    if not high.any() or not low.any():
        return None
    # By its definition: scikit-learn's takes longer to import than all the probes take to run.
    higher, lower = np.sort(score[high]), np.sort(score[low])
    above = int(np.searchsorted(lower, higher, side="left").sum())
    above_or_tied = int(np.searchsorted(lower, higher, side="right").sum())
    return (above + above_or_tied) / 2 / (len(higher) * len(lower))
