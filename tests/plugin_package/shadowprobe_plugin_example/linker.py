"""A linker as an outsider writes it."""

from __future__ import annotations

from shadowprobe import Linker, Prediction, Snippet


class LongestTitle(Linker):
    """The candidate with the longest title."""

    name = "longest-title"
    needs = "patience"

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Ranks the candidates by the length of their titles."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction:
        found = sorted(self.knowledge.candidates(snippet.mention), key=lambda entity: -len(entity.title))
        return self.ranked(snippet, [(entity, float(len(entity.title))) for entity in found])
