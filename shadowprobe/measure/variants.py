"""Answers to variants of the snippets, and how they compare with the answers to the snippets themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shadowprobe.base.model import Subset
from shadowprobe.measure.answer_columns import MISSING, Booleans
from shadowprobe.measure.answers import Answers
from shadowprobe.measure.probe import Findings
from shadowprobe.measure.statistics import describe_difference, describe_rate


class Varied(NamedTuple):
    """The answers to one variant, row by row as those of the run, and the rows that have one."""

    answers: Answers
    rows: Booleans


def against_the_run(answers: Answers, varied: Varied) -> dict[Subset, Findings]:
    """How a variant fares against the run itself on the same snippets, on each subset that it has some of.

    A snippet without an answer, NIL, skipped and failed ones are not right.
    """
    subsets = {subset: varied.rows & rows for subset, rows in answers.gold_subsets()}
    return {subset: _compare(answers, varied, rows) for subset, rows in subsets.items() if rows.any()}


def _compare(answers: Answers, varied: Varied, rows: Booleans) -> Findings:
    n = int(np.count_nonzero(rows))
    right = varied.answers.correct[rows], answers.correct[rows]
    return {
        "n": n,
        **describe_rate("accuracy", int(np.count_nonzero(right[0])), n),
        "nil": float(np.mean(~varied.answers.linked[rows])),
        "failed": int(np.count_nonzero(varied.answers.entity[rows] == MISSING)),
        **describe_difference("change", *right, answers.groups[rows], answers.rounds, answers.seed),
    }
