"""What all the probes cost over 100,000 predictions, against resampling alone.

The baseline is the paired bootstrap as one would write it in NumPy: draw the names with replacement and take the
difference of two rates, 1,000 times. n is the number of names that have a Top and a Shadow snippet.
"""

from __future__ import annotations

import copy
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from goals import Goal, Measured, parser, show
from synthetic import SEED, Shape

from shadowprobe import Answers, Candidate, Dataset, EntitySpace, Prediction, Probe, Snippet
from shadowprobe.plugins import PROBES, make_probe, names

LIMIT = 3.0
PREDICTIONS, SPACES, ROUNDS = 100_000, 9_090, 1_000
REPEATS = 7
# Shares of the made-up answers; what is left over names the other entity of the space.
RIGHT, NIL, SKIPPED = 0.6, 0.03, 0.03

Booleans = npt.NDArray[np.bool_]


def predictions(dataset: Dataset) -> Iterator[Prediction]:
    """Answers by lot, with scores and candidates, of all kinds that there are."""
    lot = np.random.default_rng(SEED)
    for snippet in dataset.snippets():
        luck, score = lot.random(2).tolist()
        if luck < NIL:
            yield Prediction(id=snippet.id, status="nil", score=score)
        elif luck < NIL + SKIPPED:
            yield Prediction(id=snippet.id, status="skipped")
        else:
            space = dataset.spaces.get(snippet.space or "")
            ranked = _ranked(snippet, space, right=luck < NIL + SKIPPED + RIGHT)
            candidates = tuple(Candidate(answer=title, score=score / rank) for rank, title in enumerate(ranked, 1))
            yield Prediction(id=snippet.id, answer=ranked[0], score=score, candidates=candidates)


def _ranked(snippet: Snippet, space: EntitySpace | None, *, right: bool) -> list[str]:
    if space is None:
        return [str(snippet.gold)] if right else [f"Not {snippet.gold}"]
    gold = snippet.gold or space.top
    others = [title for title in space.entities if title != gold]
    return [gold, *others] if right else [*others, gold]


def probe(answers: Answers, probes: list[Probe]) -> float:
    """Seconds that the probes take over answers of which nothing has been worked out yet."""
    fresh = copy.copy(answers)
    started = time.perf_counter()
    for each in probes:
        each.measure(fresh)
    return time.perf_counter() - started


def resample(first: Booleans, second: Booleans) -> float:
    """Seconds that the bare paired bootstrap takes."""
    n = len(first)
    differences = np.empty(ROUNDS)
    started = time.perf_counter()
    lot = np.random.default_rng(SEED)
    for number in range(ROUNDS):
        drawn = lot.integers(0, n, n)
        differences[number] = first[drawn].mean() - second[drawn].mean()
    np.quantile(differences, [0.025, 0.975])
    return time.perf_counter() - started


def measure(scratch: Path, repeats: int = REPEATS) -> Measured:
    """Both in turn, the least of several repeats of each."""
    dataset = Shape(SPACES, PREDICTIONS).write(scratch / "dataset")
    answers = Answers(dataset, rounds=ROUNDS, seed=SEED).fill(predictions(dataset))
    probes = [make_probe(name) for name in names(PROBES)]
    pairs = copy.copy(answers).pairs
    first, second = (answers.entity[rows] == answers.gold[rows] for rows in (pairs.top, pairs.shadow))
    # Once before the clock runs: some probes import what they need when they are first asked.
    probe(answers, probes)
    resample(first, second)
    asked, bare = [], []
    for _ in range(repeats):
        asked.append(probe(answers, probes))
        bare.append(resample(first, second))
    ratio = min(asked) / min(bare)
    return Measured(
        Goal(
            f"all {len(probes)} probes over {len(answers):,} predictions, {ROUNDS:,} rounds: at most {LIMIT:g} times"
            f" bare NumPy resampling (n = {len(pairs):,})",
            ratio,
            "times",
            ratio <= LIMIT,
        ),
        {
            "predictions": len(answers),
            "n, names with a Top and a Shadow snippet": len(pairs),
            "all probes, s": min(asked),
            "baseline: bare resampling, s": min(bare),
            **{f"probe {each.name} alone, s": min(probe(answers, [each]) for _ in range(3)) for each in probes},
        },
    )


def main() -> None:
    """Measures synthetic predictions."""
    given = parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
