"""Snippets that say nearly the same: of each such lot the first is kept."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from shadowprobe.build.records import Cut
from shadowprobe.build.text import words

NEAR_DUPLICATE = "nearly the same as another snippet"
# How many counters there are for runs; two that share one cost time, and no more.
_PLACES = 1 << 21
# Two snippets are nearly the same if they have 7 in 10 of their runs of three words in common.
_RUN, _SHARED, _OF = 3, 7, 10


class Seen:
    """The snippets that were kept, in which later ones are looked up.

    No pair is missed. With the runs of all snippets in one order, those that two of them share stand behind the first
    they share, so that two with too little behind it need not be compared. With rare runs first, few are.
    """

    def __init__(self) -> None:
        self._kept: list[array[int]] = []
        # How often runs occur: two at one place count as more common than they are, which costs a little time only.
        self._counts = array("I", [0]) * _PLACES
        # Snippets by a run, and by how many runs they have in all and before it.
        self._by_run: dict[int, dict[tuple[int, int], list[int]]] = {}

    def fresh(self, cuts: Iterable[Cut], dropped: Counter[str]) -> list[Cut]:
        """The snippets without those that nearly repeat an earlier one, of this call or one before."""
        given = [(cut, _runs(cut.text)) for cut in cuts]
        for _, runs in given:
            for run in runs:
                self._counts[run % _PLACES] += 1
        # With other counts the order is another.
        self._by_run.clear()
        for number, runs in enumerate(self._kept):
            self._enter(number, self._first(runs), len(runs))
        found: list[Cut] = []
        for cut, runs in given:
            first = self._first(runs)
            if self._has(runs, first):
                dropped[NEAR_DUPLICATE] += 1
                continue
            self._enter(len(self._kept), first, len(runs))
            self._kept.append(runs)
            found.append(cut)
        return found

    def _first(self, runs: array[int]) -> list[int]:
        """The rarest runs, so many that a snippet which is nearly the same has one of them."""
        ordered = sorted(runs, key=lambda run: (self._counts[run % _PLACES], run))
        return ordered[: len(runs) - -(-_SHARED * len(runs) // _OF) + 1]

    def _enter(self, number: int, first: list[int], size: int) -> None:
        for at, run in enumerate(first):
            # A run that no other snippet has is never looked up.
            if self._counts[run % _PLACES] > 1:
                self._by_run.setdefault(run, {}).setdefault((size, at), []).append(number)

    def _has(self, runs: array[int], first: list[int]) -> bool:
        """True where a snippet that was kept is nearly the same."""
        size, mine = len(runs), set(runs)
        for at, run in enumerate(first):
            for (other, place), numbers in self._by_run.get(run, {}).items():
                if not _enough(min(size - at, other - place), size + other):
                    continue
                if any(_enough(sum(map(mine.__contains__, self._kept[each])), size + other) for each in numbers):
                    return True
        return False


def drop_near_duplicates(cuts: Iterable[Cut], dropped: Counter[str]) -> Iterator[Cut]:
    """The snippets without those that nearly repeat an earlier one, of whatever entity."""
    yield from Seen().fresh(cuts, dropped)


def _enough(shared: int, both: int) -> bool:
    """True where two snippets with so many runs, those of both added up, are nearly the same."""
    return shared * _OF >= _SHARED * (both - shared)


def _runs(text: str) -> array[int]:
    """The digests of all runs of a few words, whatever their case and what stands between them."""
    found = words(text.casefold())
    runs = {" ".join(found[at : at + _RUN]) for at in range(max(1, len(found) - _RUN + 1))}
    digests = (blake2b(run.encode(), digest_size=8).digest() for run in runs)
    return array("Q", [int.from_bytes(digest, "big") for digest in digests])
