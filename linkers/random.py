"""An entity of the name by lot, the same lot for the same text."""

from __future__ import annotations

import hashlib

from shadowprobe import Linker, Prediction, Snippet


class RandomLinker(Linker):
    """A candidate by lot; `-o seed=N` draws other lots."""

    name = "random"

    def __init__(self, seed: int = 7) -> None:
        self.seed = seed

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Ranks the candidates by a number drawn for text, mention and candidate."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction:
        candidates = self.knowledge.candidates_of(snippet)
        drawn = [(entity, self._draw(snippet, entity.title)) for entity in candidates]
        drawn.sort(key=lambda pair: -pair[1])
        return self.ranked(snippet, drawn)

    def _draw(self, snippet: Snippet, title: str) -> float:
        # A digest and not a generator: the lot must not depend on the order or the size of the batches.
        text = f"{self.seed}\n{snippet.text}\n{snippet.start}\n{title}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") / (1 << 56)
