"""A sentence encoder: cosine between the snippet and the text of each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from shadowprobe import Snippet
from shadowprobe.systems.sentence_encoder import load_sentence_encoder

from ._shared.ranking import ContextLinker


class DenseLinker(ContextLinker):
    """The candidate nearest to the snippet by a sentence-transformers model; `-o model=NAME_OR_PATH`.

    `-o precision=single` is nearly twice as fast on a CPU, but the last digits of a score then depend on the batch.
    """

    name = "dense"
    needs = "pip install 'shadowprobe[dense]', and a model by name or path"
    option_help: ClassVar[dict[str, str]] = {
        "model": "a sentence-transformers model, by name or path",
        "device": "cpu, cuda, ...",
        "precision": "double makes scores independent of the batch",
    }

    def __init__(
        self,
        model: str = "sentence-transformers/all-MiniLM-L6-v2",
        device: str = "cpu",
        precision: Literal["double", "single"] = "double",
    ) -> None:
        self.model, self.device, self.precision = model, device, precision

    def index(self, texts: list[str]) -> None:
        """Loads the model; the text of an entity is encoded when it is a candidate for the first time."""
        self.encode = load_sentence_encoder(self.name, self.model, self.device, self.precision)
        self.texts = texts
        self.vectors: dict[int, Any] = {}

    def similarities(self, snippets: list[Snippet], candidates: Sequence[Sequence[int]]) -> list[list[float]]:
        """Computes cosines as products, because all vectors have length one."""
        new = sorted({number for numbers in candidates for number in numbers} - self.vectors.keys())
        encoded = self.encode([*(self.texts[number] for number in new), *(snippet.text for snippet in snippets)])
        self.vectors.update(zip(new, encoded, strict=False))
        return [
            [float(self.vectors[number] @ context) for number in numbers]
            for numbers, context in zip(candidates, encoded[len(new) :], strict=True)
        ]
