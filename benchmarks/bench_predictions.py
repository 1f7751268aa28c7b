"""What a run costs per prediction, over a million of them.

CPU time of a whole `oracle` job without the time spent in the linker, as in `bench_runner`, divided by the number of
snippets. The baseline reads the same files and writes as many JSON lines with msgspec, and does nothing else.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import msgspec
from bench_runner import job
from goals import Goal, Measured, parser, show
from synthetic import SHARES, Shape

from shadowprobe import Prediction, Snippet

# Microseconds of CPU per prediction.
LIMIT = 25.0
SNIPPETS = 1_000_000


def read_and_write(dataset: Path, out: Path) -> float:
    """CPU seconds to read every snippet and to write a prediction for it."""
    decode, encode = msgspec.json.Decoder(Snippet).decode, msgspec.json.Encoder().encode
    started = time.process_time()
    with out.open("wb") as file:
        for subset in SHARES:
            with (dataset / f"{subset}.jsonl").open("rb") as lines:
                snippets = map(decode, lines)
                file.writelines(encode(Prediction(snippet.id, answer=snippet.gold)) + b"\n" for snippet in snippets)
    return time.process_time() - started


def measure(snippets: int, scratch: Path) -> Measured:
    """One job over a streamed dataset, after a small one that imports everything."""
    small, large = scratch / "small", scratch / "large"
    Shape(snippets=1_000).stream(small)
    Shape(snippets=snippets).stream(large)
    job(str(small), scratch / "first")
    bare = read_and_write(large, scratch / "bare.jsonl")
    cost = job(str(large), scratch / "run")
    own = cost.overhead * 1e6 / snippets
    return Measured(
        Goal(
            f"own CPU time of a run over {snippets:,} snippets: at most {LIMIT:g} microseconds per prediction",
            own,
            "µs",
            own <= LIMIT,
        ),
        {
            "snippets": snippets,
            "opening the dataset, µs of CPU a snippet": cost.opening * 1e6 / snippets,
            "linking and probing, µs of CPU a snippet": (cost.running - cost.linking) * 1e6 / snippets,
            "in the linker, µs of CPU a snippet": cost.linking * 1e6 / snippets,
            "baseline: read and write, µs of CPU a snippet": bare * 1e6 / snippets,
            "own / baseline": cost.overhead / bare,
        },
    )


def main() -> None:
    """Measures synthetic snippets."""
    options = parser(__doc__)
    options.add_argument("--snippets", type=int, default=SNIPPETS, help=f"how many [{SNIPPETS}]")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        show(measure(given.snippets, Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
