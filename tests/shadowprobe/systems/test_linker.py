"""What a wrapper may answer with."""

from __future__ import annotations

import pytest
from world import shadow, top

from shadowprobe import Candidate, Dataset, Linker, Prediction
from shadowprobe.systems.linker import context_of, without_gold


@pytest.fixture
def linker(world: Dataset) -> Linker:
    linker = Linker()
    linker.knowledge = world.knowledge
    return linker


def names(prediction: Prediction) -> list[str | None]:
    return [candidate.answer for candidate in prediction.candidates]


def test_candidates_may_be_entities_titles_or_either_with_a_score(linker: Linker, world: Dataset) -> None:
    snippet = next(world.snippets("top"))
    river, ship = world.entities[top("Avon")], world.entities[shadow("Avon")]
    prediction = linker.answer(snippet, river, 0.5, [river, "Avon_(ship)", (ship, 0.25), Candidate("Avon, New York")])
    assert names(prediction) == [top("Avon"), "Avon_(ship)", shadow("Avon"), "Avon, New York"]
    assert [candidate.score for candidate in prediction.candidates] == [None, None, 0.25, None]
    assert prediction.find_problem() is None


def test_a_ranking_may_be_of_entities_alone_as_the_knowledge_gives_them(linker: Linker, world: Dataset) -> None:
    prediction = linker.ranked(next(world.snippets("top")), linker.knowledge.candidates("Avon"))
    assert (prediction.answer, prediction.score) == (top("Avon"), None)
    assert names(prediction) == [top("Avon"), shadow("Avon")]


def test_a_ranking_may_be_a_generator_of_titles_and_scores(linker: Linker, world: Dataset) -> None:
    prediction = linker.ranked(next(world.snippets("top")), ((title, 0.5) for title in ("A", "B")))
    assert (prediction.answer, prediction.score, names(prediction)) == ("A", 0.5, ["A", "B"])


def test_an_empty_ranking_skips_the_snippet(linker: Linker, world: Dataset) -> None:
    assert linker.ranked(next(world.snippets("top")), []).status == "skipped"


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_not_a_number_becomes_none(linker: Linker, world: Dataset, score: float) -> None:
    assert linker.ranked(next(world.snippets("top")), [("A", score)]).score is None


def test_something_else_as_a_candidate_is_refused_with_what_would_be_right(linker: Linker, world: Dataset) -> None:
    with pytest.raises(TypeError, match="a candidate is an entity or a title, alone or with its score, not 7"):
        linker.answer(next(world.snippets("top")), "A", candidates=[7])  # type: ignore[list-item]


def test_a_candidate_that_names_nothing_is_a_fault() -> None:
    assert Prediction("x", answer="A", candidates=(Candidate("A"), Candidate(score=0.5))).find_problem() == (
        "candidates[1]",
        "names no entity: give its answer, page_id or qid",
    )


def test_a_plain_linker_links_in_batches_and_has_nothing_to_say(linker: Linker, world: Dataset) -> None:
    snippet = next(world.snippets())
    assert (linker.streams, linker.is_reached, linker.sees_gold) == (False, False, False)
    assert (linker.ready(), linker.outgoing(snippet), linker.status) == ("", "", "")
    with pytest.raises(NotImplementedError, match="links in batches"):
        linker.link_each([snippet])
    linker.open(world.knowledge)
    for _ in range(2):
        linker.note("it is old")
    assert linker.notes == ["it is old"]
    linker.open(world.knowledge)
    assert linker.notes == []
    assert linker.knowledge is world.knowledge


def test_a_linker_sees_the_text_and_the_mention_and_not_what_would_give_the_answer_away(world: Dataset) -> None:
    snippet = next(world.snippets("top"))
    shown = without_gold(snippet)
    assert (shown.id, shown.subset, shown.gold, shown.space) == ("tAvon", "all", None, "Avon")
    assert (shown.mention, shown.text) == ("Avon", snippet.text)
    assert context_of(snippet) == "Anglers say that   runs clear above the mill."
