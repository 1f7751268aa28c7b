"""What a retriever returns becomes a ranking, or an error that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shadowprobe import LinkerError
from shadowprobe.base.model import Failure
from shadowprobe.queries.query import Document, Hit, Query, Ranking
from shadowprobe.systems.retriever import Retriever, document_text, make_rankings, random_order


class Mine(Retriever):
    name = "mine"

    def index(self, documents: object) -> None:
        self.is_indexed = True


def query(name: str = "q1") -> Query:
    return Query(id=name, text="Where is the Avon?")


def rank(*hits: Sequence[Hit] | Failure | None, depth: int = 2) -> list[Ranking | Failure]:
    return list(make_rankings(Mine(), [query()], hits, depth))


def test_a_ranking_has_its_scores_with_six_digits() -> None:
    assert rank([Hit("a", 2), Hit("b", 0.12345678)]) == [Ranking("q1", ("a", "b"), (2.0, 0.123457))]
    # Nothing was found, which is an answer.
    assert rank([]) == [Ranking("q1", (), ())]


def test_without_an_answer_the_query_has_failed() -> None:
    assert rank(None) == [Failure("q1", "the retriever failed on it")]
    assert rank(Failure("q1", "no connection")) == [Failure("q1", "no connection")]


@pytest.mark.parametrize(
    ("hits", "problem"),
    [
        (["a"], "search() gave 'a', where Hit(ID OF THE DOCUMENT, SCORE) is called for"),
        ([("a", 1.0, 2.0)], "search() gave ('a', 1.0, 2.0), where Hit(ID OF THE DOCUMENT, SCORE) is called for"),
        ([Hit("a", float("nan"))], "the document 'a' has the score nan, which is no number"),
        ([Hit("a", float("inf"))], "the document 'a' has the score inf, which is no number"),
        (
            [Hit("a", 3.0), Hit("a", 2.0)],
            "search() gave 2 documents, 1 of them different, where at most 2 different ones were asked for",
        ),
        (
            [Hit("a", 3.0), Hit("b", 2.0), Hit("c", 1.0)],
            "search() gave 3 documents, 3 of them different, where at most 2 different ones were asked for",
        ),
    ],
)
def test_a_ranking_that_cannot_be_is_an_error_of_the_retriever(hits: list[Hit], problem: str) -> None:
    with pytest.raises(LinkerError) as refused:
        rank(hits)
    assert str(refused.value) == f"retriever `mine`, query 'q1': {problem}"


def test_a_hit_may_be_a_plain_tuple_or_list() -> None:
    hits: list[Hit] = [("a", 2.0), ["b", 1.0]]  # type: ignore[list-item]
    assert rank(hits) == [Ranking("q1", ("a", "b"), (2.0, 1.0))]


def test_there_is_one_ranking_for_each_query() -> None:
    with pytest.raises(LinkerError, match="retriever `mine` gave 1 rankings for 2 queries"):
        list(make_rankings(Mine(), [query("q1"), query("q2")], [[]], 5))


def test_equal_scores_get_another_order_for_another_query() -> None:
    names = [str(number) for number in range(20)]
    orders = [
        sorted(names, key=lambda name: random_order(Query(id="", text=text), name)) for text in ("one", "two", "one")
    ]
    assert orders[0] == orders[2] != orders[1]


def test_a_retriever_gets_its_names_and_documents_before_it_searches() -> None:
    retriever = Mine()
    retriever.open([], {"Avon": ["a", "b"]})
    assert (retriever.is_indexed, retriever.names, retriever.notes) == (True, {"Avon": ["a", "b"]}, [])
    for _ in range(2):
        retriever.note("slow today")
    assert retriever.notes == ["slow today"]


def test_a_document_is_read_with_its_title() -> None:
    assert document_text(Document(id="a", title="Avon", text="A river.")) == "Avon. A river."
