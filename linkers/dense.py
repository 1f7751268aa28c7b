"""A sentence encoder: cosine between the snippet and the text of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from shadowprobe import Snippet
from shadowprobe.errors import missing_extra

from .loading import loading
from .ranking import ContextLinker


class DenseLinker(ContextLinker):
    """The candidate nearest to the snippet by a sentence-transformers model; `-o model=NAME_OR_PATH`.

    `-o precision=single` is nearly twice as fast on a CPU, but the last digits of a score then depend on the batch.
    """

    name = "dense"
    needs = "pip install 'shadowprobe[dense]', and a model by name or path"

    def __init__(
        self,
        model: str = "sentence-transformers/all-MiniLM-L6-v2",
        device: str = "cpu",
        precision: Literal["double", "single"] = "double",
    ) -> None:
        self.model, self.device, self.precision = model, device, precision

    def index(self, texts: list[str]) -> None:
        """Loads the model; the texts of the entities are encoded when one is first a candidate."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise missing_extra("dense") from error
        with loading(self.name, self.model):
            self.encoder: Any = SentenceTransformer(self.model, device=self.device)
        if self.precision == "double":
            self.encoder.double()
        self.texts = texts
        self.vectors: dict[int, Any] = {}

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """Cosines; both sides are of length one already."""
        new = sorted({number for numbers in candidates for number in numbers} - self.vectors.keys())
        encoded = self._encode([*(self.texts[number] for number in new), *(snippet.text for snippet in snippets)])
        self.vectors.update(zip(new, encoded, strict=False))
        return [
            [float(self.vectors[number] @ context) for number in numbers]
            for numbers, context in zip(candidates, encoded[len(new) :], strict=True)
        ]

    def _encode(self, texts: list[str]) -> Any:
        return self.encoder.encode(
            texts, batch_size=64, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
