"""The most common entity of a name, whatever the context says."""

from __future__ import annotations

from shadowprobe import Entity, Linker, Prediction, Snippet


def shares(candidates: tuple[Entity, ...]) -> list[float]:
    """The prior probability of each candidate: its share of the commonness, or of 1/rank where that is unknown."""
    known = all(entity.commonness is not None for entity in candidates)
    # One is added so that an entity that nothing links to still has a logarithm.
    weights = [(entity.commonness or 0) + 1 if known else 1 / rank for rank, entity in enumerate(candidates, 1)]
    return [weight / sum(weights) for weight in weights]


class PriorLinker(Linker):
    """Always the most common entity of the name."""

    name = "prior"

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Ranks the candidates by commonness."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction:
        candidates = self.knowledge.candidates_of(snippet)
        return self.ranked(snippet, list(zip(candidates, shares(candidates), strict=True)))
