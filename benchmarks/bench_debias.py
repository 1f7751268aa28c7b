"""What the correction costs over 100,000 predictions, against the same arithmetic alone.

The baseline is the correction as one would write it in NumPy for names with two candidates each: a matrix of scores,
the mean of the neutral ones, every weight by subtraction and argmax, and a paired bootstrap of the names right in both
contexts, 1,000 rounds. It reads no lists of different lengths, knows no ties, and measures that one rate.
"""

from __future__ import annotations

import copy
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from bench_probes import PREDICTIONS, REPEATS, ROUNDS, SPACES, resample
from goals import Goal, Measured, parser, show
from synthetic import SEED, Shape

from shadowprobe import Answers, Candidate, Dataset, Prediction
from shadowprobe.measure.answer_columns import Floats
from shadowprobe.measure.debiasing import WEIGHTS, Correction, debias

Rows = npt.NDArray[np.integer]
LIMIT = 3.0
# How much higher the top entity of a name scores without any context, and what a context adds to the right one.
PRIOR, CONTEXT = 1.0, 1.2


def predictions(dataset: Dataset) -> Iterator[Prediction]:
    """Both entities of every name with log scores: a prior, a context, and noise."""
    lot = np.random.default_rng(SEED)
    for snippet in dataset.snippets():
        space = dataset.spaces.get(snippet.space or "")
        if space is None:
            yield Prediction(snippet.id, answer=snippet.gold, score=-1.0)
            continue
        scores = lot.normal(-10, 1, 2) + np.array([PRIOR, 0]) + [CONTEXT * (t == snippet.gold) for t in space.entities]
        ranked = sorted(zip(scores.tolist(), space.entities, strict=True), reverse=True)
        candidates = tuple(Candidate(answer=title, score=score) for score, title in ranked)
        yield Prediction(snippet.id, answer=ranked[0][1], score=ranked[0][0], candidates=candidates)


def correct(answers: Answers) -> float:
    """Seconds that the whole correction takes, from the columns of the answers to every figure."""
    fresh = copy.copy(answers)
    for name in ("candidates", "prior", "correct", "linked", "pairs", "groups", "_title_order"):
        vars(fresh).pop(name, None)
    started = time.perf_counter()
    debias(Correction(fresh))
    return time.perf_counter() - started


def correct_bare(scores: Floats, space: Rows, neutral: Rows, top: Rows, shadow: Rows) -> float:
    """Seconds that the arithmetic alone takes; the first column of the scores is that of the top entity."""
    started = time.perf_counter()
    sums = np.zeros((SPACES, 2))
    np.add.at(sums, space[neutral], scores[neutral])
    prior = sums / np.bincount(space[neutral], minlength=SPACES)[:, None]
    right = []
    for weight in WEIGHTS:
        chosen = np.argmax(scores - weight * prior[space], axis=1)
        right.append((chosen[top] == 0) & (chosen[shadow] == 1))
    best = right[int(np.argmax([one.sum() for one in right]))]
    return time.perf_counter() - started + resample(best, right[0])


def measure(scratch: Path, repeats: int = REPEATS) -> Measured:
    """Both in turn, the least of several repeats of each."""
    dataset = Shape(SPACES, PREDICTIONS).write(scratch / "dataset")
    answers = Answers(dataset, rounds=ROUNDS, seed=SEED).fill(predictions(dataset))
    row, entity, score = answers.candidates
    lists = np.unique(row)
    number = np.searchsorted(lists, row)
    scores = np.empty((len(lists), 2))
    scores[number, (entity != answers.top_of[answers.space[row]]).astype(int)] = score
    space = answers.space[lists]
    neutral = np.flatnonzero(answers.rows("neutral")[lists])
    top, shadow = (np.searchsorted(lists, rows) for rows in (answers.pairs.top, answers.pairs.shadow))
    whole, bare = [], []
    for _ in range(repeats):
        whole.append(correct(answers))
        bare.append(correct_bare(scores, space, neutral, top, shadow))
    ratio = min(whole) / min(bare)
    return Measured(
        Goal(
            f"debias over {len(answers):,} predictions, {len(WEIGHTS)} weights, {ROUNDS:,} rounds: at most {LIMIT:g}"
            f" times bare NumPy (n = {len(answers.pairs):,})",
            ratio,
            "times",
            ratio <= LIMIT,
        ),
        {
            "predictions": len(answers),
            "n, names with a Top and a Shadow snippet": len(answers.pairs),
            "the whole correction, s": min(whole),
            "baseline: bare NumPy, s": min(bare),
        },
    )


def main() -> None:
    """Measures synthetic predictions."""
    given = parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
