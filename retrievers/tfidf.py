"""TF-IDF cosine between the query and every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from shadowprobe.retrieval.model import Document, Hit, Query
from shadowprobe.retrieval.retriever import Retriever, document_text

from .choosing import best


class TfidfRetriever(Retriever):
    """The documents whose words and pairs of words look most like the query, as in DrQA; `-o pairs=false`: words alone.

    Chen et al.: Reading Wikipedia to Answer Open-Domain Questions (ACL 2017), whose retriever the AmbER paper uses; by
    scikit-learn here, without that system's hashing.
    """

    name = "tfidf"
    batch_size = 64

    def __init__(self, pairs: bool = True) -> None:
        self.pairs = pairs

    def index(self, documents: Iterable[Document]) -> None:
        """Learns the weights of the words from the documents."""
        self.ids: list[str] = []
        self.vectorizer = TfidfVectorizer(
            ngram_range=(1, 2 if self.pairs else 1), sublinear_tf=True, stop_words="english", strip_accents="unicode"
        )
        # Documents by word, so that a query touches only the words that it has.
        self.matrix = self.vectorizer.fit_transform(self._texts(documents)).T.tocsr()

    def _texts(self, documents: Iterable[Document]) -> Iterable[str]:
        for document in documents:
            self.ids.append(document.id)
            yield document_text(document)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Cosines; a document that shares no word with the query is not found."""
        cosines = self.vectorizer.transform([query.text for query in queries]) @ self.matrix
        found = []
        for row, query in enumerate(queries):
            one = cosines[row]
            found.append(best(query, one.indices, np.asarray(one.data), self.ids, k))
        return found
