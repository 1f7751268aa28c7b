from __future__ import annotations

import numpy as np
from world import hand_predictions, linked, shadow, top

from shadowprobe import Answers, Dataset, Prediction
from shadowprobe.measure.variants import Varied, against_the_run


def compare(world: Dataset, predictions: list[Prediction], ids: set[str]) -> dict[str, dict[str, float]]:
    """What is said of answers to a variant that only some snippets have."""
    answers = Answers(world).fill(hand_predictions())
    rows = np.array([snippet_id in ids for snippet_id in answers.row])
    return dict(against_the_run(answers, Varied(Answers(world).fill(predictions), rows)))  # type: ignore[arg-type]


def test_a_variant_is_compared_on_its_own_snippets_only(world: Dataset) -> None:
    # In the run, Avon and Berg are right on Top, Como is wrong, Dale is NIL.
    variant = [linked("tAvon", shadow("Avon")), linked("tBerg", top("Berg")), Prediction("tComo", status="nil")]
    found = compare(world, variant, {"tAvon", "tBerg", "tComo", "tDale"})
    assert list(found) == ["top"]
    # Berg alone is right now; Como is NIL, and Dale, which has no answer, failed.
    kept = ("n", "accuracy", "nil", "failed", "change")
    assert [found["top"][key] for key in kept] == [4, 0.25, 0.5, 1, -0.25]


def test_a_subset_without_a_variant_is_left_out(world: Dataset) -> None:
    found = compare(world, [linked("sAvon", shadow("Avon")), linked("tail1", "Ourika")], {"sAvon"})
    assert [(subset, each["n"], each["change"]) for subset, each in found.items()] == [("shadow", 1, 1.0)]
