"""TF-IDF cosine between the query and every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.systems.retriever import Retriever, document_text

from ._shared.best_hits import choose_best


class TfidfRetriever(Retriever):
    """The documents whose words and pairs of words look most like the query, as in DrQA; `-o pairs=false`: words alone.

    Chen et al.: Reading Wikipedia to Answer Open-Domain Questions (ACL 2017), whose retriever the AmbER paper uses; by
    scikit-learn here, without that system's hashing.
    """

    name = "tfidf"
    batch_size = 64
    option_help: ClassVar[dict[str, str]] = {
        "pairs": "whether pairs of words count too",
    }

    def __init__(self, pairs: bool = True) -> None:
        self.pairs = pairs

    def index(self, documents: Iterable[Document]) -> None:
        """Learns the weights of the words from the documents."""
        self.ids: list[str] = []
        self.vectorizer = TfidfVectorizer(
            ngram_range=(1, 2 if self.pairs else 1), sublinear_tf=True, stop_words="english", strip_accents="unicode"
        )
        # The matrix is transposed, so that a query only needs the rows of its words.
        self.matrix = self.vectorizer.fit_transform(self._read_texts(documents)).T.tocsr()

    def _read_texts(self, documents: Iterable[Document]) -> Iterable[str]:
        for document in documents:
            self.ids.append(document.id)
            yield document_text(document)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Ranks by cosines; a document that shares no word with the query is not returned."""
        cosines = self.vectorizer.transform([query.text for query in queries]) @ self.matrix
        hits = []
        for number, query in enumerate(queries):
            row = cosines[number]
            hits.append(choose_best(query, row.indices, np.asarray(row.data), self.ids, k))
        return hits
