"""The scores of candidates on a log scale, beside what the neutral contexts give the same entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from shadowprobe.measure.answer_columns import NIL, AnswerColumns, Booleans, Candidates, Floats, Ints

Kind = Literal["log", "probability", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# A softmax in single precision can add up to slightly more than 1, and its logarithm can be slightly above 0.
ROUNDING = 1e-6
# Scores that differ by less are equal: sums in another order differ in their last digits.
TIE, DIGITS = 1e-9, 9
# A probability below it is taken for it, since the logarithm of 0 is no number.
LEAST_PROBABILITY = 1e-9
# Lists of probabilities add up to 1 but for this; so many of the lists must.
SUM_ERROR, SHARE_OF_LISTS = 0.01, 0.95


# Why no answer of a linker can be corrected, by the most frequent reason.
REFUSALS = {
    "no_candidates": "the linker gives no candidates, and a correction chooses among them",
    "no_scores": "the linker gives no scores for its candidates, and a correction changes them",
    "answer_not_best": "the answers are not the best-scored candidates, so that the scores do not decide",
    "one_candidate": "the linker gives one candidate only, and there is nothing to choose from",
    "no_neutral_scores": "no candidate has a score in a neutral context, so that there is no prior to subtract",
}
# For each name the mean of its entities over the neutral contexts.
Priors = Mapping[str, Mapping[str, float]]


class Scale(NamedTuple):
    """What scores are, and what they are divided by; 1 where they are logarithms already or become such."""

    kind: Kind
    spread: float = 1.0


class CandidateScores:
    """The candidates of the rows that a correction can change.

    `value`: the score on a log scale. `prior`: the mean of the same entity's values over the neutral contexts of the
    name. An entity that is in no neutral list of its name gets the lowest mean of the name, as its own would be lower.
    The scale is looked at, unless `scale` says it, or `kind` a part of it. The means are those of the neutral rows,
    unless they are given as `priors`.
    """

    def __init__(
        self,
        answers: AnswerColumns,
        kind: Kind | None = None,
        *,
        scale: Scale | None = None,
        priors: Priors | None = None,
    ) -> None:
        self.answers = answers
        columns = answers.candidates
        self.lists = Lists(columns.row)
        self.score, self.entity = columns.score, columns.entity
        self.scale, self.value = self._convert(scale or Scale(kind or find_kind(columns, self.lists), np.nan))
        space = answers.space[columns.row]
        key = space.astype(np.int64) << 32 | columns.entity
        # One value for each entity of a name that is in a neutral list.
        if priors is None:
            in_neutral = answers.is_neutral[columns.row]
            self._keys, of_key, counts = np.unique(key[in_neutral], return_inverse=True, return_counts=True)
            self._means = np.bincount(of_key, weights=self.value[in_neutral], minlength=len(self._keys)) / counts
        else:
            means = dict(_code_priors(answers, priors))
            self._keys = np.array(sorted(means), dtype=np.int64)
            self._means = np.array([means[one] for one in self._keys.tolist()], dtype=np.float64)
        self.prior, self.has_own_prior = self._look_up(key, space)

    def _convert(self, scale: Scale) -> tuple[Scale, Floats]:
        """The scale and the scores on it; a spread that is not known is measured."""
        score, kind = self.score, scale.kind
        if kind == "log" or not len(score):
            return Scale(kind), score
        if kind == "probability":
            return Scale(kind), np.log(np.maximum(score, LEAST_PROBABILITY))
        centred = score - self.lists.spread(np.add.reduceat(score, self.lists.starts) / self.lists.sizes)
        spread = scale.spread if scale.spread > 0 else _measure_spread(centred)
        return Scale(kind, spread), centred / spread

    def _look_up(self, key: npt.NDArray[np.int64], space: Ints) -> tuple[Floats, Booleans]:
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

    def explain_left(self, rows: Booleans) -> str | None:
        """Why none of the answers can be corrected, by what holds for most of some rows; None where one can."""
        if self.can_change.any():
            return None
        left = self.count_left(rows)
        return REFUSALS.get(max(left, key=lambda name: left[name]), "no entity is named")

    def contrast(self) -> Floats:
        """The contrast of every row's answer; the lowest number where it has none."""
        contrast = np.full(len(self.answers), -np.inf)
        if len(self.lists.rows):
            contrast[self.lists.rows] = measure_contrast(self.value - self.prior, self.lists, self.answer)
        contrast[~self.can_change] = -np.inf
        return contrast

    def priors(self) -> dict[str, dict[str, float]]:
        """For every name the mean of each of its entities over the neutral contexts."""
        priors: dict[str, dict[str, float]] = {}
        for key, mean in zip(self._keys.tolist(), self._means.tolist(), strict=True):
            name = self.answers.space_names[key >> 32]
            priors.setdefault(name, {})[self.answers.names[key & 0xFFFFFFFF]] = mean
        return priors


def _measure_spread(centred: Floats) -> float:
    """The standard deviation of centred scores; 1 where all are 0."""
    # The squares of likelihoods of long texts would be too small for a number.
    largest = float(np.abs(centred).max()) or 1.0
    return largest * float(np.sqrt(np.mean((centred / largest) ** 2))) or 1.0


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


def _code_priors(answers: AnswerColumns, priors: Priors) -> Iterator[tuple[int, float]]:
    """Stored means by the numbers of their name and entity."""
    for space, name in enumerate(answers.space_names):
        for title, mean in priors.get(name, {}).items():
            yield space << 32 | answers.code_of(title), mean


def measure_contrast(gain: Floats, lists: Lists, answer: npt.NDArray[np.integer]) -> Floats:
    """For every list the gain of the best rival minus that of the answer, whose place is given.

    The gain of a candidate is its value minus its prior.
    """
    is_answer = np.zeros(len(gain), dtype=np.bool_)
    is_answer[answer[answer >= 0]] = True
    rival: Floats = np.maximum.reduceat(np.where(is_answer, -np.inf, gain), lists.starts)
    # Equal ones stay equal whatever the last digits of the sums; adding 0 turns -0 into 0.
    contrast: Floats = np.round(rival - gain[answer], DIGITS) + 0.0
    return contrast


def describe_scale(scale: Scale, score: Floats) -> str | None:
    """What a reader must know of scores that are no logarithms."""
    if scale.kind == "probability":
        return "the scores are probabilities; the correction takes their logarithms"
    if scale.kind == "other":
        extent = f" run from {score.min():.3g} to {score.max():.3g} and" if len(score) else ""
        return (
            f"the scores{extent} are neither logarithms nor probabilities; each list is centred, and divided by the"
            f" standard deviation of all, {scale.spread:.3g}"
        )
    return None


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
