"""`tfidf`: cosines worked out by hand on tiny documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import search, write_collection, write_documents

from shadowprobe import LinkerError, UsageError
from shadowprobe.plugins import make_retriever
from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.running.retrieving import make_retrieving_job
from shadowprobe.systems.retriever import Retriever

# Of three documents `avon` and `river` stand in two, `ship` and `elbe` in one.
COMMON, RARE = math.log(4 / 3) + 1, math.log(4 / 2) + 1
TINY = [Document("1", "Avon", "river river"), Document("2", "Avon", "ship"), Document("3", "Elbe", "river")]


def opened(documents: Sequence[Document], **options: str) -> Retriever:
    retriever = make_retriever("tfidf", options)
    retriever.open(documents, {})
    return retriever


def hits(retriever: Retriever, text: str, k: int = 10) -> Sequence[Hit]:
    (found,) = search(retriever, [Query("q", text)], k)
    return found


def test_cosines_are_those_of_weighted_words() -> None:
    found = dict(hits(opened(TINY, pairs="false"), "Avon river"))
    # The query is (1, 1) / √2; a word that stands twice weighs 1 + ln 2 times as much as one that stands once.
    twice = 1 + math.log(2)
    assert found["1"] == pytest.approx((1 + twice) / math.sqrt(2 * (1 + twice**2)), abs=1e-6)
    assert found["2"] == pytest.approx(COMMON / math.sqrt(2 * (COMMON**2 + RARE**2)), abs=1e-6)
    # The other of the two words beside a rare one: a tie.
    assert found["3"] == found["2"]


def test_a_document_that_shares_no_word_is_not_found() -> None:
    assert [hit.document for hit in hits(opened(TINY, pairs="false"), "the ship!")] == ["2"]
    assert hits(opened(TINY), "Danube of the") == []


def test_pairs_of_words_tell_an_order() -> None:
    documents = [Document("1", "Abe Lincoln", "plays"), Document("2", "Lincoln Abe", "plays")]
    for n in range(20):
        with_pairs, without = (
            hits(opened(documents, pairs=pairs), f"abe lincoln {'x' * n}") for pairs in ("true", "false")
        )
        assert with_pairs[0].document == "1"
        assert with_pairs[0].score > with_pairs[1].score
        assert without[0].score == without[1].score


def test_case_accents_and_punctuation_do_not_count() -> None:
    documents = [Document("1", "Évora", "town"), Document("2", "Faro", "town")]
    assert [hit.document for hit in hits(opened(documents), "EVORA?")] == ["1"]


def test_no_document_is_the_first_of_equals_for_every_query() -> None:
    retriever = opened([Document(name, "Avon", "river") for name in "abcd"])
    queries = [Query(str(n), f"Avon {n}x") for n in range(100)]
    firsts = {found[0].document for found in search(retriever, queries, 1) if found}
    assert firsts == {"a", "b", "c", "d"}


def test_any_batch_gives_the_same() -> None:
    retriever = opened(TINY)
    queries = [Query("1", "Avon river"), Query("2", "ship"), Query("3", "nothing")]
    assert list(retriever.search(queries, 2)) == [found for one in queries for found in retriever.search([one], 2)]


def test_an_invalid_option_is_refused() -> None:
    with pytest.raises(UsageError, match="option `pairs`: 'maybe' is neither true nor false"):
        make_retriever("tfidf", {"pairs": "maybe"})


def test_documents_without_a_word_are_refused_by_the_run_in_plain_words(tmp_path: Path) -> None:
    write_collection(tmp_path)
    write_documents(tmp_path / "documents.jsonl", [Document("1", "The", "of")])
    with pytest.raises(LinkerError, match="retriever `tfidf` failed: ValueError: empty vocabulary"):
        make_retrieving_job("tfidf", str(tmp_path), out=tmp_path / "run").run()


@pytest.mark.parametrize(
    ("pairs", "terms"), [("true", ["red", "red ship", "ship", "tall", "tall red"]), ("false", ["red", "ship", "tall"])]
)
def test_words_and_pairs_of_words_are_compared(pairs: str, terms: list[str]) -> None:
    retriever: Any = make_retriever("tfidf", {"pairs": pairs})
    retriever.open([Document("1", "Tall", "the red ship")], {})
    assert retriever.vectorizer.get_feature_names_out().tolist() == terms
