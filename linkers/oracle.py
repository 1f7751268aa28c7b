"""The gold answer: the upper bound, and a test that a dataset can be solved."""

from __future__ import annotations

from shadowprobe import Linker, Prediction, Snippet


class OracleLinker(Linker):
    """The gold entity; on neutral contexts, which have none, the most common one."""

    name = "oracle"
    sees_gold = True

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Puts the gold entity first and the other candidates after it."""
        return [self._link(snippet) for snippet in snippets]

    def _link(self, snippet: Snippet) -> Prediction:
        candidates = self.knowledge.candidates(snippet.space or snippet.mention)
        gold = self.knowledge.entities[snippet.gold] if snippet.gold is not None else next(iter(candidates), None)
        if gold is None:
            return self.skip(snippet)
        others = [entity for entity in candidates if entity is not gold]
        return self.ranked(snippet, [(gold, 1.0), *((entity, 0.0) for entity in others)])
