"""Two or more runs over the same items, compared in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from shadowprobe.measure.power import LEVEL, POWER, detectable
from shadowprobe.measure.statistics import ROUNDS, SEED, count_pairs, grouped_difference, mcnemar
from shadowprobe.running.directory import Kind
from shadowprobe.running.finished import FinishedRun, check_comparable
from shadowprobe.running.item_measures import OVERSHADOWED, PRIOR_BIAS, Measure, measure_runs

MISSING: dict[Kind, str] = {
    "linker": "snippets have no answer",
    "retriever": "queries have no ranking",
    "reader": "queries have no answer",
    "model": "sets have no answer",
}


class Pair(Struct, frozen=True):
    """Two systems on one measure, over the same items.

    `first_only` and the like count items where the measure holds for the first system alone; rates are fractions of 1.
    A win is an item that only the first system gets right; on `overshadowed` and `prior_bias`, a name where only the
    second one lets the name decide.
    """

    measure: str
    # What is counted: `snippets`, `names` that have a Top and a Shadow snippet, `queries`, `questions` or `sets`.
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
    # What the bootstrap draws, and how many: the items, or `documents`, `names` or `sets` of items.
    drawn: str
    drawn_n: int
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


def compare(
    runs: Sequence[FinishedRun],
    *,
    collection: str | None = None,
    queries: Path | None = None,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Comparison:
    """Compares every two of the runs on each measure that both have.

    `collection` and `queries` say where the data of retrievers and language models is, if it is no longer where it was.
    """
    check_comparable(runs)
    measures = measure_runs(runs, collection, queries) if len(runs) > 1 else {run.label: {} for run in runs}
    pairs: list[Pair] = []
    for name in dict.fromkeys(name for one in measures.values() for name in one):
        counts = [
            (first, second, count_pairs(measures[first][name].holds, measures[second][name].holds))
            for first, second in combinations(measures, 2)
            if name in measures[first] and name in measures[second]
        ]
        values = [mcnemar(cells.first_only, cells.second_only) for _, _, cells in counts]
        for (first, second, cells), p, corrected in zip(counts, values, holm(values), strict=True):
            measure, n = measures[first][name], sum(cells)
            groups = measure.groups if measure.groups is not None else np.arange(n, dtype=np.int32)
            drawn_n = len(np.unique(groups))
            holds = measure.holds, measures[second][name].holds
            win, loss = cells.first_only, cells.second_only
            if measure.is_fault:
                win, loss = loss, win
            pairs.append(
                Pair(
                    measure=measure.name,
                    unit=measure.unit,
                    first=first,
                    second=second,
                    n=n,
                    **cells._asdict(),
                    first_rate=(cells.both + cells.first_only) / n,
                    second_rate=(cells.both + cells.second_only) / n,
                    difference=(cells.first_only - cells.second_only) / n,
                    difference_ci95=grouped_difference(*holds, groups, rounds=rounds, seed=seed),
                    drawn=measure.unit if drawn_n == n else measure.group_unit,
                    drawn_n=drawn_n,
                    win=win,
                    tie=cells.both + cells.neither,
                    loss=loss,
                    mcnemar_p=p,
                    holm_p=corrected,
                    detectable=detectable(n, cells.first_only + cells.second_only),
                )
            )
    return Comparison(
        dataset=dict(runs[0].data),
        systems=[{"label": run.label, run.kind: run.system} for run in runs],
        settings={"bootstrap_rounds": rounds, "bootstrap_seed": seed, "level": LEVEL, "power": POWER},
        pairs=pairs,
        notes=[note for run in runs for note in _notes(run, measures[run.label])],
    )


def is_clearly_best(measures: Mapping[str, Mapping[str, Measure]], name: str, label: str) -> bool:
    """True if a system differs from every other one on a measure, by McNemar's test after Holm's correction."""
    own = measures.get(label, {}).get(name)
    rivals = [of_run[name] for other, of_run in measures.items() if other != label and name in of_run]
    if own is None or not rivals:
        return False
    counts = (count_pairs(own.holds, rival.holds) for rival in rivals)
    return max(holm([mcnemar(cells.first_only, cells.second_only) for cells in counts])) < LEVEL


def holm(values: Sequence[float]) -> list[float]:
    """Holm's correction: the smallest of m p-values times m, the next times m - 1, and never below the one before."""
    corrected = [0.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = highest
    return corrected


def _notes(run: FinishedRun, measures: Mapping[str, Measure]) -> Iterator[str]:
    """What a careful reader must know of a run besides."""
    if run.results["missing"]:
        yield f"{run.label}: {run.results['missing']} {MISSING[run.kind]}; they count as not right"
    if run.kind == "linker" and run.results["settings"]["redirects"] is not None:
        yield f"{run.label}: Tables 3 and 4 were counted with a redirect table, the pairs are counted without it"
    if OVERSHADOWED in measures and PRIOR_BIAS not in measures:
        yield f"{run.label}: no entity is named in a neutral context, so that it has no prior to repeat"
