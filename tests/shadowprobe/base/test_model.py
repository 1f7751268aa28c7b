"""Which predictions are valid."""

from __future__ import annotations

import pytest

from shadowprobe import Candidate, Entity, EntitySpace, Prediction, Snippet


@pytest.mark.parametrize(
    "prediction",
    [
        Prediction("a", answer="Avon"),
        Prediction("a", page_id=1),
        Prediction("a", qid="Q1"),
        Prediction("a", status="nil"),
        Prediction("a", status="skipped"),
        Prediction("a", answer="Avon", candidates=(Candidate("Avon"), Candidate(page_id=1), Candidate(qid="Q2"))),
    ],
)
def test_an_entity_has_a_name_or_a_number_and_nil_has_neither(prediction: Prediction) -> None:
    assert prediction.find_problem() is None


MISSING = "give an entity, or a status of nil or skipped"


@pytest.mark.parametrize(
    ("prediction", "field", "problem"),
    [
        (Prediction("a"), "answer", f"is missing: {MISSING}"),
        (Prediction("a", answer=" "), "answer", f"is empty: {MISSING}"),
        (Prediction("a", status="nil", answer="Avon"), "status", "is nil, and there is an answer too"),
        (Prediction("a", status="skipped", page_id=1), "status", "is skipped, and there is an answer too"),
        (Prediction("a", status="nil", qid="Q1"), "status", "is nil, and there is an answer too"),
        (Prediction("a", page_id=0), "page_id", "0 is not a page id"),
        (Prediction("a", qid="Q0"), "qid", "'Q0' is not a QID such as Q42"),
        (
            Prediction("a", answer="Avon", candidates=(Candidate("Avon"), Candidate())),
            "candidates[1]",
            "names no entity: give its answer, page_id or qid",
        ),
        (
            Prediction("a", answer="Avon", candidates=(Candidate(page_id=-5),)),
            "candidates[0].page_id",
            "-5 is not a page id",
        ),
    ],
)
def test_the_field_of_a_problem_is_named(prediction: Prediction, field: str, problem: str) -> None:
    assert prediction.find_problem() == (field, problem)


def test_the_first_entity_of_a_space_is_its_top_and_the_others_are_shadows() -> None:
    space = EntitySpace("Avon", ("Avon (river)", "Avon (ship)", "Avon (town)"))
    assert (space.top, space.shadows) == ("Avon (river)", ("Avon (ship)", "Avon (town)"))


def test_a_mention_is_the_marked_words() -> None:
    assert Snippet("a", "all", "On the Avon.", 7, 11).mention == "Avon"
    assert Entity("Avon").commonness is None


def test_the_rank_of_an_entity_is_its_place_in_the_space() -> None:
    space = EntitySpace("Avon", ("Avon (river)", "Avon (ship)"))
    assert (space.rank("Avon (river)"), space.rank("Avon (ship)")) == (1, 2)
