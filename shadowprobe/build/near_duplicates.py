"""Drops near duplicates: of several snippets with nearly the same text, only the first is kept."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

from shadowprobe.base.prose import words
from shadowprobe.dataset.kept_pages import Cut

NEAR_DUPLICATE = "nearly the same as another snippet"
# The number of counters for runs. Two runs that share a counter only cost time.
_COUNTERS = 1 << 21
# Two snippets are nearly the same if they have 7 in 10 of their runs of three words in common.
_RUN, _SHARED, _OF = 3, 7, 10


class NearDuplicates:
    """Finds near duplicates of the snippets that were kept so far.

    No pair is missed. The runs of each snippet are sorted in one global order, the rarest first. All runs that two
    snippets share come after the first shared one. Two snippets with too few runs after it need not be compared.
    """

    def __init__(self) -> None:
        self._kept: list[array[int]] = []
        # The frequencies of runs. A shared counter is too high, which only costs a little time.
        self._counts = array("I", [0]) * _COUNTERS
        # Snippets by a run, by their number of runs, and by the position of the run.
        self._by_run: dict[int, dict[tuple[int, int], list[int]]] = {}

    def drop(self, cuts: Iterable[Cut], dropped: Counter[str]) -> list[Cut]:
        """Returns the snippets that are not near duplicates of an earlier one, of this call or a call before."""
        candidates = [(cut, _hash_runs(cut.text)) for cut in cuts]
        for _, runs in candidates:
            for run in runs:
                self._counts[run % _COUNTERS] += 1
        # The new counts change the order of the runs.
        self._by_run.clear()
        for number, runs in enumerate(self._kept):
            self._index(number, self._choose_rarest(runs), len(runs))
        fresh: list[Cut] = []
        for cut, runs in candidates:
            rarest = self._choose_rarest(runs)
            if self._is_duplicate(runs, rarest):
                dropped[NEAR_DUPLICATE] += 1
                continue
            self._index(len(self._kept), rarest, len(runs))
            self._kept.append(runs)
            fresh.append(cut)
        return fresh

    def _choose_rarest(self, runs: array[int]) -> list[int]:
        """Returns so many of the rarest runs that every near duplicate has at least one of them."""
        ordered = sorted(runs, key=lambda run: (self._counts[run % _COUNTERS], run))
        return ordered[: len(runs) - -(-_SHARED * len(runs) // _OF) + 1]

    def _index(self, number: int, rarest: list[int], size: int) -> None:
        for position, run in enumerate(rarest):
            # A run that no other snippet has is never looked up.
            if self._counts[run % _COUNTERS] > 1:
                self._by_run.setdefault(run, {}).setdefault((size, position), []).append(number)

    def _is_duplicate(self, runs: array[int], rarest: list[int]) -> bool:
        """True if a kept snippet is nearly the same."""
        size, own = len(runs), set(runs)
        for position, run in enumerate(rarest):
            for (other_size, other_position), numbers in self._by_run.get(run, {}).items():
                total = size + other_size
                if not _is_near(min(size - position, other_size - other_position), total):
                    continue
                if any(_is_near(sum(map(own.__contains__, self._kept[number])), total) for number in numbers):
                    return True
        return False


def _is_near(shared: int, total: int) -> bool:
    """True if two snippets are nearly the same, given their shared runs and the sum of their runs."""
    return shared * _OF >= _SHARED * (total - shared)


def _hash_runs(text: str) -> array[int]:
    """Returns the digests of all runs of three words, without case and punctuation."""
    found = words(text.casefold())
    runs = {" ".join(found[at : at + _RUN]) for at in range(max(1, len(found) - _RUN + 1))}
    digests = (blake2b(run.encode(), digest_size=8).digest() for run in runs)
    return array("Q", [int.from_bytes(digest, "big") for digest in digests])
