"""`bm25`: its formula on tiny documents, and bm25s used directly on many."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import bm25s
import pytest
from retrieval_world import search

from shadowprobe.plugins import make_retriever
from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.systems.retriever import Retriever, document_text

TINY = [
    Document("1", "Avon", "river river"),
    Document("2", "Avon", "ship"),
    Document("3", "Elbe", "water at the mouth"),
]


def opened(documents: Sequence[Document], **options: str) -> Retriever:
    retriever = make_retriever("bm25", options)
    retriever.open(documents, {})
    return retriever


def hits(retriever: Retriever, text: str, k: int = 10) -> Sequence[Hit]:
    (found,) = search(retriever, [Query("q", text)], k)
    return found


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4)])
def test_scores_are_those_of_the_formula(k1: float, b: float) -> None:
    found = dict(hits(opened(TINY, k1=str(k1), b=str(b)), "Avon river"))
    # Without the stop words the documents have 3, 2 and 3 words: `elbe`, `water` and `mouth` are the last one's.
    mean = 8 / 3

    def score(often: int, length: int, documents: int) -> float:
        rarity = math.log(1 + (3 - documents + 0.5) / (documents + 0.5))
        return rarity * often / (often + k1 * (1 - b + b * length / mean))

    assert found == {
        "1": pytest.approx(score(1, 3, 2) + score(2, 3, 1), abs=1e-5),
        "2": pytest.approx(score(1, 2, 2), abs=1e-5),
    }


def test_a_document_that_shares_no_word_is_not_found() -> None:
    assert [hit.document for hit in hits(opened(TINY), "THE SHIP")] == ["2"]
    assert hits(opened(TINY), "Danube") == []
    assert hits(opened(TINY), "the of") == []
    assert hits(opened(TINY), "") == []


def made_up(seed: str, count: int, length: int) -> list[str]:
    lottery = random.Random(seed)
    return [" ".join(f"w{int(60 ** lottery.random())}" for _ in range(length)) for _ in range(count)]


def test_rankings_are_those_of_bm25s_apart_from_ties() -> None:
    documents = [Document(f"d{n}", f"title{n}", text) for n, text in enumerate(made_up("documents", 200, 12))]
    queries = [Query(f"q{n}", text) for n, text in enumerate(made_up("queries", 50, 4))]
    directly = bm25s.BM25()
    directly.index(
        bm25s.tokenize([document_text(d) for d in documents], stopwords="en", show_progress=False), show_progress=False
    )
    asked = bm25s.tokenize([query.text for query in queries], stopwords="en", show_progress=False)
    numbers, scores = directly.retrieve(asked, k=20, show_progress=False)
    compared = 0
    for ours, row, theirs in zip(search(opened(documents), queries, 20), numbers, scores, strict=True):
        rounded = [round(float(score), 6) for score in theirs]
        assert [hit.score for hit in ours] == pytest.approx([score for score in rounded if score > 0], abs=2e-6)
        for hit, number, score in zip(ours, row, rounded, strict=False):
            # Where a score stands alone among those returned, and above the last, there is no choice.
            if rounded.count(score) == 1 and score > rounded[-1]:
                compared += 1
                assert hit.document == f"d{number}"
    assert compared > 200


def test_no_document_is_the_first_of_equals_for_every_query() -> None:
    retriever = opened([*(Document(name, "Avon", "river") for name in "abcd"), Document("e", "Elbe", "water")])
    queries = [Query(str(n), f"Avon {n}x") for n in range(100)]
    firsts = {found[0].document for found in search(retriever, queries, 1) if found}
    assert firsts == {"a", "b", "c", "d"}


def test_any_batch_gives_the_same() -> None:
    retriever = opened(TINY)
    queries = [Query("1", "Avon river"), Query("2", "ship"), Query("3", "nothing")]
    assert list(retriever.search(queries, 2)) == [found for one in queries for found in retriever.search([one], 2)]


def test_it_prints_no_progress(capfd: pytest.CaptureFixture[str]) -> None:
    assert hits(opened(TINY), "river")
    assert capfd.readouterr() == ("", "")
