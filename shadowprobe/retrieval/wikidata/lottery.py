"""Which subjects of a relation are asked about: so many, by lots that depend on a seed and on themselves alone."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable

from msgspec import Struct, field

from shadowprobe.retrieval.entity_questions import Question, ask


class Drawn(Struct):
    """A subject that was drawn: its name, the answers so far, and how common it is, where that is known."""

    name: str
    answers: dict[str, None] = field(default_factory=dict)
    frequency: int | None = None


class Lottery:
    """Keeps the subjects of a relation with the smallest lots, while any number of them pass by.

    A subject that was turned away stays away, and one that is kept gets all of its answers: the largest lot that is
    kept only ever falls.
    """

    def __init__(self, relation: str, size: int, seed: int) -> None:
        self.relation, self._size, self._seed = relation, size, seed
        self.kept: dict[str, Drawn] = {}
        # The largest lot on top.
        self._heap: list[tuple[int, str]] = []

    def takes(self, subject: str) -> bool:
        """True where a subject is kept, or would be."""
        return subject in self.kept or len(self.kept) < self._size or self._lot(subject) < -self._heap[0][0]

    def add(self, subject: str, name: str, answers: Iterable[str], frequency: int | None = None) -> None:
        """Gives a subject more answers, if it is kept."""
        if not self.takes(subject):
            return
        if subject not in self.kept:
            self.kept[subject] = Drawn(name)
            heapq.heappush(self._heap, (-self._lot(subject), subject))
            if len(self.kept) > self._size:
                del self.kept[heapq.heappop(self._heap)[1]]
        drawn = self.kept[subject]
        drawn.answers |= dict.fromkeys(answers)
        if frequency is not None:
            drawn.frequency = max(frequency, drawn.frequency or 0)

    def questions(self) -> list[Question]:
        """The questions about the subjects that were drawn, in the order of their lots."""
        drawn = [self.kept[subject] for subject in sorted(self.kept, key=self._lot)]
        return [
            Question(ask(self.relation, each.name), tuple(each.answers), each.name, each.frequency) for each in drawn
        ]

    def _lot(self, subject: str) -> int:
        digest = hashlib.sha256(f"{self._seed}\n{self.relation}\n{subject}".encode()).digest()
        return int.from_bytes(digest[:8])
