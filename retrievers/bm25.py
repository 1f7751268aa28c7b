"""BM25 between the query and every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import bm25s
import numpy as np

from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.systems.retriever import Retriever, document_text

from ._shared.best_hits import choose_best


class Bm25Retriever(Retriever):
    """The documents that score best for the query by BM25 (bm25s, Lucene's variant); `-o k1=1.5 -o b=0.75`.

    Robertson and Zaragoza: The Probabilistic Relevance Framework (2009). The EntityQuestions paper uses Pyserini's with
    k1 = 0.9 and b = 0.4; `-o k1=0.9 -o b=0.4` comes near it. English stop words are left out, words are not stemmed.
    """

    name = "bm25"
    batch_size = 64
    option_help: ClassVar[dict[str, str]] = {
        "k1": "how much a repeated word counts",
        "b": "how much the length of a document counts",
    }

    def __init__(self, k1: float = 1.5, b: float = 0.75) -> None:
        self.k1, self.b = k1, b

    def index(self, documents: Iterable[Document]) -> None:
        """Builds the index over the documents."""
        self.ids: list[str] = []
        texts: list[str] = []
        for document in documents:
            self.ids.append(document.id)
            texts.append(document_text(document))
        tokens = bm25s.tokenize(texts, stopwords="en", show_progress=False)
        # The texts are freed before the index is made, which needs the same memory again.
        del texts
        self.retriever = bm25s.BM25(k1=self.k1, b=self.b)
        self.retriever.index(tokens, show_progress=False)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Ranks by BM25 scores; a document that shares no word with the query is not returned."""
        texts = [query.text for query in queries]
        tokenized = bm25s.tokenize(texts, stopwords="en", return_ids=False, show_progress=False)
        hits: list[list[Hit]] = []
        for query, tokens in zip(queries, tokenized, strict=True):
            known = [token for token in tokens if token in self.retriever.vocab_dict]
            if not known:
                hits.append([])
                continue
            scores = self.retriever.get_scores(known)
            above = np.flatnonzero(scores > 0)
            hits.append(choose_best(query, above, scores[above], self.ids, k))
        return hits
