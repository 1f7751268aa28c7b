"""BM25 between the context and the text of each candidate."""

from __future__ import annotations

from collections.abc import Sequence

import bm25s

from shadowprobe import Snippet, context_of

from ._shared.ranking import ContextLinker


class Bm25Linker(ContextLinker):
    """The candidate whose title and description score best for the context as a BM25 query."""

    name = "bm25"

    def index(self, texts: list[str]) -> None:
        """Builds the index over the texts of the entities."""
        self.retriever = bm25s.BM25()
        self.retriever.index(self._tokenize(texts), show_progress=False)

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """Computes BM25 scores, which are at least 0 and have no upper bound."""
        queries = self._tokenize([context_of(snippet) for snippet in snippets])
        scored = []
        for tokens, numbers in zip(queries, candidates, strict=True):
            known = [token for token in tokens if token in self.retriever.vocab_dict]
            scores = self.retriever.get_scores(known) if known and numbers else None
            scored.append([float(scores[number]) if scores is not None else 0.0 for number in numbers])
        return scored

    @staticmethod
    def _tokenize(texts: list[str]) -> list[list[str]]:
        tokens: list[list[str]] = bm25s.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)
        return tokens
