"""NIL for everything: the lower bound."""

from __future__ import annotations

from shadowprobe import Linker, Prediction, Snippet


class NilLinker(Linker):
    """An explicit NIL for every mention."""

    name = "nil"

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Answers NIL to every mention."""
        return [self.nil(snippet) for snippet in snippets]
