"""Dense retrieval: inner product of a query's vector with that of every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from shadowprobe.errors import LinkerError, missing_extra
from shadowprobe.retrieval.model import Document, Hit, Query
from shadowprobe.retrieval.retriever import Retriever

from ..loading import loading
from .choosing import best

# So many documents are encoded at once.
BLOCK = 2048
DPR = "dpr"


class DenseRetriever(Retriever):
    """The nearest documents by any sentence-transformers model, or by a DPR pair; `-o model=NAME_OR_PATH`.

    A pair has its own model for documents: `-o model=QUESTION_ENCODER -o document_model=CONTEXT_ENCODER`, with
    `-o kind=dpr` for DPR's own encoders (Karpukhin et al., EMNLP 2020) as transformers loads them, which compare by
    inner product. The search is exact; `-o index=faiss` lets FAISS do it, which holds for far more documents
    (`pip install faiss-cpu`). `-o precision=double` makes scores independent of the batch, at half the speed.
    """

    name = "dense"
    needs = "pip install 'shadowprobe[dense]', and a model by name or path"

    def __init__(
        self,
        model: str = "sentence-transformers/all-MiniLM-L6-v2",
        document_model: str = "",
        kind: Literal["sentence", "dpr"] = "sentence",
        index: Literal["flat", "faiss"] = "flat",
        device: str = "cpu",
        precision: Literal["double", "single"] = "single",
    ) -> None:
        if kind == DPR and not document_model:
            raise ValueError("kind=dpr needs the encoder of the documents too: -o document_model=NAME_OR_PATH")
        self.model, self.document_model, self.kind = model, document_model, kind
        self.how, self.device, self.precision = index, device, precision

    def index(self, documents: Iterable[Document]) -> None:
        """Loads the models and encodes the documents, some thousands at a time."""
        ask, read = self._encoders()
        self._ask = ask
        self.ids: list[str] = []
        blocks = []
        rest = iter(documents)
        while block := list(islice(rest, BLOCK)):
            self.ids += [document.id for document in block]
            blocks.append(read([(document.title, document.text) for document in block]))
        vectors = np.concatenate(blocks) if blocks else np.zeros((0, 1), dtype=np.float32)
        self._search = _Faiss(vectors) if self.how == "faiss" else _Flat(vectors)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Cosines, or DPR's inner products; every document has one."""
        vectors = self._ask([query.text for query in queries])
        found = self._search(vectors, k)
        return [
            best(query, numbers, scores, self.ids, k) for query, (numbers, scores) in zip(queries, found, strict=True)
        ]

    def _encoders(self) -> tuple[Any, Any]:
        if self.kind == DPR:
            return self._dpr_encoders()
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise missing_extra("dense") from error
        with loading(self.name, self.model):
            asking = SentenceTransformer(self.model, device=self.device)
        with loading(self.name, self.document_model):
            reading = SentenceTransformer(self.document_model, device=self.device) if self.document_model else asking
        if self.precision == "double":
            asking.double()
            reading.double()

        def encode(model: Any, texts: list[str]) -> Any:
            return model.encode(
                texts, batch_size=64, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )

        return (
            lambda texts: encode(asking, texts),
            lambda pairs: encode(reading, [f"{title}. {text}" for title, text in pairs]),
        )

    def _dpr_encoders(self) -> tuple[Any, Any]:
        try:
            import torch
            from transformers import AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder
        except ImportError as error:
            raise missing_extra("dense") from error
        kinds = ((DPRQuestionEncoder, self.model), (DPRContextEncoder, self.document_model))
        loaded = []
        for kind, name in kinds:
            with loading(self.name, name):
                encoder: Any = kind.from_pretrained(name)
                loaded.append((AutoTokenizer.from_pretrained(name), encoder.to(self.device).eval()))
            if self.precision == "double":
                encoder.double()

        def encode(which: int, texts: list[Any]) -> Any:
            tokenizer, encoder = loaded[which]
            pieces = []
            for start in range(0, len(texts), 64):
                part = texts[start : start + 64]
                columns = [list(column) for column in zip(*part, strict=True)] if isinstance(part[0], tuple) else [part]
                tokens = tokenizer(*columns, padding=True, truncation=True, max_length=256, return_tensors="pt")
                with torch.no_grad():
                    pieces.append(encoder(**tokens.to(self.device)).pooler_output.cpu().numpy())
            return np.concatenate(pieces)

        return (lambda texts: encode(0, texts), lambda pairs: encode(1, pairs))


class _Flat:
    """Exact search by one product of matrices."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def __call__(self, queries: Any, k: int) -> list[tuple[Any, Any]]:
        everything = np.arange(len(self._vectors))
        return [(everything, scores) for scores in queries @ self._vectors.T]


class _Faiss:
    """The same by FAISS."""

    def __init__(self, vectors: Any) -> None:
        try:
            import faiss
        except ImportError as error:
            raise LinkerError("`dense` with index=faiss needs FAISS: pip install 'shadowprobe[faiss]'") from error
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(np.ascontiguousarray(vectors, dtype=np.float32))

    def __call__(self, queries: Any, k: int) -> list[tuple[Any, Any]]:
        vectors = np.ascontiguousarray(queries, dtype=np.float32)
        size, many = k + 1, self._index.ntotal
        scores, numbers = self._index.search(vectors, size)
        # Whatever equals the last that fits takes part in the draw, and FAISS would choose by the order of documents.
        while size < many and np.any(np.round(scores[:, -1], 6) == np.round(scores[:, k - 1], 6)):
            size = min(2 * size, many)
            scores, numbers = self._index.search(vectors, size)
        return [(row[row >= 0], values[row >= 0]) for row, values in zip(numbers, scores, strict=True)]
