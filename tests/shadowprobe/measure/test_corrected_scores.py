"""Predictions whose prior is subtracted: their new scores, order and answers, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from world import shadow, top

from shadowprobe import Answers, Candidate, Dataset, Prediction
from shadowprobe.measure.candidate_scores import CandidateScores
from shadowprobe.measure.corrected_scores import CorrectedScores

RIVER, SHIP = top("Avon"), shadow("Avon")


def scored(snippet: str, answer: str, *candidates: tuple[str, float | None]) -> Prediction:
    """An answer with its candidates and their scores."""
    return Prediction(snippet, answer=answer, candidates=tuple(Candidate(name, score=one) for name, one in candidates))


def correct(world: Dataset, predictions: Sequence[Prediction], weight: float, *only: str) -> dict[str, Prediction]:
    """The corrected predictions by snippet; with names of snippets, only those are corrected."""
    answers = Answers(world).fill(predictions)
    corrected = CorrectedScores(CandidateScores(answers))
    if only:
        rows = np.zeros(len(answers), dtype=np.bool_)
        rows[[answers.row[name] for name in only]] = True
        corrected = corrected.limit(rows)
    weights = np.full(len(answers.space_names), weight)
    found = corrected.correct_predictions(((answers.row[one.id], one) for one in predictions), weights)
    return {one.id: one for one in found}


def shown(prediction: Prediction) -> list[tuple[str | None, Any]]:
    return [(one.entity, one.score) for one in prediction.candidates]


NEUTRAL = scored("nAvon1", RIVER, (RIVER, -0.5), (SHIP, -3.0))


def test_a_part_of_the_prior_is_subtracted_and_the_answer_follows(world: Dataset) -> None:
    river, ship = Candidate(RIVER, page_id=100, score=-0.5), Candidate("Avon_(ship)", page_id=200, score=-1.0)
    given = Prediction("tAvon", answer=RIVER, page_id=100, score=-0.5, candidates=(river, ship))
    found = correct(world, [given, NEUTRAL], 0.5)["tAvon"]
    # The river gets -0.5 + 0.5 * 0.5, the ship -1 + 0.5 * 3.
    assert shown(found) == [(SHIP, 0.5), (RIVER, -0.25)]
    assert (found.answer, found.page_id, found.entity, found.score) == ("Avon_(ship)", 200, SHIP, 0.5)
    # With all of its prior subtracted the river has 0 and the ship 2.
    assert found.suspicion == -2.0


def test_a_correction_of_some_rows_leaves_the_others_as_they_are(world: Dataset) -> None:
    given = [scored(name, RIVER, (RIVER, -0.5), (SHIP, -1.0)) for name in ("tAvon", "sAvon")]
    found = correct(world, [*given, NEUTRAL], 0.5, "sAvon")
    assert found["tAvon"] == given[0]
    assert found["nAvon1"] == NEUTRAL
    assert found["sAvon"].entity == SHIP


def test_other_scores_are_corrected_on_the_scale_of_the_linker(world: Dataset) -> None:
    predictions = [
        scored("tAvon", RIVER, (RIVER, 5.0), (SHIP, 1.0)),
        scored("nAvon1", RIVER, (RIVER, 4.0), (SHIP, 2.0)),
    ]
    # The neutral list is centred: 1 for the river and -1 for the ship.
    found = correct(world, predictions, 0.5)["tAvon"]
    assert shown(found) == [(RIVER, pytest.approx(4.5)), (SHIP, pytest.approx(1.5))]


def test_probabilities_of_a_list_add_up_to_what_they_did_before(world: Dataset) -> None:
    predictions = [
        scored("tAvon", RIVER, (RIVER, 0.8), (SHIP, 0.2)),
        scored("nAvon1", RIVER, (RIVER, 0.9), (SHIP, 0.1)),
    ]
    # 0.8 / 0.9 and 0.2 / 0.1 are 8/9 and 18/9.
    found = correct(world, predictions, 1.0)["tAvon"]
    assert shown(found) == [(SHIP, pytest.approx(18 / 26)), (RIVER, pytest.approx(8 / 26))]


def test_the_answer_is_first_and_candidates_without_a_score_are_last(world: Dataset) -> None:
    # In the neutral context the river is alone, and so no prior differs from the others.
    candidates = (("Avon Products", None), ("Avon C", 0.0), (SHIP, -0.5), ("Avon D", 0.5), (RIVER, 3.0))
    alone = scored("nAvon1", RIVER, (RIVER, 4.0))
    equal = scored("sAvon", RIVER, (SHIP, 2.0), (RIVER, 2.0))
    found = correct(world, [scored("tAvon", RIVER, *candidates), equal, alone], 0.5)
    assert shown(found["tAvon"]) == [
        (RIVER, 3.0),
        ("Avon D", 0.5),
        ("Avon C", 0.0),
        (SHIP, -0.5),
        ("Avon Products", None),
    ]
    # Among equals the answer of the linker stays.
    assert [title for title, _ in shown(found["sAvon"])] == [RIVER, SHIP]
