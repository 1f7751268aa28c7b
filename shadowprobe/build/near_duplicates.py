"""Drops near duplicates: of several snippets with nearly the same text, only the first is kept."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b

import numpy as np

from shadowprobe.base.prose import words
from shadowprobe.dataset.kept_pages import Cut

NEAR_DUPLICATE = "nearly the same as another snippet"
# Two snippets are nearly the same if they have 7 in 10 of their runs of three words in common.
_RUN, _SHARED, _OF = 3, 7, 10
# The index is built again when it has doubled, or after so many comparisons per snippet.
_FIRST, _COMPARISONS = 16, 16
# The snippets of a slot of the index are sorted by size and position if they are more than this.
_CROWDED = 16
# The numbers of counters for runs, and the highest count. Two runs that share a counter only cost time.
_FEWEST_COUNTERS, _MOST_COUNTERS, _HIGHEST = 1 << 12, 1 << 24, 0xFFFF


class NearDuplicates:
    """Finds near duplicates of the snippets that were kept so far.

    No pair is missed. The runs of each snippet are sorted in one global order, the rarest first. All runs that two
    snippets share come after the first shared one. Two snippets with too few runs after it need not be compared.

    Any global order gives the same result. So the order is updated only when the index has doubled, and the time per
    snippet does not grow with their number. A snippet with 20 runs takes about 300 bytes.
    """

    def __init__(self) -> None:
        # The runs of all kept snippets, and where those of each snippet end.
        self._runs, self._ends = array("Q"), array("Q", [0])
        self._build_index()

    def drop(self, cuts: Iterable[Cut], dropped: Counter[str]) -> Iterator[Cut]:
        """Yields the snippets that are not near duplicates of an earlier one, of this call or a call before."""
        for cut in cuts:
            if self.add(cut.text):
                yield cut
            else:
                dropped[NEAR_DUPLICATE] += 1

    def add(self, text: str) -> bool:
        """Keeps a text; False if it is nearly the same as a kept one, and then it is not kept."""
        runs = _hash_runs(text)
        rarest = self._choose_rarest(runs)
        if self._is_duplicate(runs, rarest):
            return False
        self._runs.extend(runs)
        self._ends.append(len(self._runs))
        self._insert(len(self) - 1, rarest)
        if len(self) >= max(_FIRST, 2 * self._indexed) or self._compared > _COMPARISONS * (len(self) + _FIRST):
            self._build_index()
        return True

    def __len__(self) -> int:
        return len(self._ends) - 1

    def _count_runs(self, number: int) -> int:
        return self._ends[number + 1] - self._ends[number]

    def _get_runs(self, number: int) -> array[int]:
        return self._runs[self._ends[number] : self._ends[number + 1]]

    def _build_index(self) -> None:
        """Counts the runs, and indexes all kept snippets by their rarest runs, with room for as many again."""
        self._indexed, self._compared = len(self), 0
        room = 1 << max(_FIRST, len(self._runs)).bit_length()
        counters = min(max(room // 4, _FEWEST_COUNTERS), _MOST_COUNTERS)
        numbers = np.frombuffer(self._runs, np.uint64) % counters if self._runs else np.zeros(0, np.uint64)
        counts = np.bincount(numbers.astype(np.intp), minlength=counters)
        self._counts = array("H", np.minimum(counts, _HIGHEST).astype(np.uint16).tobytes())
        # A slot leads to its last entry, and each entry to the one before it. Entry 0 means that there is none.
        self._slots = array("I", [0]) * (room // 2)
        self._entries, self._positions, self._before = array("I", [0]), array("H", [0]), array("I", [0])
        self._crowded: dict[int, dict[tuple[int, int], array[int]]] = {}
        for number in range(len(self)):
            self._insert(number, self._choose_rarest(self._get_runs(number)))

    def _choose_rarest(self, runs: array[int]) -> list[int]:
        """Returns so many of the rarest runs that every near duplicate has at least one of them."""
        counts, size = self._counts, len(self._counts)
        ordered = sorted([(counts[run % size], run) for run in runs])
        return [run for _, run in ordered[: len(runs) - -(-_SHARED * len(runs) // _OF) + 1]]

    def _insert(self, number: int, rarest: list[int]) -> None:
        for position, run in enumerate(rarest):
            slot = run % len(self._slots)
            if slot not in self._crowded and len(found := list(self._walk(slot))) >= _CROWDED:
                self._crowded[slot] = {}
                for other, place in found:
                    self._crowd(slot, other, place)
            if slot in self._crowded:
                self._crowd(slot, number, position)
                continue
            self._before.append(self._slots[slot])
            self._slots[slot] = len(self._entries)
            self._entries.append(number)
            # A lower position than the real one only costs time.
            self._positions.append(min(position, _HIGHEST))

    def _crowd(self, slot: int, number: int, position: int) -> None:
        self._crowded[slot].setdefault((self._count_runs(number), position), array("I")).append(number)

    def _walk(self, slot: int) -> Iterator[tuple[int, int]]:
        """Yields the snippets of a slot, each with the position of its run."""
        entry = self._slots[slot]
        while entry:
            yield self._entries[entry], self._positions[entry]
            entry = self._before[entry]

    def _is_duplicate(self, runs: array[int], rarest: list[int]) -> bool:
        """True if a kept snippet is nearly the same."""
        own = set(runs)
        return any(self._is_near(number, own) for number in self._find_candidates(len(runs), rarest))

    def _find_candidates(self, size: int, rarest: list[int]) -> Iterator[int]:
        """Yields the snippets that can be nearly the same, some of them more than once."""
        for position, run in enumerate(rarest):
            slot = run % len(self._slots)
            if slot in self._crowded:
                for (other_size, place), numbers in self._crowded[slot].items():
                    if _is_enough(min(size - position, other_size - place), size + other_size):
                        yield from numbers
                continue
            for number, place in self._walk(slot):
                other_size = self._count_runs(number)
                if _is_enough(min(size - position, other_size - place), size + other_size):
                    yield number

    def _is_near(self, number: int, own: set[int]) -> bool:
        self._compared += 1
        runs = self._get_runs(number)
        return _is_enough(sum(map(own.__contains__, runs)), len(own) + len(runs))


def _is_enough(shared: int, total: int) -> bool:
    """True if two snippets are nearly the same, given their shared runs and the sum of their runs."""
    return shared * _OF >= _SHARED * (total - shared)


def _hash_runs(text: str) -> array[int]:
    """Returns the digests of all runs of three words, without case and punctuation."""
    found = words(text.casefold())
    runs = {" ".join(found[at : at + _RUN]) for at in range(max(1, len(found) - _RUN + 1))}
    digests = (blake2b(run.encode(), digest_size=8).digest() for run in runs)
    return array("Q", [int.from_bytes(digest, "big") for digest in digests])
