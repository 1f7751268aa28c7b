"""The most common entity of a name, in every context."""

from __future__ import annotations

from shadowprobe import Linker, Prediction, Snippet


class PriorLinker(Linker):
    """Always the most common entity of the name."""

    name = "prior"

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Ranks the candidates by commonness."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction:
        candidates = self.knowledge.candidates_of(snippet)
        return self.ranked(snippet, list(zip(candidates, self.knowledge.priors(candidates), strict=True)))
