"""A random entity of the name, always the same for the same text."""

from __future__ import annotations

import hashlib
from typing import ClassVar

from shadowprobe import Linker, Prediction, Snippet


class RandomLinker(Linker):
    """A random candidate; `-o seed=N` gives other random numbers."""

    name = "random"
    option_help: ClassVar[dict[str, str]] = {
        "seed": "another seed draws other answers",
    }

    def __init__(self, seed: int = 7) -> None:
        self.seed = seed

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Ranks the candidates by a random number that depends on text, mention and candidate."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction:
        candidates = self.knowledge.candidates_of(snippet)
        numbered = [(entity, self._draw_number(snippet, entity.title)) for entity in candidates]
        numbered.sort(key=lambda pair: -pair[1])
        return self.ranked(snippet, numbered)

    def _draw_number(self, snippet: Snippet, title: str) -> float:
        # A digest instead of a generator: the number must not depend on the order or the size of the batches.
        text = f"{self.seed}\n{snippet.text}\n{snippet.start}\n{title}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") / (1 << 56)
