"""NIL for everything: the floor."""

from __future__ import annotations

from shadowprobe import Linker, Prediction, Snippet


class NilLinker(Linker):
    """An explicit NIL for every mention."""

    name = "nil"

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        """Says of every mention that it is in no knowledge base."""
        return [self.nil(snippet) for snippet in snippets]
