"""`linker:NAME`: any linker as a retriever, and what becomes of its answers and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import DOCUMENTS, write_collection

from shadowprobe import Failure, ItemError, Linker, LinkerError, Prediction, Snippet, UsageError
from shadowprobe.plugins import make_linker, make_retriever
from shadowprobe.queries.query import Document, Hit, Query
from shadowprobe.running.directory import read_failures
from shadowprobe.running.retrieving import RetrievalSettings, make_retrieving_job
from shadowprobe.systems.retriever import Retriever

wrapper: Any = import_module("shadowprobe.retrievers.linker")
NAMES = {"Avon": ["avon-river", "avon-ship"], "Como": ["como-lake-a", "como-lake-b", "como-ship"]}
MINE = '''
from shadowprobe import Failure, ItemError, Linker

class Sulking(Linker):
    """Fails on every ship, in one way or the other."""

    def link(self, snippets):
        if any("built Berg" in snippet.text or "built Dale" in snippet.text for snippet in snippets):
            raise ItemError("not another ship")
        return [
            Failure(snippet.id, "sick of Avon") if "built Avon" in snippet.text
            else self.ranked(snippet, self.knowledge.candidates(snippet.mention))
            for snippet in snippets
        ]
'''


class Saying(Linker):
    """Says of every snippet what it is told to."""

    name = "saying"

    def __init__(self, say: Callable[[Linker, Snippet], Any]) -> None:
        self.say, self.asked = say, 0

    def link(self, snippets: list[Snippet]) -> list[Any]:
        self.asked += len(snippets)
        return [self.say(self, snippet) for snippet in snippets]


def opened(linker: Linker, documents: Sequence[Document] = DOCUMENTS) -> Retriever:
    retriever: Retriever = wrapper.LinkerRetriever(linker)
    retriever.open(documents, NAMES)
    return retriever


def found(retriever: Retriever, text: str, name: str | None = None, k: int = 10) -> list[str] | None:
    (hits,) = retriever.search([Query("q", text, name)], k)
    return None if hits is None or isinstance(hits, Failure) else [hit.document for hit in hits]


def saying(say: Callable[[Linker, Snippet], Any]) -> Retriever:
    return opened(Saying(say))


def test_a_prior_finds_every_head_and_no_tail(tmp_path: Path) -> None:
    write_collection(tmp_path)
    settings = RetrievalSettings(ks=(1,))
    job = make_retrieving_job("linker:prior", str(tmp_path), probes=["amber"], out=tmp_path / "run", settings=settings)
    results = job.run().results
    accuracy = results["probes"]["amber"]["human"]["qa"]["accuracy"]["1"]
    assert (accuracy["head"]["rate"], accuracy["tail"]["rate"]) == (1.0, 0.0)
    assert results["probes"]["amber"]["human"]["qa"]["gap"] == {"difference": 1.0, "ci95": [1.0, 1.0]}
    assert results["retriever"]["name"] == "linker:prior"


def test_the_candidates_rank_their_documents_and_of_an_article_its_first_passage() -> None:
    retriever = opened(make_linker("prior"))
    (hits,) = retriever.search([Query("q", "Where does Avon rise?", "Avon")], 10)
    assert hits == [Hit("avon-river-1", 1.0), Hit("avon-ship", 1 / 2)]
    assert found(retriever, "Where is Como?", "Como", k=2) == ["como-lake-a", "como-lake-b"]


def test_the_linker_is_shown_where_the_name_stands_and_what_the_documents_say() -> None:
    seen: list[Snippet] = []

    def look(linker: Linker, snippet: Snippet) -> Prediction:
        seen.append(snippet)
        described = {entity.title: entity.description for entity in linker.knowledge.candidates("Avon")}
        assert described["Avon (ship)"] == "A packet ship built at Millwall."
        return linker.skip(snippet)

    found(saying(look), "Is Avonmouth on the Avon, or Avon on it?", "Avon")
    (only,) = seen
    assert (only.mention, only.start) == ("Avon", 20)
    assert only.gold is None


def test_an_answer_comes_before_other_candidates() -> None:
    def answer(linker: Linker, snippet: Snippet) -> Prediction:
        return linker.answer(snippet, "Avon (ship)", 0.4, [("Avon (river)", 0.6), ("Avon (ship)", 0.4)])

    assert found(saying(answer), "Avon?", "Avon") == ["avon-ship", "avon-river-1"]


def test_an_explicit_nil_finds_nothing() -> None:
    assert found(saying(lambda linker, snippet: linker.nil(snippet)), "Avon?", "Avon") == []


def test_a_skipped_mention_finds_nothing() -> None:
    assert found(saying(lambda linker, snippet: linker.skip(snippet)), "Avon?", "Avon") == []


def test_titles_without_a_document_are_passed_over() -> None:
    def answer(linker: Linker, snippet: Snippet) -> Prediction:
        return linker.ranked(snippet, ["Avon (Ohio)", "Avon_(ship)", "Q42", "Avon (river)"])

    assert found(saying(answer), "Avon?", "Avon") == ["avon-ship", "avon-river-1"]


def test_without_a_name_every_title_and_name_in_the_query_is_a_mention_and_they_take_turns() -> None:
    retriever = opened(make_linker("prior"))
    # Of "Lake Como" the lake is meant, and not the name within it; a name that is part of a word is none.
    assert found(retriever, "Does Elbe reach Lake Como?") == ["elbe", "como-lake-a"]
    assert found(retriever, "Is Avon or Como longer?") == [
        *("avon-river-1", "como-lake-a"),
        *("avon-ship", "como-lake-b"),
        "como-ship",
    ]
    assert found(retriever, "Is Avonmouth a port?") == []


def test_a_name_that_is_not_in_the_query_finds_nothing() -> None:
    assert found(opened(make_linker("prior")), "Where is it?", "Avon") == []


def test_documents_that_share_a_title_are_spoken_of() -> None:
    twins = [Document("1", "John Smith", "A sailor."), Document("2", "John Smith", "A baker.")]
    retriever = opened(make_linker("prior"), twins)
    assert retriever.notes == ["1 documents have the same title as another one, so a linker cannot distinguish them"]
    # The passages of one article share theirs by right.
    assert opened(make_linker("prior")).notes == []


def fail_on_ships(linker: Linker, snippet: Snippet) -> Any:
    if "ship" in snippet.text:
        raise ItemError("sunk")
    return linker.answer(snippet, "Avon (river)")


def test_a_query_on_which_it_fails_has_no_ranking_and_costs_no_other_its_own() -> None:
    retriever = saying(fail_on_ships)
    asked = [Query("1", "Avon runs", "Avon"), Query("2", "Avon the ship", "Avon"), Query("3", "Avon ends", "Avon")]
    rankings = retriever.search(asked, 5)
    assert [hits if isinstance(hits, Failure) else [hit.document for hit in hits or ()] for hits in rankings] == [
        ["avon-river-1"],
        Failure("2", "sunk"),
        ["avon-river-1"],
    ]


@pytest.mark.parametrize(
    "say",
    [
        lambda linker, snippet: Failure(snippet.id, "no answer in time"),
        lambda linker, snippet: None,
        lambda linker, snippet: "Avon (river)",
        lambda linker, snippet: Prediction("another", answer="Avon (river)"),
        lambda linker, snippet: Prediction(snippet.id, answer=" "),
    ],
    ids=["a failure", "nothing", "a title", "of another snippet", "an empty answer"],
)
def test_an_invalid_prediction_is_a_failure(say: Callable[[Linker, Snippet], Any]) -> None:
    assert found(saying(say), "Avon?", "Avon") is None


def test_of_two_mentions_both_must_be_answered() -> None:
    def half(linker: Linker, snippet: Snippet) -> Any:
        return Failure(snippet.id, "no") if snippet.mention == "Como" else linker.answer(snippet, "Avon (river)")

    assert found(saying(half), "Is Avon or Como longer?") is None


def test_a_linker_that_cannot_work_at_all_stops_the_run() -> None:
    def gone(linker: Linker, snippet: Snippet) -> Any:
        raise LinkerError("the service is gone")

    with pytest.raises(LinkerError, match="the service is gone"):
        found(saying(gone), "Avon?", "Avon")


def test_every_failure_says_what_went_wrong() -> None:
    def broken(linker: Linker, snippet: Snippet) -> Any:
        raise KeyError("weights")

    failures = saying(broken).search([Query(str(n), f"Avon {n}", "Avon") for n in range(3)], 5)
    assert failures == [Failure(str(n), "KeyError: 'weights'") for n in range(3)]


def test_a_run_says_how_many_failed_and_asks_them_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_collection(tmp_path / "little")
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    for asked in (9, 2):
        job = make_retrieving_job("linker:mine.py:Sulking", "little", probes=["amber"], out=Path("run"))
        finished = job.run()
        # a2 by a failure in its place, d2 by an error; both are asked again in vain.
        assert (finished.outcome.answered + finished.outcome.failed, finished.results["missing"]) == (asked, 2)
    errors = [failure.error for failure in read_failures(Path("run"))]
    assert errors[0] == "sick of Avon"
    assert len(errors) == 2


def test_a_linker_that_is_shown_the_gold_answer_is_refused() -> None:
    with pytest.raises(UsageError, match="`oracle` needs the gold entities of a dataset"):
        make_retriever("linker:oracle")


def test_options_are_those_of_the_linker() -> None:
    assert make_retriever("linker:blend", {"weight": "0.25"}).linker.weight == 0.25  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="linker `blend` has no option `wait`"):
        make_retriever("linker:blend", {"wait": "1"})


def test_the_linker_is_let_go() -> None:
    closed: list[bool] = []

    class Closing(Saying):
        def close(self) -> None:
            closed.append(True)

    opened(Closing(lambda linker, snippet: linker.skip(snippet))).close()
    assert closed == [True]


def test_the_first_60_words_of_a_document_describe_its_entity() -> None:
    text = " ".join(f"w{number}" for number in range(1, 62))
    descriptions: list[str | None] = []

    def say(linker: Linker, snippet: Snippet) -> Prediction:
        descriptions.extend(entity.description for entity in linker.knowledge.entities.values())
        return linker.skip(snippet)

    found(opened(Saying(say), [Document("avon-river", "Avon", text)]), "Where is Avon?", "Avon")
    assert descriptions == [text.removesuffix(" w61")]
