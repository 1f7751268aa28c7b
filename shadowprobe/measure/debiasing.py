"""A correction for overshadowing: subtract a part of what each candidate scores without any context.

`score'(c | x) = score(c | x) - w * mean over the neutral contexts of score(c)`, in log space.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from shadowprobe.measure.answer_columns import Booleans, Floats, Ints
from shadowprobe.measure.answers import Answers
from shadowprobe.measure.candidate_scores import CandidateScores, Kind
from shadowprobe.measure.corrected_scores import CorrectedScores
from shadowprobe.measure.pairs import both_right, has_prior, overshadowed, prior_biased
from shadowprobe.measure.statistics import Interval, grouped_difference, wilson

# The weights that are tried.
WEIGHTS = tuple(step / 20 for step in range(21))
# The weight where no gold answers say what is best.
DEFAULT_WEIGHT = 0.5
# How often the names are divided into two halves.
SPLITS = 5
# A smaller gain in both contexts right does not repay the answers to neutral contexts that each new name costs. Even a
# system that hardly has a prior gains a little.
SMALLEST_GAIN = 0.01
# The share of right answers on Top that a chosen weight may cost. Most texts mean the common entity, so that a larger
# loss there is felt at once.
TOP_LOSS = 0.01
# With fewer names, halves are too small to choose a weight on.
LEAST_NAMES = 4
BOTH_RIGHT, OVERSHADOWED, PRIOR_BIAS = "both_right", "overshadowed", "prior_bias"
# For these a lower rate is better.
FAULTS = (OVERSHADOWED, PRIOR_BIAS)

ChosenBy = Literal["given", "cross-fit", "default"]
Verdict = Literal["worth it", "not worth it", "unknown"]


class Change(Struct, frozen=True):
    """One measure before and after the correction, over the same items; rates are fractions of 1."""

    n: int
    before: float
    after: float
    difference: float
    difference_ci95: tuple[float, float]
    # The share of the errors that the correction removes; None where there were none, and for faults.
    errors_cut: float | None


class BreakEven(NamedTuple):
    """The share of Shadow cases at which gain and loss are equal, and on which side of it the correction pays."""

    share: float | None
    pays: Literal["always", "never", "above", "below"]


class Debiasing(Struct, frozen=True):
    """What a correction changes."""

    chosen_by: ChosenBy
    # The weight for new texts; 0 where the correction is not worth it.
    weight: float
    verdict: Verdict
    # The correction is worth it if the whole interval of the change in both contexts right is above this.
    smallest_gain: float
    # What a weight may cost on Top among the names that choose it.
    top_loss: float
    # For every split the weights of the two halves, each chosen on the other one.
    splits: list[tuple[float, float]]
    # What is subtracted from the candidates of each name in the corrected answers.
    weight_of_space: Floats
    measures: dict[str, Change]
    # How many names are right in both contexts only after the correction, and only before it; means over the splits.
    gained: float
    lost: float
    # Which names these are in the first split.
    gained_names: list[str]
    lost_names: list[str]
    break_even: BreakEven | None
    # The rates at every weight that was tried.
    curve: list[dict[str, Any]]


class Correction(CorrectedScores):
    """The corrected answers of a run for any weight."""

    def __init__(self, answers: Answers, kind: Kind | None = None) -> None:
        self.answers = answers
        super().__init__(CandidateScores(answers, kind))

    def apply(self, weight_of_space: Floats) -> Answers:
        """The answers after the correction; neutral contexts are corrected too, as the corrected system would do."""
        if not len(self.lists.rows):
            return self.answers
        corrected, best = self.correct(weight_of_space)
        return self.answers.replace_entities(self.lists.rows, self.entity[best], self.rescale(corrected)[best])

    def apply_weight(self, weight: float) -> Answers:
        """The answers after a correction with the same weight for every name."""
        return self.apply(np.full(len(self.answers.space_names), weight))


def debias(correction: Correction, weight: float | None = None, *, top_loss: float = TOP_LOSS) -> Debiasing:
    """What a correction changes: with a weight, or with weights chosen by cross-fitting over the names.

    In cross-fitting every name gets a weight that was chosen without it, so that its result is an honest one.
    `top_loss` is what a chosen weight may cost on Top.
    """
    answers = correction.answers
    pairs, names = answers.pairs, len(answers.space_names)
    curve, tried = _try_weights(correction)
    splits: list[Floats]
    chosen_by: ChosenBy
    if weight is not None or len(pairs) < LEAST_NAMES:
        chosen_by = "default" if weight is None else "given"
        weight = DEFAULT_WEIGHT if weight is None else weight
        splits = [np.full(names, weight)]
        of_splits: list[tuple[float, float]] = []
    else:
        chosen_by = "cross-fit"
        folds = list(cross_fit(tried, pairs.space, names, top_loss=top_loss, seed=answers.seed))
        splits = [fold.weight_of_space for fold in folds]
        of_splits = [fold.weights for fold in folds]
        weight = choose_weight(tried, top_loss)
    changes, outcomes = _measure_changes(correction, splits)
    is_known = BOTH_RIGHT in changes
    pays = is_known and weight > 0 and changes[BOTH_RIGHT].difference_ci95[0] > SMALLEST_GAIN
    used = splits[0]
    if chosen_by == "cross-fit" and not pays:
        weight, used = 0.0, np.zeros(names)
    before, after = outcomes.get(BOTH_RIGHT, (np.zeros(0, dtype=np.bool_),) * 2)
    first = slice(len(pairs))
    return Debiasing(
        chosen_by=chosen_by,
        weight=weight,
        verdict="unknown" if not is_known else "worth it" if pays else "not worth it",
        smallest_gain=SMALLEST_GAIN,
        top_loss=top_loss,
        splits=of_splits,
        weight_of_space=used,
        measures=changes,
        gained=np.count_nonzero(after & ~before) / len(splits),
        lost=np.count_nonzero(before & ~after) / len(splits),
        gained_names=_name_spaces(answers, pairs.space[(after & ~before)[first]]),
        lost_names=_name_spaces(answers, pairs.space[(before & ~after)[first]]),
        break_even=find_break_even(changes["top"].difference, changes["shadow"].difference)
        if changes.keys() >= {"top", "shadow"}
        else None,
        curve=curve,
    )


def _name_spaces(answers: Answers, spaces: Ints) -> list[str]:
    return [answers.space_names[space] for space in spaces]


class Tried(NamedTuple):
    """Whether each name has both contexts right, and its Top context: a row a weight, a column a name."""

    both: Booleans
    top: Booleans

    def choose_names(self, is_chosen: Booleans) -> Tried:
        """The same for some of the names."""
        return Tried(self.both[:, is_chosen], self.top[:, is_chosen])


def _try_weights(correction: Correction) -> tuple[list[dict[str, Any]], Tried]:
    """The rates at every weight, and what each name has right there."""
    curve, both, top = [], [], []
    # Neutral contexts have no right answer.
    of_gold = correction.limit(correction.answers.has_gold)
    for weight in WEIGHTS:
        after = of_gold.apply_weight(weight)
        point: dict[str, Any] = {"weight": weight}
        both.append(both_right(after))
        top.append(after.correct[after.pairs.top])
        rates: dict[str, Booleans] = {subset: after.correct[rows] for subset, rows in after.gold_subsets()}
        for name, holds in {**rates, BOTH_RIGHT: both[-1]}.items():
            if len(holds):
                hits = int(np.count_nonzero(holds))
                point |= {name: hits / len(holds), f"{name}_ci95": list(wilson(hits, len(holds)))}
        curve.append(point)
    return curve, Tried(np.array(both), np.array(top))


def choose_weight(tried: Tried, top_loss: float = TOP_LOSS) -> float:
    """The weight with the most names right in both contexts that costs at most so much on Top; the smallest of several.

    The first weight is 0 and costs nothing.
    """
    both, top = (np.count_nonzero(right, axis=1) for right in tried)
    # Counts, as a share of 0.01 of 100 names is not exactly one name.
    is_allowed = top[0] - top <= round(top_loss * tried.top.shape[1], 9)
    return WEIGHTS[int(np.argmax(np.where(is_allowed, both, -1)))]


class Fold(NamedTuple):
    """The names in two halves: the weight of each half is chosen on the other."""

    weights: tuple[float, float]
    weight_of_space: Floats


def cross_fit(
    tried: Tried, spaces: Ints, names: int, *, splits: int = SPLITS, top_loss: float = TOP_LOSS, seed: int
) -> Iterator[Fold]:
    """Weights for every name that were chosen without it, once for each split.

    `tried` has a column for each of `spaces`, the names with both contexts. The others of the `names` go with the
    second half.
    """
    for number in range(splits):
        order = np.random.default_rng([seed, number]).permutation(len(spaces))
        in_first = np.zeros(names, dtype=np.bool_)
        in_first[spaces[order[: len(spaces) // 2]]] = True
        is_first = in_first[spaces]
        on_second, on_first = (choose_weight(tried.choose_names(half), top_loss) for half in (~is_first, is_first))
        yield Fold((on_second, on_first), np.where(in_first, on_second, on_first))


def _list_measures(answers: Answers) -> Iterator[tuple[str, Booleans, Ints, Ints]]:
    """Every measure with whether it holds for each item, the name of the item, and what a bootstrap draws with it."""
    for subset, rows in answers.gold_subsets():
        yield subset, answers.correct[rows], answers.space[rows], answers.groups[rows]
    space = answers.pairs.space
    if len(space):
        yield BOTH_RIGHT, both_right(answers), space, space
        yield OVERSHADOWED, overshadowed(answers), space, space
        if has_prior(answers).any():
            yield PRIOR_BIAS, prior_biased(answers), space, space


def _measure_changes(
    correction: Correction, splits: Sequence[Floats]
) -> tuple[dict[str, Change], dict[str, tuple[Booleans, Booleans]]]:
    """Every measure before and after, and the same item by item, split after split."""
    answers = correction.answers
    measures = list(_list_measures(answers))
    # Items of one name depend on its weight alone, so that each weight is applied once.
    after = {
        weight: {name: holds for name, holds, *_ in _list_measures(correction.apply_weight(weight))}
        for weight in np.unique(splits).tolist()
    }
    changes, outcomes = {}, {}
    for name, holds, spaces, groups in measures:
        held_out = []
        for weight_of_space in splits:
            weights = weight_of_space[spaces]
            held_out.append(np.select([weights == weight for weight in after], [one[name] for one in after.values()]))
        before, now = np.tile(holds, len(splits)), np.concatenate(held_out).astype(np.bool_)
        outcomes[name] = before, now
        interval = grouped_difference(
            now, before, np.tile(groups, len(splits)), rounds=answers.rounds, seed=answers.seed
        )
        changes[name] = _describe_change(name, before, now, len(holds), interval)
    return changes, outcomes


def _describe_change(name: str, before: Booleans, after: Booleans, n: int, interval: Interval) -> Change:
    old, new, total = int(np.count_nonzero(before)), int(np.count_nonzero(after)), len(before)
    has_errors = name not in FAULTS and old < total
    return Change(
        n=n,
        before=old / total,
        after=new / total,
        difference=(new - old) / total,
        difference_ci95=interval,
        errors_cut=(new - old) / (total - old) if has_errors else None,
    )


def find_break_even(top: float, shadow: float) -> BreakEven:
    """Where the correction pays: at a share q of Shadow cases, it gains q * shadow + (1 - q) * top."""
    if top <= 0 and shadow <= 0:
        return BreakEven(None, "never")
    if top >= 0 and shadow >= 0:
        return BreakEven(0.0, "always")
    return BreakEven(-top / (shadow - top), "above" if shadow > 0 else "below")
