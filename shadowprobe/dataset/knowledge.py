"""What a dataset knows of its entities, as far as a linker may see it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from shadowprobe.base.model import Entity, EntitySpace, Snippet

# What tells titles apart: "Mercury (planet)", "Lincoln, England". Before brackets a comma is part of the name.
_QUALIFIER = re.compile(r" \([^()]*\)$|, [^()]*$")


def base_name(title: str) -> str:
    """A title without its qualifier: the name in running text."""
    return _QUALIFIER.sub("", title)


def _fold(name: str) -> str:
    """A name without regard to case and to how its letters are composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class Knowledge:
    """The entities of a dataset and the names they go by; it holds no snippet and no gold answer."""

    def __init__(
        self, entities: Mapping[str, Entity], spaces: Iterable[EntitySpace] = (), language: str = "en"
    ) -> None:
        self.entities = dict(entities)
        self.spaces = tuple(spaces)
        # The Wikipedia that the titles are those of.
        self.language = language

    def __len__(self) -> int:
        return len(self.entities)

    def candidates(self, name: str) -> tuple[Entity, ...]:
        """The entities that a name can mean, most common first; empty for an unknown name."""
        exact = self._by_name.get(name)
        return exact if exact is not None else self._by_folded_name.get(_fold(name), ())

    def candidates_of(self, snippet: Snippet) -> tuple[Entity, ...]:
        """The entities that a snippet's mention can mean; a word that stands in for a name means what the name does."""
        return self.candidates(snippet.mention) or self.candidates(snippet.space or "")

    @staticmethod
    def priors(candidates: Sequence[Entity]) -> list[float]:
        """The prior probability of each candidate: its share of the commonness, or of 1/rank where that is unknown."""
        is_known = all(entity.commonness is not None for entity in candidates)
        # One is added so that an entity that nothing links to still has a logarithm.
        weights = [(entity.commonness or 0) + 1 if is_known else 1 / rank for rank, entity in enumerate(candidates, 1)]
        return [weight / sum(weights) for weight in weights]

    @cached_property
    def without_description(self) -> int:
        """How many entities have no description."""
        return sum(entity.description is None for entity in self.entities.values())

    @cached_property
    def _by_name(self) -> dict[str, tuple[Entity, ...]]:
        titles: dict[str, list[str]] = {space.name: list(space.entities) for space in self.spaces}
        for entity in sorted(self.entities.values(), key=lambda entity: -(entity.commonness or 0)):
            for name in (entity.title, base_name(entity.title), *entity.redirects):
                known = titles.setdefault(name, [])
                # A space is complete as it stands: it lists what its name can mean.
                if entity.title not in known and not self._is_space(name):
                    known.append(entity.title)
        return {name: tuple(self.entities[title] for title in found) for name, found in titles.items()}

    @cached_property
    def _space_names(self) -> frozenset[str]:
        return frozenset(space.name for space in self.spaces)

    def _is_space(self, name: str) -> bool:
        return name in self._space_names

    @cached_property
    def _by_folded_name(self) -> dict[str, tuple[Entity, ...]]:
        folded: dict[str, tuple[Entity, ...]] = {}
        # Spaces come first in the table above, so that a space wins over a title that differs only in case.
        for name, found in self._by_name.items():
            folded.setdefault(_fold(name), found)
        return folded
