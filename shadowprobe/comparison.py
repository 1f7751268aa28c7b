"""Two or more runs over the same snippets, compared in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
from msgspec import Struct

from shadowprobe.answers import Answers, Booleans
from shadowprobe.errors import UsageError
from shadowprobe.model import Subset
from shadowprobe.runs import FinishedRun
from shadowprobe.statistics import ROUNDS, SEED, Z95, mcnemar, paired_difference

# The quantile of the normal distribution below which 80% lie.
Z80 = 0.8416212335729143
LEVEL, POWER = 0.05, 0.8
# As the columns of Table 3.
TABLE_ORDER: tuple[Subset, ...] = ("shadow", "top", "tail", "all")
OVERSHADOWED, PRIOR_BIAS = "overshadowed", "prior_bias"


class Pair(Struct, frozen=True):
    """Two systems on one measure, over the same items.

    `first_only` and the like count items where the measure holds for the first system alone; rates are fractions of 1.
    A win is an item that only the first system gets right; on `overshadowed` and `prior_bias`, a name where only the
    second one lets the name decide.
    """

    measure: str
    # What is counted: `snippets`, or `names` that have a Top and a Shadow snippet.
    unit: str
    first: str
    second: str
    n: int
    both: int
    first_only: int
    second_only: int
    neither: int
    first_rate: float
    second_rate: float
    difference: float
    difference_ci95: tuple[float, float]
    win: int
    tie: int
    loss: int
    mcnemar_p: float
    # Corrected over all pairs of systems on this measure.
    holm_p: float
    # None where so few items differ that no difference could be found.
    detectable: float | None


class Comparison(Struct, frozen=True):
    """Every pair of systems on every measure."""

    dataset: dict[str, Any]
    systems: list[dict[str, Any]]
    settings: dict[str, Any]
    pairs: list[Pair]
    notes: list[str]


def refuse_strangers(runs: Sequence[FinishedRun]) -> None:
    """Refuses runs that are not over the same snippets, or that cannot be told apart by name."""
    for run in runs[1:]:
        first, other = runs[0].results["dataset"], run.results["dataset"]
        if first["digest"] != other["digest"]:
            raise UsageError(
                f"the runs are over different datasets: {runs[0].path} over `{first['name']}` with the digest"
                f" {first['digest'][:12]}..., {run.path} over `{other['name']}` with {other['digest'][:12]}...; only"
                " runs over the same snippets can stand side by side"
            )
        if first["limit"] != other["limit"]:
            raise UsageError(
                f"the runs are over different parts of `{first['name']}`: {runs[0].path} over {_part(first)},"
                f" {run.path} over {_part(other)}; run both with the same --limit"
            )
    labels = [run.label for run in runs]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"--name {label}: two runs are called that; give each a name of its own")


def compare(runs: Sequence[FinishedRun], *, rounds: int = ROUNDS, seed: int = SEED) -> Comparison:
    """Compares every two of the runs on each subset (right or not) and by name (overshadowed, prior bias)."""
    refuse_strangers(runs)
    held = {run.label: _measures(run.answers) for run in runs}
    pairs: list[Pair] = []
    for measure in dict.fromkeys(name for found in held.values() for name in found):
        tables = [
            (first, second, _table(held[first][measure], held[second][measure]))
            for first, second in combinations(held, 2)
            if measure in held[first] and measure in held[second]
        ]
        values = [mcnemar(table[1], table[2]) for _, _, table in tables]
        for (first, second, table), p, corrected in zip(tables, values, holm(values), strict=True):
            interval = paired_difference(*table, rounds=rounds, seed=seed)
            pairs.append(_pair(measure, first, second, table, interval, p, corrected))
    return Comparison(
        dataset=dict(runs[0].results["dataset"]),
        systems=[{"label": run.label, "linker": run.results["linker"]} for run in runs],
        settings={"bootstrap_rounds": rounds, "bootstrap_seed": seed, "level": LEVEL, "power": POWER},
        pairs=pairs,
        notes=[note for run in runs for note in _notes(run, held[run.label])],
    )


def holm(values: Sequence[float]) -> list[float]:
    """Holm's correction: the smallest of m p-values times m, the next times m - 1, and never below the one before."""
    corrected = [0.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = highest
    return corrected


def detectable(n: int, differing: int) -> float | None:
    """The smallest difference of two rates that McNemar's test finds in n pairs with 80% power at the 5% level.

    With the share s of pairs that differ as it was seen, it solves sqrt(n) d = z(0.975) sqrt(s) + z(0.8) sqrt(s - d²)
    for d: the normal approximation of the paired design, before any correction for several systems. The two
    rates can differ by s at most; None where even that would not be found.
    """
    # Below it the equation has no solution.
    if differing == 0 or n < Z95**2 - Z80**2:
        return None
    share = differing / n
    least = sqrt(share) * (Z95 * sqrt(n) + Z80 * sqrt(n + Z80**2 - Z95**2)) / (n + Z80**2)
    return least if least <= share else None


def _part(dataset: dict[str, Any]) -> str:
    return "all of it" if dataset["limit"] is None else f"the first {dataset['limit']} names"


def _measures(answers: Answers) -> dict[str, Booleans]:
    """What can be counted of a run: for each measure, whether it holds for each item."""
    by_subset = dict(answers.gold_subsets())
    found: dict[str, Booleans] = {
        subset: answers.correct[by_subset[subset]] for subset in TABLE_ORDER if subset in by_subset
    }
    pairs = answers.pairs
    if len(pairs):
        top, shadow, prior = answers.entity[pairs.top], answers.entity[pairs.shadow], answers.prior[pairs.space]
        same: Booleans = (top >= 0) & (top == shadow)
        found[OVERSHADOWED] = same
        if (prior >= 0).any():
            found[PRIOR_BIAS] = same & (top == prior)
    return found


def _table(first: Booleans, second: Booleans) -> tuple[int, int, int, int]:
    """Both, the first alone, the second alone, neither."""
    both, alone, other = (int(np.count_nonzero(cell)) for cell in (first & second, first & ~second, ~first & second))
    return both, alone, other, len(first) - both - alone - other


def _pair(
    measure: str,
    first: str,
    second: str,
    table: tuple[int, int, int, int],
    interval: tuple[float, float],
    p: float,
    corrected: float,
) -> Pair:
    both, alone, other, neither = table
    n = sum(table)
    by_name = measure in {OVERSHADOWED, PRIOR_BIAS}
    win, loss = (other, alone) if by_name else (alone, other)
    return Pair(
        measure=measure,
        unit="names" if by_name else "snippets",
        first=first,
        second=second,
        n=n,
        both=both,
        first_only=alone,
        second_only=other,
        neither=neither,
        first_rate=(both + alone) / n,
        second_rate=(both + other) / n,
        difference=(alone - other) / n,
        difference_ci95=(interval[0], interval[1]),
        win=win,
        tie=both + neither,
        loss=loss,
        mcnemar_p=p,
        holm_p=corrected,
        detectable=detectable(n, alone + other),
    )


def _notes(run: FinishedRun, held: dict[str, Booleans]) -> Iterator[str]:
    """What a careful reader must know of a run besides."""
    if run.results["missing"]:
        yield f"{run.label}: {run.results['missing']} snippets have no answer; they count as not right"
    if run.results["settings"]["redirects"] is not None:
        yield f"{run.label}: Tables 3 and 4 were counted with a redirect table, the pairs are counted without it"
    if OVERSHADOWED in held and PRIOR_BIAS not in held:
        yield f"{run.label}: no entity is named in a neutral context, so that it has no prior to repeat"
