"""How often people are right, and how often two of them agree."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from msgspec import Struct

from shadowprobe.measure.statistics import wilson


class Rate(Struct, frozen=True):
    """A share of n items with Wilson's interval; None if there are no items."""

    n: int
    hits: int
    rate: float | None
    ci95: tuple[float, float] | None


class Kappa(Struct, frozen=True):
    """Cohen's kappa of two annotators over the items that both answered; None if it is not defined."""

    annotators: tuple[str, str]
    n: int
    # The share of the same answers, with Wilson's interval.
    observed: float | None
    kappa: float | None
    observed_ci95: tuple[float, float] | None = None


def make_rate(hits: int, n: int) -> Rate:
    """The share of hits among n items."""
    return Rate(n, hits, hits / n, wilson(hits, n)) if n else Rate(0, 0, None, None)


def average(rates: Iterable[float | None]) -> float | None:
    """The mean of the rates that are known."""
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None


def compute_kappa(names: tuple[str, str], first: Mapping[int, Hashable], second: Mapping[int, Hashable]) -> Kappa:
    """The agreement of two annotators, from their labels by item."""
    both = sorted(first.keys() & second.keys())
    if not both:
        return Kappa(names, 0, None, None)
    pairs = [(first[item], second[item]) for item in both]
    same = make_rate(sum(one == other for one, other in pairs), len(pairs))
    kappa = None
    # Where all labels are the same, the expected agreement is 1, and kappa would be 0/0.
    if len({label for pair in pairs for label in pair}) > 1:
        from sklearn.metrics import cohen_kappa_score

        kappa = float(cohen_kappa_score(*zip(*pairs, strict=True)))
    return Kappa(names, same.n, same.rate, kappa, same.ci95)
