"""`dense` with a tiny DPR pair: inner products recomputed one by one, flat and by FAISS; and what it refuses."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from retrieval_world import search
from tiny_dpr import save_tiny_dpr

from shadowprobe import LinkerError, UsageError
from shadowprobe.plugins import make_retriever
from shadowprobe.queries.query import Document, Query
from shadowprobe.systems.options import option_values
from shadowprobe.systems.retriever import Retriever

dense: Any = import_module("shadowprobe.retrievers.dense")
DOCUMENTS = [
    Document("1", "Avon", "the river rises at Naseby"),
    Document("2", "Avon", "a ship"),
    Document("3", "Berg", "a song of the lake . Polar ?"),
    Document("4", "Como", "the lake was built"),
    Document("5", "Elbe", "the river runs"),
]
QUERIES = [
    Query("1", "where was Avon built ?"),
    Query("2", "Elbe"),
    Query("3", "what of the song and the lake of Como ?"),
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The options of a tiny DPR pair."""
    pytest.importorskip("transformers", reason="the extra [dense] is not installed", exc_type=ImportError)
    pytest.importorskip("torch", reason="the extra [dense] is not installed", exc_type=ImportError)
    folder = tmp_path_factory.mktemp("dpr")
    asking = save_tiny_dpr(folder / "question", of_questions=True, seed=1)
    reading = save_tiny_dpr(folder / "context", of_questions=False, seed=2)
    return {"kind": "dpr", "model": str(asking), "document_model": str(reading)}


def opened(options: dict[str, str], documents: Sequence[Document] = DOCUMENTS, **more: str) -> Retriever:
    retriever = make_retriever("dense", {**options, **more})
    retriever.open(documents, {})
    return retriever


def vectors(folder: str, kind: str, *texts: tuple[str, ...]) -> Any:
    """What an encoder makes of texts, asked for one after the other."""
    import torch
    import transformers

    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    encoder = getattr(transformers, kind).from_pretrained(folder).eval()
    with torch.no_grad():
        return np.stack([encoder(**tokenizer(*text, return_tensors="pt")).pooler_output[0].numpy() for text in texts])


@pytest.mark.parametrize("precision", ["single", "double"])
def test_scores_are_the_inner_products_of_the_pair(pair: dict[str, str], precision: str) -> None:
    asked = vectors(pair["model"], "DPRQuestionEncoder", *((query.text,) for query in QUERIES))
    read = vectors(pair["document_model"], "DPRContextEncoder", *((d.title, d.text) for d in DOCUMENTS))
    products = asked @ read.T
    for query, found in enumerate(search(opened(pair, precision=precision), QUERIES, 5)):
        assert [hit.document for hit in found] == [DOCUMENTS[n].id for n in np.argsort(-products[query])]
        assert [hit.score for hit in found] == pytest.approx(sorted(products[query], reverse=True), abs=1e-4)


def test_only_k_documents_are_returned(pair: dict[str, str]) -> None:
    retriever = opened(pair)
    longest = search(retriever, QUERIES, 5)
    assert search(retriever, QUERIES, 2) == [found[:2] for found in longest]


def test_documents_are_read_block_by_block(pair: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = search(opened(pair, precision="double"), QUERIES, 5)
    monkeypatch.setattr(dense, "BLOCK", 2)
    assert search(opened(pair, precision="double"), QUERIES, 5) == whole


def test_any_batch_gives_the_same_in_double_precision(pair: dict[str, str]) -> None:
    retriever = opened(pair, precision="double")
    assert search(retriever, QUERIES, 5) == [found for one in QUERIES for found in search(retriever, [one], 5)]


@pytest.mark.parametrize("k", [1, 3, 5, 9])
def test_faiss_finds_what_the_flat_search_finds(pair: dict[str, str], k: int) -> None:
    pytest.importorskip("faiss", reason="the extra [faiss] is not installed")
    flat, faiss = (search(opened(pair, index=index), QUERIES, k) for index in ("flat", "faiss"))
    for ours, theirs in zip(flat, faiss, strict=True):
        assert [hit.document for hit in ours] == [hit.document for hit in theirs]
        assert [hit.score for hit in ours] == pytest.approx([hit.score for hit in theirs], abs=1e-4)


@pytest.mark.parametrize("index", ["flat", "faiss"])
def test_no_document_is_the_first_of_equals_for_every_query(pair: dict[str, str], index: str) -> None:
    if index == "faiss":
        pytest.importorskip("faiss", reason="the extra [faiss] is not installed")
    copies = [Document(name, "Avon", "the river") for name in "abcdefgh"]
    queries = [Query(str(n), f"Avon {'river ' * n}") for n in range(60)]
    firsts = {found[0].document for found in search(opened(pair, copies, index=index), queries, 1)}
    # That sixty draws leave two of eight out has a chance of less than one in a hundred thousand.
    assert len(firsts) >= 7


def test_the_index_that_a_run_records_is_its_option_and_not_its_method() -> None:
    assert option_values(make_retriever("dense"))["index"] == "flat"
    assert option_values(make_retriever("dense"), {"index": "faiss"})["index"] == "faiss"


def test_a_model_that_is_not_there_is_named(pair: dict[str, str], tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    with pytest.raises(LinkerError, match=f"`dense` cannot load the model `{nowhere}`"):
        opened({**pair, "document_model": nowhere})
    with pytest.raises(LinkerError, match=f"`dense` cannot load the model `{nowhere}`"):
        opened({"model": nowhere})


def test_a_dpr_pair_needs_both_encoders() -> None:
    with pytest.raises(UsageError, match="kind=dpr needs the encoder of the documents too: -o document_model=NAME_OR"):
        make_retriever("dense", {"kind": "dpr", "model": "x"})


def test_without_its_packages_it_says_what_to_install(pair: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(LinkerError, match=r"needs FAISS: pip install 'shadowprobe\[faiss\]'"):
        opened(pair, index="faiss")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(LinkerError, match=r"pip install 'shadowprobe\[dense\]'"):
        opened({"model": "x"})
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(LinkerError, match=r"pip install 'shadowprobe\[dense\]'"):
        opened(pair)
