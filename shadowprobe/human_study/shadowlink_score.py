"""Measures the annotators' agreement, the share of sufficient contexts, and Table 2 of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal

from msgspec import Struct

from shadowprobe.human_study.agreement import Kappa, Rate, average, compute_kappa, make_rate
from shadowprobe.human_study.annotations import Annotations
from shadowprobe.human_study.shadowlink_sample import AnswerKey, KeyItem, SampledSubset

Label = Literal["top", "shadow", "not sufficient"]
SUBSETS: tuple[SampledSubset, ...] = ("shadow", "top")


class AnnotatorRates(Struct, frozen=True):
    """One annotator: P = R = F on the sufficient items of each subset."""

    annotator: str
    answered: int
    not_sufficient: int
    subsets: dict[SampledSubset, Rate]


class Agreement(Struct, frozen=True):
    """The results of a sample over all annotators.

    `complete`: the items that all annotators answered. `sufficient`: the complete items that no annotator marked as not
    sufficient. As in the paper, P, R and F are over the sufficient items only. They are equal, because every item has
    one answer. Unlike the paper, we do not drop items until both subsets have the same size: a rate does not need it.
    """

    sample: str
    name: str
    dataset: str
    items: int
    complete: int
    kappa: tuple[Kappa, ...]
    sufficient: Rate
    annotators: tuple[AnnotatorRates, ...]
    average: dict[SampledSubset, float | None]

    @property
    def unanswered(self) -> int:
        """How many items lack the answer of an annotator."""
        return self.items - self.complete


def measure_agreement(key: AnswerKey, annotations: Sequence[Annotations]) -> Agreement:
    """Compares the answers of all annotators with the key and with each other."""
    labels = [_label_items(key, one) for one in annotations]
    complete = [item for item in key.items if all(item.item in given for given in labels)]
    sufficient = [item for item in complete if not any(given[item.item] == "not sufficient" for given in labels)]
    rates = tuple(_rate_annotator(one, given, sufficient) for one, given in zip(annotations, labels, strict=True))
    pairs = combinations(zip(annotations, labels, strict=True), 2)
    return Agreement(
        sample=key.sample,
        name=key.name,
        dataset=key.dataset,
        items=len(key.items),
        complete=len(complete),
        kappa=tuple(compute_kappa((a.annotator, b.annotator), first, second) for (a, first), (b, second) in pairs),
        sufficient=make_rate(len(sufficient), len(complete)),
        annotators=rates,
        average={subset: average(each.subsets[subset].rate for each in rates) for subset in SUBSETS},
    )


def _label_items(key: AnswerKey, annotations: Annotations) -> dict[int, Label]:
    """Converts choices to labels, because choice 1 is Top in one item and Shadow in another."""
    items = {item.item: item for item in key.items}
    return {number: _label_choice(items[number], choice) for number, choice in annotations.choices.items()}


def _label_choice(item: KeyItem, choice: int) -> Label:
    if choice == 3:
        return "not sufficient"
    is_correct = item.choices[choice - 1] == item.gold
    return "top" if is_correct == (item.subset == "top") else "shadow"


def _rate_annotator(annotations: Annotations, given: dict[int, Label], sufficient: Iterable[KeyItem]) -> AnnotatorRates:
    subsets: dict[SampledSubset, Rate] = {}
    for subset in SUBSETS:
        answered = [given[item.item] for item in sufficient if item.subset == subset]
        subsets[subset] = make_rate(answered.count(subset), len(answered))
    not_sufficient = list(given.values()).count("not sufficient")
    return AnnotatorRates(annotations.annotator, len(given), not_sufficient, subsets)
