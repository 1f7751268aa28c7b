"""TF-IDF cosine between the context and the text of each candidate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from shadowprobe import Snippet, context_of

from .ranking import ContextLinker


class TfidfLinker(ContextLinker):
    """The candidate whose title and description look most like the context."""

    name = "tfidf"
    batch_size = 512

    def index(self, texts: list[str]) -> None:
        """Learns the weights of the pieces from the texts of the entities."""
        # Pieces of words and not words: descriptions are short, and "singer" should meet "singing".
        self.vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True, strip_accents="unicode"
        )
        self.matrix = self.vectorizer.fit_transform(texts)

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """Cosines; both sides are of length one already."""
        contexts = self.vectorizer.transform([context_of(snippet) for snippet in snippets])
        return [
            np.asarray((self.matrix[list(numbers)] @ contexts[row].T).todense()).ravel().tolist() if numbers else []
            for row, numbers in enumerate(candidates)
        ]
