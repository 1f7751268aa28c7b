"""Dense retrieval: inner product of a query's vector with that of every document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from shadowprobe.errors import LinkerError
from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.systems.dpr_encoder import load_dpr_encoder
from shadowprobe.systems.encoder_directory import ENCODERS, EncoderPair, choose_pair, read_encoder_card
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
    inner product. The output of `shadowprobe train-encoder` needs `-o model=DIR` alone. The search is exact;
    `-o index=faiss` uses FAISS, which works for far more documents (`pip install faiss-cpu`). `-o precision=double`
    makes scores independent of the batch, at half the speed.
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
        if kind == DPR and not document_model and not (Path(model) / ENCODERS).exists():
            raise ValueError("kind=dpr needs the encoder of the documents too: -o document_model=NAME_OR_PATH")
        self.model, self.document_model, self.kind = model, document_model, kind
        self.how, self.device, self.precision = index, device, precision
        self._loaded: dict[str, Any] = {}

    def index(self, documents: Iterable[Document]) -> None:
        """Loads the models and encodes the documents, some thousands at a time."""
        kind, self._pairs = self._find_pairs()
        load = cache(partial(self._load_encoder, kind))
        self._encode_queries = [load(pair.questions, of_questions=True) for pair in self._pairs]
        # Several encoders of questions may share one index.
        encoders = {pair.passages: load(pair.passages, of_questions=False) for pair in self._pairs}
        self.ids: list[str] = []
        blocks: dict[str, list[Any]] = {name: [] for name in encoders}
        remaining = iter(documents)
        while block := list(islice(remaining, BLOCK)):
            self.ids += [document.id for document in block]
            for name, encode in encoders.items():
                blocks[name].append(encode(block))
        make_index = _Faiss if self.how == "faiss" else _Flat
        self._indexes = {
            name: make_index(np.concatenate(parts) if parts else np.zeros((0, 1), dtype=np.float32))
            for name, parts in blocks.items()
        }

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Ranks by cosines, or by DPR's inner products; every document has one."""
        by_pair: dict[int, list[int]] = {}
        for place, query in enumerate(queries):
            by_pair.setdefault(choose_pair(self._pairs, query.text), []).append(place)
        hits: dict[int, list[Hit]] = {}
        for number, places in by_pair.items():
            vectors = self._encode_queries[number]([queries[place] for place in places])
            results = self._indexes[self._pairs[number].passages](vectors, k)
            for place, (numbers, scores) in zip(places, results, strict=True):
                hits[place] = choose_best(queries[place], numbers, scores, self.ids, k)
        return [hits[place] for place in range(len(queries))]

    def _find_pairs(self) -> tuple[str, Sequence[EncoderPair]]:
        """The encoders of a trained directory, or the two that the options name."""
        card = read_encoder_card(Path(self.model))
        if card is None:
            return self.kind, [EncoderPair(self.model, self.document_model or self.model)]
        if self.document_model:
            raise LinkerError(f"`dense`: {self.model} has its own encoder of documents; leave document_model out")
        return card.kind, card.pairs

    def _load_encoder(self, kind: str, name: str, *, of_questions: bool) -> Any:
        """Loads a model; returns a function that encodes queries, or documents."""
        if kind == DPR:
            encode = load_dpr_encoder(self.name, name, self.device, self.precision, of_questions=of_questions)
        else:
            encode = self._load_sentence_encoder(name)
        if of_questions:
            return lambda queries: encode([query.text for query in queries])
        if kind == DPR:
            return lambda documents: encode([one.title for one in documents], [one.text for one in documents])
        return lambda documents: encode([document_text(document) for document in documents])

    def _load_sentence_encoder(self, name: str) -> Any:
        """Loads a model once, which often encodes both queries and documents."""
        if name not in self._loaded:
            self._loaded[name] = load_sentence_encoder(self.name, name, self.device, self.precision)
        return self._loaded[name]


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
