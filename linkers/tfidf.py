"""TF-IDF cosine between the context and the text of each candidate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from shadowprobe import Snippet, context_of

from ._shared.ranking import ContextLinker


class TfidfLinker(ContextLinker):
    """The candidate whose title and description look most like the context."""

    name = "tfidf"
    batch_size = 512

    def index(self, texts: list[str]) -> None:
        """Learns the weights of character n-grams from the texts of the entities."""
        # Parts of words instead of words: descriptions are short, and "singer" should match "singing".
        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, strip_accents="unicode"
        )
        self.matrix = self.vectorizer.fit_transform(texts)

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """Computes cosines as products, because all vectors have length one."""
        contexts = self.vectorizer.transform([context_of(snippet) for snippet in snippets])
        return [
            np.asarray((self.matrix[list(numbers)] @ contexts[row].T).todense()).ravel().tolist() if numbers else []
            for row, numbers in enumerate(candidates)
        ]
