"""A sentence encoder: cosine between the snippet and the text of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shadowprobe import LinkerError, Snippet

from .ranking import ContextLinker


class DenseLinker(ContextLinker):
    """The candidate nearest to the snippet by a sentence-transformers model; `-o model=NAME_OR_PATH`."""

    name = "dense"
    needs = "pip install 'shadowprobe[dense]', and a model by name or path"

    def __init__(self, model: str = "sentence-transformers/all-MiniLM-L6-v2", device: str = "cpu") -> None:
        self.model, self.device = model, device

    def index(self, texts: list[str]) -> None:
        """Loads the model and encodes the texts of the entities."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise LinkerError("`dense` needs its extra: pip install 'shadowprobe[dense]'") from error
        try:
            self.encoder: Any = SentenceTransformer(self.model, device=self.device)
        except Exception as error:
            reason = " ".join(str(error).split())[:200]
            raise LinkerError(
                f"`dense` cannot load the model `{self.model}`; give a directory that holds one with"
                f" -o model=DIR ({type(error).__name__}: {reason})"
            ) from error
        self.vectors = self._encode(texts)

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """Cosines, rounded where the batch an encoder works in begins to show."""
        contexts = self._encode([snippet.text for snippet in snippets])
        return [
            [round(float(score), 4) for score in self.vectors[list(numbers)] @ contexts[row]] if numbers else []
            for row, numbers in enumerate(candidates)
        ]

    def _encode(self, texts: list[str]) -> Any:
        return self.encoder.encode(
            texts, batch_size=64, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
