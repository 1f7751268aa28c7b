"""Answers with scored candidates whose correction is worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from world import linked, shadow, top

import shadowprobe
from shadowprobe import Candidate, Dataset, Prediction
from shadowprobe.base.jsonl import encode_lines

Scores = tuple[float, float]


def scored(snippet_id: str, name: str, scores: Scores) -> Prediction:
    """An answer that ranks the river and the ship of a name by their scores; of two equals, the river is first."""
    ranked = sorted(zip((top(name), shadow(name)), scores, strict=True), key=lambda pair: -pair[1])
    candidates = tuple(Candidate(answer=title, score=score) for title, score in ranked)
    return Prediction(snippet_id, answer=ranked[0][0], score=ranked[0][1], candidates=candidates)


def of_name(name: str, in_top: Scores, in_shadow: Scores, neutral: Sequence[Scores]) -> list[Prediction]:
    """The answers to all snippets of a name; each pair of scores is the river's and the ship's."""
    contexts = enumerate(neutral, start=1)
    return [
        scored(f"t{name}", name, in_top),
        scored(f"s{name}", name, in_shadow),
        *(scored(f"n{name}{number}", name, scores) for number, scores in contexts),
    ]


def scored_predictions() -> list[Prediction]:
    """Four names. Neutral means (river, ship): Avon -1, -3; Berg -1, -2; Como -2, -4; Dale -2, -2.

    A weight w moves the ship up against the river by 2w, w, 2w and 0. The river leads by 1 in the Shadow context of
    Avon, which so becomes right above w = 0.5; by 0.25 in the Top context of Berg, which becomes wrong above 0.25; by
    0.5 in the Shadow context of Como, which becomes right above 0.25. Dale gets the ship in both contexts for any w.
    """
    return [
        *of_name("Avon", (-1, -4), (-1, -2), [(-1, -3)] * 3),
        *of_name("Berg", (-1, -1.25), (-3, -1), [(-1, -2)] * 3),
        *of_name("Como", (-1, -3.5), (-1, -1.5), [(-1, -2), (-2, -4), (-3, -6)]),
        *of_name("Dale", (-2, -1), (-2, -1), [(-2, -2)] * 3),
        linked("tail1", "Ourika", -0.5),
    ]


def store_run(place: Path, dataset: Dataset, predictions: Sequence[Prediction], name: str = "hand") -> Path:
    """A run directory with these answers."""
    file = place / f"{name}.jsonl"
    file.write_bytes(encode_lines(predictions))
    shadowprobe.score(file, dataset, out=place / name)
    return place / name


def replace_predictions(predictions: Sequence[Prediction], others: Mapping[str, Prediction]) -> list[Prediction]:
    """The same answers but for some snippets."""
    return [others.get(prediction.id, prediction) for prediction in predictions]
