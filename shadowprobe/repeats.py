"""Which snippets ask a linker the same thing, found without keeping their texts."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import msgspec
import numpy as np

from shadowprobe.model import Snippet

# Long enough that two different questions never have one digest.
_BYTES = 16
_NONE = -1


def question(snippet: Snippet, *, with_gold: bool) -> bytes:
    """A digest of what is asked of a linker: snippets with one digest get one answer."""
    # The release has texts that stand in Top and in Shadow, with two gold answers for the same mention.
    gold = snippet.gold if with_gold else None
    # A word that stands in for a name says not whose candidates are meant, so that the name is part of the question.
    hidden = snippet.space if snippet.space != snippet.mention else None
    asked = msgspec.json.encode((snippet.text, snippet.start, snippet.end, gold, hidden))
    return blake2b(asked, digest_size=_BYTES).digest()


class Repeats:
    """Questions by their place in a list, each with the places where it is asked again."""

    def __init__(self, questions: Iterable[bytes]) -> None:
        halves = np.fromiter(questions, dtype=f"S{_BYTES}").view(np.uint64).reshape(-1, 2)
        # Equal questions come to stand side by side, and among themselves in the order of the list.
        order = np.lexsort((halves[:, 0], halves[:, 1])).astype(np.int32)
        halves = halves[order]
        equal = (halves[1:] == halves[:-1]).all(axis=1)
        self._again = np.full(len(order), _NONE, dtype=np.int32)
        self._again[order[:-1][equal]] = order[1:][equal]
        self._asked_before = np.zeros(len(order), dtype=np.bool_)
        self._asked_before[order[1:][equal]] = True

    def asked_before(self, place: int) -> bool:
        """True where an earlier place asks the same."""
        return bool(self._asked_before[place])

    def places(self, place: int) -> list[int]:
        """The place and all later ones that ask the same."""
        places = [place]
        while (place := int(self._again[place])) != _NONE:
            places.append(place)
        return places
