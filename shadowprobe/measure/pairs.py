"""The paper's definitions: what the Top and the Shadow context of one name get, and which answers are the prior.

The first four have one value for each of `Answers.pairs`, the last one for each row.
"""

from __future__ import annotations

import numpy as np

from shadowprobe.measure.answer_columns import Booleans
from shadowprobe.measure.answers import Answers


def overshadowed(answers: Answers) -> Booleans:
    """True where both contexts get the same entity: the name decided, not the context."""
    top, shadow = answers.entity[answers.pairs.top], answers.entity[answers.pairs.shadow]
    same: Booleans = (top >= 0) & (top == shadow)
    return same


def prior_biased(answers: Answers) -> Booleans:
    """True where both contexts get the same entity, and it is the prior: the one that neutral contexts get."""
    top, prior = answers.entity[answers.pairs.top], answers.prior[answers.pairs.space]
    biased: Booleans = overshadowed(answers) & (top == prior)
    return biased


def both_right(answers: Answers) -> Booleans:
    """True where each context gets its own gold entity."""
    right: Booleans = answers.correct[answers.pairs.top] & answers.correct[answers.pairs.shadow]
    return right


def has_prior(answers: Answers) -> Booleans:
    """True where the neutral contexts of the name get an entity, so that there is a prior to repeat."""
    return answers.prior[answers.pairs.space] >= 0


def repeats_prior(answers: Answers) -> Booleans:
    """True for the rows whose answer is the prior of their space."""
    same = np.zeros(len(answers), dtype=np.bool_)
    rows = np.flatnonzero(answers.linked & (answers.space >= 0))
    same[rows] = answers.entity[rows] == answers.prior[answers.space[rows]]
    return same
