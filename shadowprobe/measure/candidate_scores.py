"""The scores of candidates on a log scale, beside what the neutral contexts give the same entities."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np

from shadowprobe.measure.answers import NIL, Answers, Booleans, Candidates, Floats, Ints

Kind = Literal["log", "probability", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# A softmax in single precision can add up to slightly more than 1, and its logarithm can be slightly above 0.
ROUNDING = 1e-6
# Scores that differ by less are equal: sums in another order differ in their last digits.
TIE = 1e-9
# A probability below it is taken for it, since the logarithm of 0 is no number.
LEAST_PROBABILITY = 1e-9
# Lists of probabilities add up to 1 but for this; so many of the lists must.
SUM_ERROR, SHARE_OF_LISTS = 0.01, 0.95


class Scale(NamedTuple):
    """What scores are, and what they are divided by; 1 where they are logarithms already or become such."""

    kind: Kind
    spread: float = 1.0


class CandidateScores:
    """The candidates of the rows that a correction can change.

    `value`: the score on a log scale. `prior`: the mean of the same entity's values over the neutral contexts of the
    name. An entity that is in no neutral list of its name gets the lowest mean of the name, as its own would be lower.
    """

    def __init__(self, answers: Answers, kind: Kind | None = None) -> None:
        self.answers = answers
        columns = answers.candidates
        self.lists = Lists(columns.row)
        self.scale = Scale(kind or find_kind(columns, self.lists))
        self.score, self.entity = columns.score, columns.entity
        self.value = self._convert(columns.score)
        space = answers.space[columns.row]
        key = space.astype(np.int64) << 32 | columns.entity
        in_neutral = answers.rows("neutral")[columns.row]
        # One value for each entity of a name that is in a neutral list.
        self._keys, of_key, self._counts = np.unique(key[in_neutral], return_inverse=True, return_counts=True)
        self._means = np.bincount(of_key, weights=self.value[in_neutral], minlength=len(self._keys)) / self._counts
        self.prior, self.has_own_prior = self._look_up(key, space)

    def _convert(self, score: Floats) -> Floats:
        if self.scale.kind == "log" or not len(score):
            return score
        if self.scale.kind == "probability":
            return np.log(np.maximum(score, LEAST_PROBABILITY))
        centred = score - self.lists.spread(np.add.reduceat(score, self.lists.starts) / self.lists.sizes)
        deviation = float(np.sqrt(np.mean(centred * centred)))
        self.scale = Scale("other", deviation or 1.0)
        return centred / self.scale.spread

    def _look_up(self, key: np.typing.NDArray[np.int64], space: Ints) -> tuple[Floats, Booleans]:
        """For every candidate the mean over the neutral contexts, and whether it is its own."""
        if not len(self._keys):
            return np.full(len(key), np.nan), np.zeros(len(key), dtype=np.bool_)
        place = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        has_own: Booleans = self._keys[place] == key
        spaces = self._keys >> 32
        starts = np.flatnonzero(np.diff(spaces, prepend=-1))
        lowest = np.full(len(self.answers.space_names) + 1, np.nan)
        lowest[spaces[starts]] = np.minimum.reduceat(self._means, starts)
        # Without a space the number is -1, which is the last place; it holds no mean.
        return np.where(has_own, self._means[place], lowest[space]), has_own

    @cached_property
    def is_answer(self) -> Booleans:
        """True for the candidate that is the answer of its row."""
        same: Booleans = self.entity == self.answers.entity[self.lists.row_of]
        return same

    @cached_property
    def answer(self) -> Ints:
        """For every list the place of the answer among all candidates, -1 where it is not listed."""
        place = np.full(len(self.lists.rows), -1, dtype=np.int32)
        found = np.flatnonzero(self.is_answer)
        place[self.lists.number[found]] = found
        return place

    @cached_property
    def reasons(self) -> dict[str, Booleans]:
        """Why a row is left as it is, each with its rows; the first that fits is the reason."""
        answers, rows = self.answers, self.lists.rows
        size = np.zeros(len(answers), dtype=np.int32)
        is_best, has_prior = (np.zeros(len(answers), dtype=np.bool_) for _ in range(2))
        size[rows] = self.lists.sizes
        if len(rows):
            best = np.maximum.reduceat(self.value, self.lists.starts)
            is_best[rows] = (self.answer >= 0) & (self.value[self.answer] >= best - TIE)
            has_prior[rows] = ~np.isnan(self.prior[self.lists.starts])
        return {
            "nil": answers.entity == NIL,
            "no_answer": answers.entity < NIL,
            "no_candidates": answers.candidate_count == 0,
            "no_scores": size == 0,
            "answer_not_best": ~is_best,
            "one_candidate": size == 1,
            "no_neutral_scores": ~has_prior,
        }

    @cached_property
    def can_change(self) -> Booleans:
        """True for the rows that a correction can change."""
        can_change: Booleans = ~np.logical_or.reduce(list(self.reasons.values()))
        return can_change

    def count_left(self, rows: Booleans) -> dict[str, int]:
        """How many of some rows are left as they are, by reason."""
        counts: Counter[str] = Counter()
        for reason, holds in self.reasons.items():
            counts[reason] = int(np.count_nonzero(rows & holds))
            rows = rows & ~holds
        return dict(counts)

    def priors(self) -> dict[str, dict[str, float]]:
        """For every name the mean of each of its entities over the neutral contexts."""
        priors: dict[str, dict[str, float]] = {}
        for key, mean in zip(self._keys.tolist(), self._means.tolist(), strict=True):
            name = self.answers.space_names[key >> 32]
            priors.setdefault(name, {})[self.answers.names[key & 0xFFFFFFFF]] = mean
        return priors


class Lists:
    """Where the list of each row begins among all candidates."""

    def __init__(self, row: Ints) -> None:
        self.row_of = row
        self.starts = np.flatnonzero(np.diff(row, prepend=-1))
        self.rows: Ints = row[self.starts]
        self.sizes = np.diff(self.starts, append=len(row))

    @cached_property
    def number(self) -> Ints:
        """For every candidate the number of its list."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)

    def spread(self, values: Floats) -> Floats:
        """One value a list, repeated for each of its candidates."""
        return np.repeat(values, self.sizes)


def find_kind(candidates: Candidates, lists: Lists) -> Kind:
    """What the scores are: logarithms if none is above 0, probabilities if the lists add up to 1, else neither."""
    score = candidates.score
    if not len(score):
        return "other"
    low, high = float(score.min()), float(score.max())
    if high <= ROUNDING and low < 0:
        return "log"
    sums = np.add.reduceat(score, lists.starts)
    is_one = np.abs(sums - 1) <= SUM_ERROR
    return "probability" if low >= 0 and np.mean(is_one) >= SHARE_OF_LISTS else "other"
