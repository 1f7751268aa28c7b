"""Sets that a language model is shown with their answers, before it is asked about another name."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from shadowprobe.errors import UsageError
from shadowprobe.queries.ambigdocs_sets import AmbigSet


class HeldOut(Struct, frozen=True):
    """Names whose sets are kept for examples, and not asked about: how many, and the seed of the draw."""

    names: Annotated[int, Meta(ge=1)]
    seed: int = 0

    def split(self, sets: Sequence[AmbigSet]) -> tuple[list[AmbigSet], list[AmbigSet]]:
        """The sets that are kept, and the others; all sets of a name are on one side."""
        names = sorted({fold_name(one.name) for one in sets})
        if self.names >= len(names):
            raise UsageError(
                f"--held-out {self.names}: the sets are about {len(names)} names, and none would be left to ask about"
            )
        kept = set(random.Random(self.seed).sample(names, self.names))
        return (
            [one for one in sets if fold_name(one.name) in kept],
            [one for one in sets if fold_name(one.name) not in kept],
        )


class Examples:
    """Sets to choose examples from: never one about the name or about a document of the set that is asked about.

    `source` has the name and the digest of their file, if that is another one than that of the questions.
    """

    def __init__(
        self, sets: Sequence[AmbigSet], shots: int, seed: int = 0, source: dict[str, str] | None = None
    ) -> None:
        self.sets, self.shots, self.seed, self.source = sets, shots, seed, source
        # The places of the sets by what must not be shared.
        self._places: dict[str, set[int]] = {}
        for place, one in enumerate(sets):
            for subject in _list_subjects(one):
                self._places.setdefault(subject, set()).add(place)

    def check(self, sets: Iterable[AmbigSet]) -> None:
        """Refuses sets for which there are too few examples, before anybody is asked."""
        for one in sets:
            left = len(self.sets) - len(self._find_related(one))
            if left < self.shots:
                raise UsageError(
                    f"--shots {self.shots}: {left} of the {len(self.sets)} examples are about other names and documents"
                    f" than the set {one.id!r} ({one.name}); give more by --held-out N or --examples FILE"
                )

    def choose(self, one: AmbigSet) -> list[AmbigSet]:
        """The examples for a set, in random order."""
        related = self._find_related(one)
        # So many that enough are left without the related ones.
        count = min(len(self.sets), self.shots + len(related))
        drawn = random.Random(f"{self.seed}\n{one.id}").sample(range(len(self.sets)), count)
        return [self.sets[place] for place in drawn if place not in related][: self.shots]

    def _find_related(self, one: AmbigSet) -> set[int]:
        return {place for subject in _list_subjects(one) for place in self._places.get(subject, ())}


def _list_subjects(one: AmbigSet) -> Iterable[str]:
    """What a set is about: its name and the titles of its documents."""
    return {fold_name(one.name), *(fold_name(document.title) for document in one.documents)}


def fold_name(name: str) -> str:
    """A name without regard to case, to white space and to how its letters are composed."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
