"""What running a linker costs beside the linker itself, for a linker that does next to nothing.

CPU time of a whole `oracle` job (open and check the dataset, link, write predictions, read them back, ask every
probe, write the results) without the time spent in the linker. The baseline is the loop that one would write by hand:
call the linker on the same batches, held in memory, and write its answers as JSON lines.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from goals import Goal, Measured, parser, show
from synthetic import Shape

from shadowprobe import Failure, Prediction, Snippet, open_dataset
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.systems.linker import Linker

LIMIT = 1.0
REPEATS = 5


class Cost(NamedTuple):
    """CPU seconds of one job: before the first snippet, from there to the end, and in the linker."""

    opening: float
    running: float
    linking: float

    @property
    def overhead(self) -> float:
        """All that is not the linker's."""
        return self.opening + self.running - self.linking


class Stopwatch:
    """Adds up the CPU time that a linker spends in `link`."""

    def __init__(self, linker: Linker) -> None:
        self.seconds = 0.0
        self._link = linker.link
        # On the instance and not in a subclass, so that the run card describes the linker as it is.
        vars(linker)["link"] = self.link

    def link(self, snippets: list[Snippet]) -> Sequence[Prediction | Failure]:
        """The linker's answers."""
        started = time.process_time()
        predictions = self._link(snippets)
        self.seconds += time.process_time() - started
        return predictions


def job(dataset: str, out: Path) -> Cost:
    """One whole job into a fresh directory."""
    linker = make_linker("oracle")
    stopwatch = Stopwatch(linker)
    started = time.process_time()
    made = make_linking_job(linker, dataset, out=out)
    opened = time.process_time()
    made.run()
    return Cost(opened - started, time.process_time() - opened, stopwatch.seconds)


def bare_loop(batches: list[list[Snippet]], linker: Linker, out: Path) -> float:
    """CPU seconds of the linker and nothing but the writing of its answers."""
    encode = msgspec.json.Encoder().encode
    started = time.process_time()
    with out.open("wb") as file:
        for batch in batches:
            file.write(b"".join(encode(prediction) + b"\n" for prediction in linker.link(batch)))
    return time.process_time() - started


def measure(dataset: str, scratch: Path, repeats: int = REPEATS) -> Measured:
    """Both ways in turn, the least of several repeats of each."""
    opened = open_dataset(dataset)
    linker = make_linker("oracle")
    linker.open(opened.knowledge)
    snippets = list(opened.snippets())
    size = linker.batch_size
    batches = [snippets[first : first + size] for first in range(0, len(snippets), size)]
    first = job(dataset, scratch / "first")
    bare_loop(batches, linker, scratch / "first.jsonl")
    costs, bare = [], []
    for repeat in range(repeats):
        costs.append(job(dataset, scratch / f"run-{repeat}"))
        bare.append(bare_loop(batches, linker, scratch / f"bare-{repeat}.jsonl"))
    least = min(costs, key=lambda cost: cost.overhead)
    return Measured(
        Goal(
            f"own overhead of `oracle` over {len(snippets):,} snippets below {LIMIT:g} s of CPU",
            least.overhead,
            "s",
            least.overhead < LIMIT,
        ),
        {
            "snippets": len(snippets),
            "job: opening the dataset, s of CPU": least.opening,
            "job: running and probing without the linker, s of CPU": least.running - least.linking,
            "job: in the linker, s of CPU": least.linking,
            "first job, imports of the probes included, s of CPU": first.overhead,
            "baseline: bare loop, s of CPU": min(bare),
            "whole job / bare loop": (least.overhead + least.linking) / min(bare),
        },
    )


def main() -> None:
    """Measures a dataset that is given, or a synthetic one of the release's shape."""
    options = parser(__doc__)
    options.add_argument("--dataset", help="a known name or a dataset directory, instead of the synthetic one")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        scratch = Path(directory)
        dataset = given.dataset or str(Shape().write(scratch / "dataset").path)
        show(measure(dataset, scratch), json=given.json)


if __name__ == "__main__":
    main()
