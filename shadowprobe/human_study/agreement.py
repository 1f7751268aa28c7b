"""What the annotators' answers say: their agreement, the share of sufficient contexts, and Table 2 of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal

from msgspec import Struct

from shadowprobe.annotate.returned import Returned
from shadowprobe.annotate.sample import Asked, Item, Key
from shadowprobe.statistics import wilson

Label = Literal["top", "shadow", "not sufficient"]
SUBSETS: tuple[Asked, ...] = ("shadow", "top")


class Rate(Struct, frozen=True):
    """A share of n, with Wilson's interval; without items there is none."""

    n: int
    hits: int
    rate: float | None
    ci95: tuple[float, float] | None


class Kappa(Struct, frozen=True):
    """Cohen's kappa of two annotators over the items that both answered; None where it is not defined."""

    annotators: tuple[str, str]
    n: int
    observed: float | None
    kappa: float | None


class Row(Struct, frozen=True):
    """One annotator: P = R = F on the sufficient items of each subset."""

    annotator: str
    answered: int
    not_sufficient: int
    subsets: dict[Asked, Rate]


class Agreement(Struct, frozen=True):
    """All that is known of a sample from its annotators.

    `complete`: the items that everybody answered. `sufficient`: those of them that nobody called not sufficient.
    P, R and F are over the sufficient items only, as in the paper, and are one number: every item has one answer.
    Unlike the paper we do not throw items away until both subsets have the same size: a rate needs no such thing.
    """

    sample: str
    name: str
    dataset: str
    items: int
    complete: int
    kappa: tuple[Kappa, ...]
    sufficient: Rate
    annotators: tuple[Row, ...]
    average: dict[Asked, float | None]


def measure(key: Key, returned: Sequence[Returned]) -> Agreement:
    """Sets the answers of all annotators against the key and against each other."""
    labels = [_labels(key, one) for one in returned]
    complete = [item for item in key.items if all(item.item in given for given in labels)]
    sufficient = [item for item in complete if not any(given[item.item] == "not sufficient" for given in labels)]
    rows = tuple(_row(one, given, sufficient) for one, given in zip(returned, labels, strict=True))
    pairs = combinations(zip(returned, labels, strict=True), 2)
    return Agreement(
        sample=key.sample,
        name=key.name,
        dataset=key.dataset,
        items=len(key.items),
        complete=len(complete),
        kappa=tuple(_kappa((a.annotator, b.annotator), first, second) for (a, first), (b, second) in pairs),
        sufficient=_rate(len(sufficient), len(complete)),
        annotators=rows,
        average={subset: _mean(row.subsets[subset].rate for row in rows) for subset in SUBSETS},
    )


def _labels(key: Key, returned: Returned) -> dict[int, Label]:
    """What an annotator said of each item; not by number, since 1 is Top in one item and Shadow in the next."""
    items = {item.item: item for item in key.items}
    return {number: _label(items[number], choice) for number, choice in returned.choices.items()}


def _label(item: Item, choice: int) -> Label:
    if choice == 3:
        return "not sufficient"
    right = item.choices[choice - 1] == item.gold
    return "top" if right == (item.subset == "top") else "shadow"


def _row(returned: Returned, given: dict[int, Label], sufficient: Iterable[Item]) -> Row:
    subsets: dict[Asked, Rate] = {}
    for subset in SUBSETS:
        answered = [given[item.item] for item in sufficient if item.subset == subset]
        subsets[subset] = _rate(answered.count(subset), len(answered))
    return Row(returned.annotator, len(given), list(given.values()).count("not sufficient"), subsets)


def _kappa(names: tuple[str, str], first: dict[int, Label], second: dict[int, Label]) -> Kappa:
    both = sorted(first.keys() & second.keys())
    if not both:
        return Kappa(names, 0, None, None)
    pairs = [(first[item], second[item]) for item in both]
    observed = sum(one == other for one, other in pairs) / len(both)
    if len({label for pair in pairs for label in pair}) == 1:
        # Chance alone would agree everywhere: 0/0.
        return Kappa(names, len(both), observed, None)
    from sklearn.metrics import cohen_kappa_score

    one, other = zip(*pairs, strict=True)
    return Kappa(names, len(both), observed, float(cohen_kappa_score(one, other)))


def _rate(hits: int, n: int) -> Rate:
    return Rate(n, hits, hits / n, wilson(hits, n)) if n else Rate(0, 0, None, None)


def _mean(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known else None
