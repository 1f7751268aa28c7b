"""Samples subjects of a relation in a random order that depends only on a seed and on the subject."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable

from msgspec import Struct, field

from shadowprobe.queries.question_files import Question, make_question


class SampledSubject(Struct):
    """A subject in the sample: its name, its answers so far, and its frequency, if known."""

    name: str
    answers: dict[str, None] = field(default_factory=dict)
    frequency: int | None = None


class SubjectSample:
    """Keeps the subjects of a relation with the smallest random numbers, from a stream of any length.

    The largest number in the sample never rises. A rejected subject is therefore rejected each time, and a subject in
    the final sample has all of its answers.
    """

    def __init__(self, relation: str, size: int, seed: int) -> None:
        self.relation, self._size, self._seed = relation, size, seed
        self.kept: dict[str, SampledSubject] = {}
        # The heap has the largest random number on top.
        self._heap: list[tuple[int, str]] = []

    def accepts(self, subject: str) -> bool:
        """True if a subject is in the sample or would be added to it."""
        return subject in self.kept or len(self.kept) < self._size or self._random_number(subject) < -self._heap[0][0]

    def add(self, subject: str, name: str, answers: Iterable[str], frequency: int | None = None) -> None:
        """Adds answers to a subject, unless the sample rejects it."""
        if not self.accepts(subject):
            return
        if subject not in self.kept:
            self.kept[subject] = SampledSubject(name)
            heapq.heappush(self._heap, (-self._random_number(subject), subject))
            if len(self.kept) > self._size:
                del self.kept[heapq.heappop(self._heap)[1]]
        sampled = self.kept[subject]
        sampled.answers |= dict.fromkeys(answers)
        if frequency is not None:
            sampled.frequency = max(frequency, sampled.frequency or 0)

    def make_questions(self) -> list[Question]:
        """Makes the questions about the sampled subjects, in random order."""
        subjects = [self.kept[subject] for subject in sorted(self.kept, key=self._random_number)]
        return [
            Question(
                make_question(self.relation, subject.name), tuple(subject.answers), subject.name, subject.frequency
            )
            for subject in subjects
        ]

    def _random_number(self, subject: str) -> int:
        digest = hashlib.sha256(f"{self._seed}\n{self.relation}\n{subject}".encode()).digest()
        return int.from_bytes(digest[:8])
