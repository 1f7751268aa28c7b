"""Measures how far people agree with each other, and with the probe, on the kinds of answers of AmbigDocs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from msgspec import Struct

from shadowprobe.human_study.agreement import Kappa, average, compute_kappa
from shadowprobe.human_study.ambigdocs_sample import CATEGORIES, AmbigdocsKey, Category
from shadowprobe.human_study.annotations import Annotations

AUTOMATIC = "automatic"


class CategoryAgreement(Struct, frozen=True):
    """The results of a sample.

    `people` has the pairs of annotators, `automatic` each annotator with the probe; the averages are over these pairs.
    `confusion` counts the answers of all annotators, by their kind and then by that of the probe.
    """

    sample: str
    name: str
    queries: str
    system: str
    items: int
    answered: int
    people: tuple[Kappa, ...]
    automatic: tuple[Kappa, ...]
    average: dict[Literal["people", "automatic"], dict[Literal["observed", "kappa"], float | None]]
    confusion: dict[Category, dict[Category, int]]
    study: Literal["ambigdocs"] = "ambigdocs"

    @property
    def unanswered(self) -> int:
        """How many items have no answer."""
        return self.items - self.answered


def measure_categories(key: AmbigdocsKey, annotations: Sequence[Annotations]) -> CategoryAgreement:
    """Compares the answers of all annotators with each other and with the probe."""
    given = {
        one.annotator: {item: CATEGORIES[choice - 1] for item, choice in one.choices.items()} for one in annotations
    }
    probe = {item.item: item.automatic for item in key.items}
    people = tuple(compute_kappa((a, b), given[a], given[b]) for a, b in combinations(given, 2))
    automatic = tuple(compute_kappa((name, AUTOMATIC), labels, probe) for name, labels in given.items())
    counts = Counter((label, probe[item]) for labels in given.values() for item, label in labels.items())
    return CategoryAgreement(
        sample=key.sample,
        name=key.name,
        queries=key.queries,
        system=key.system,
        items=len(key.items),
        answered=len({item for labels in given.values() for item in labels}),
        people=people,
        automatic=automatic,
        average={"people": _average(people), "automatic": _average(automatic)},
        confusion={own: {other: counts[own, other] for other in CATEGORIES} for own in CATEGORIES},
    )


def _average(pairs: Sequence[Kappa]) -> dict[Literal["observed", "kappa"], float | None]:
    return {"observed": average(pair.observed for pair in pairs), "kappa": average(pair.kappa for pair in pairs)}
