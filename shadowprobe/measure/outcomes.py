"""The outcome of each snippet: right, or wrong in which way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shadowprobe.measure.answer_columns import MISSING, NIL, SKIPPED, Booleans
from shadowprobe.measure.answers import NOT_A_CANDIDATE, Answers
from shadowprobe.measure.pairs import overshadowed, repeats_prior

MEANING = {
    "correct": "the answer is the gold entity",
    "overshadowed": "wrong, and the name's other context gets the same entity: the name decided",
    "prior-driven": "wrong, and it is the entity that the linker names without any context",
    "other wrong": "wrong, and neither of the two explains it",
    "gold not a candidate": "wrong, and the gold entity is not among the candidates that the linker gave",
    "NIL": "the linker says that no entity is meant",
    "skipped": "the linker gave no answer",
    "failed": "the linker failed on it, or the file has no answer to it",
    "no gold": "a neutral context: no answer to it is right or wrong",
}
OUTCOMES = tuple(MEANING)


def classify_answers(answers: Answers) -> npt.NDArray[np.int8]:
    """For every row the place of its outcome in OUTCOMES; each row has one.

    - `no gold`: the snippet has no gold entity, as neutral contexts have none, whatever the answer.
    - `failed`, `skipped`: there is no answer to be right or wrong; never merged.
    - `correct`: the answer is the gold entity, even where it is the prior or the other context's too. In GERBIL's
      counting also NIL, where the gold is in no knowledge base.
    - `NIL`: the linker says that there is no entity, and there is one.
    - `gold not a candidate`: a wrong entity, and the linker gave candidates without the gold one. It comes before the
      next two: what was never considered cannot have been overshadowed.
    - `overshadowed`: a wrong entity, and the other snippet of the space's first Top and Shadow gets the same one.
    - `prior-driven`: a wrong entity, and it is the prior of the space.
    - `other wrong`: a wrong entity, and none of these.

    The first that fits, from the top of this list, is the outcome.
    """
    # The rules are applied from the end of the list, so that an earlier one replaces a later one.
    codes = np.full(len(answers), OUTCOMES.index("other wrong"), dtype=np.int8)
    rules: tuple[tuple[str, Booleans], ...] = (
        ("prior-driven", repeats_prior(answers)),
        ("overshadowed", _has_same_entity(answers)),
        ("gold not a candidate", answers.gold_rank == NOT_A_CANDIDATE),
        ("NIL", answers.entity == NIL),
        ("correct", answers.correct),
        ("skipped", answers.entity == SKIPPED),
        ("failed", answers.entity == MISSING),
        ("no gold", ~answers.has_gold),
    )
    for outcome, rows in rules:
        codes[rows] = OUTCOMES.index(outcome)
    return codes


def _has_same_entity(answers: Answers) -> Booleans:
    """True for both snippets of the pairs that get the same entity."""
    same = np.zeros(len(answers), dtype=np.bool_)
    both = overshadowed(answers)
    same[answers.pairs.top[both]] = same[answers.pairs.shadow[both]] = True
    return same
