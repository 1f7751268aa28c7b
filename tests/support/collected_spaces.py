"""All spaces that a source finds, in memory."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.spaces import NamedSpace


class Spaces(Struct):
    """The spaces, and their entities by title."""

    spaces: list[FoundSpace]
    entities: dict[str, FoundEntity]


def collect_spaces(found: Iterable[NamedSpace]) -> Spaces:
    """Collects all spaces."""
    collected = Spaces([], {})
    for space, new_entities in found:
        collected.spaces.append(space)
        collected.entities |= {entity.title: entity for entity in new_entities}
    return collected
