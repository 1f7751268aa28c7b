"""Dense retrieval: inner product of a query's vector with that of every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np

from shadowprobe.errors import LinkerError, missing_extra
from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.systems.hugging_face import handle_load_errors
from shadowprobe.systems.retriever import Retriever, document_text
from shadowprobe.systems.sentence_encoder import load_sentence_encoder

from ._shared.best_hits import choose_best

# The number of documents that are encoded at a time.
BLOCK = 2048
DPR = "dpr"


class DenseRetriever(Retriever):
    """The nearest documents by any sentence-transformers model, or by a DPR pair; `-o model=NAME_OR_PATH`.

    A pair has its own model for documents: `-o model=QUESTION_ENCODER -o document_model=CONTEXT_ENCODER`, with
    `-o kind=dpr` for DPR's own encoders (Karpukhin et al., EMNLP 2020) as transformers loads them, which compare by
    inner product. The search is exact; `-o index=faiss` uses FAISS, which works for far more documents
    (`pip install faiss-cpu`). `-o precision=double` makes scores independent of the batch, at half the speed.
    """

    name = "dense"
    needs = "pip install 'shadowprobe[dense]', and a model by name or path"
    option_help: ClassVar[dict[str, str]] = {
        "model": "a sentence-transformers model, or DPR's question encoder, by name or path",
        "document_model": "the model for documents, if it is another one",
        "kind": "dpr: DPR's own pair of encoders",
        "index": "faiss: for very many documents",
        "device": "cpu, cuda, ...",
        "precision": "double makes scores independent of the batch",
    }

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
        self._encode_queries, encode_documents = self._load_encoders()
        self.ids: list[str] = []
        blocks = []
        remaining = iter(documents)
        while block := list(islice(remaining, BLOCK)):
            self.ids += [document.id for document in block]
            blocks.append(encode_documents(block))
        vectors = np.concatenate(blocks) if blocks else np.zeros((0, 1), dtype=np.float32)
        self._search = _Faiss(vectors) if self.how == "faiss" else _Flat(vectors)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Ranks by cosines, or by DPR's inner products; every document has one."""
        vectors = self._encode_queries([query.text for query in queries])
        results = self._search(vectors, k)
        return [
            choose_best(query, numbers, scores, self.ids, k)
            for query, (numbers, scores) in zip(queries, results, strict=True)
        ]

    def _load_encoders(self) -> tuple[Any, Any]:
        if self.kind == DPR:
            return self._load_dpr_encoders()
        encode_queries = encode_texts = load_sentence_encoder(self.name, self.model, self.device, self.precision)
        if self.document_model:
            encode_texts = load_sentence_encoder(self.name, self.document_model, self.device, self.precision)
        return encode_queries, lambda documents: encode_texts([document_text(document) for document in documents])

    def _load_dpr_encoders(self) -> tuple[Any, Any]:
        try:
            import torch
            from transformers import AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder
        except ImportError as error:
            raise missing_extra("dense") from error

        def load(kind: Any, name: str) -> Any:
            """Loads one of the two; returns a function that encodes columns: texts, or titles and texts."""
            with handle_load_errors(self.name, name):
                encoder = kind.from_pretrained(name).to(self.device).eval()
                tokenizer = AutoTokenizer.from_pretrained(name)
            if self.precision == "double":
                encoder.double()

            def encode(*columns: list[str]) -> Any:
                pieces = []
                for start in range(0, len(columns[0]), 64):
                    part = [column[start : start + 64] for column in columns]
                    tokens = tokenizer(*part, padding=True, truncation=True, max_length=256, return_tensors="pt")
                    with torch.no_grad():
                        pieces.append(encoder(**tokens.to(self.device)).pooler_output.cpu().numpy())
                return np.concatenate(pieces)

            return encode

        encode_queries, encode_pairs = (
            load(DPRQuestionEncoder, self.model),
            load(DPRContextEncoder, self.document_model),
        )
        return encode_queries, lambda documents: encode_pairs(
            [document.title for document in documents], [document.text for document in documents]
        )


class _Flat:
    """Exact search with one matrix product."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def __call__(self, queries: Any, k: int) -> list[tuple[Any, Any]]:
        everything = np.arange(len(self._vectors))
        return [(everything, scores) for scores in queries @ self._vectors.T]


class _Faiss:
    """Exact search with FAISS."""

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
        # All documents with the same score as the last one must be returned: FAISS chooses by the order of documents.
        while size < many and np.any(np.round(scores[:, -1], 6) == np.round(scores[:, k - 1], 6)):
            size = min(2 * size, many)
            scores, numbers = self._index.search(vectors, size)
        return [(row[row >= 0], values[row >= 0]) for row, values in zip(numbers, scores, strict=True)]
