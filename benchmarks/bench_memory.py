"""How memory grows with the number of predictions, against what the probes keep of each.

A child process runs a whole `oracle` job over 10 thousand and over 1 million snippets; entities and names are the
same in both. Kept are the columns of `Answers` and the index of snippet ids; the baseline is how much these grow.
Three kinds of job: a fresh one, the same again (all answers are there already), and one over texts that repeat.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import numpy as np
from goals import Goal, Measured, parser, peak, show
from synthetic import Shape

from shadowprobe import Answers
from shadowprobe.running.api import make_linking_job

LIMIT = 1.5
SMALL, LARGE = 10_000, 1_000_000


class Footprint(msgspec.Struct, frozen=True):
    """Bytes of one job: the most that the process ever held, and what its answers keep."""

    predictions: int
    peak: int
    columns: int
    index: int

    @property
    def kept(self) -> int:
        """All that the probes read."""
        return self.columns + self.index


def columns(answers: Answers) -> int:
    """Bytes of the arrays that hold a value for each snippet."""
    arrays = [value for value in vars(answers).values() if isinstance(value, np.ndarray)]
    return sum(array.nbytes for array in arrays)


def index(answers: Answers) -> int:
    """Bytes of the table from snippet id to row, keys and values included."""
    items = sum(sys.getsizeof(key) + sys.getsizeof(row) for key, row in answers.row.items())
    return sys.getsizeof(answers.row) + items


def child(dataset: str, out: str) -> None:
    """Runs the job and prints its footprint."""
    job = make_linking_job("oracle", dataset, out=out)
    job.run()
    most = peak()
    found = Footprint(len(job.task.answers), most, columns(job.task.answers), index(job.task.answers))
    print(msgspec.json.encode(found).decode())


def footprint(dataset: Path, out: Path) -> Footprint:
    """The footprint of a job in a process of its own."""
    command = [sys.executable, __file__, "--child", str(dataset), str(out)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Footprint)


def footprints(snippets: int, scratch: Path) -> dict[str, Footprint]:
    """The footprint of every kind of job over this many snippets."""
    different, repeated = (scratch / f"{kind}-{snippets}" for kind in ("different", "repeated"))
    Shape(snippets=snippets).stream(different)
    Shape(snippets=snippets, repeating=True).stream(repeated)
    return {
        "fresh": footprint(different, scratch / f"run-{snippets}"),
        # The same job again: all is answered, and all answers are taken from the earlier one.
        "resumed": footprint(different, scratch / f"run-{snippets}"),
        "repeated texts": footprint(repeated, scratch / f"run-repeated-{snippets}"),
    }


def measure(scratch: Path) -> Measured:
    """The growth from the small to the large job, of the kind of job that grows most."""
    small, large = footprints(SMALL, scratch), footprints(LARGE, scratch)
    more = LARGE - SMALL
    details: dict[str, float] = {}
    ratios = []
    for kind in small:
        growth = (large[kind].peak - small[kind].peak) / more
        kept = (large[kind].kept - small[kind].kept) / more
        ratios.append(growth / kept)
        details |= {
            f"{kind}: peak at {SMALL:,}, MB": small[kind].peak / 1e6,
            f"{kind}: peak at {LARGE:,}, MB": large[kind].peak / 1e6,
            f"{kind}: growth of the peak, bytes per prediction": growth,
            f"{kind}: baseline, kept, bytes per prediction": kept,
            f"{kind}: growth / kept": growth / kept,
        }
    details["kept in columns, bytes per prediction"] = (large["fresh"].columns - small["fresh"].columns) / more
    details["kept in the index of ids, bytes per prediction"] = (large["fresh"].index - small["fresh"].index) / more
    worst = max(ratios)
    return Measured(
        Goal(
            f"memory from {SMALL:,} to {LARGE:,} predictions: grows by at most {LIMIT:g} times what the probes keep",
            worst,
            "times",
            worst <= LIMIT,
        ),
        details,
    )


def main() -> None:
    """Measures both sizes."""
    options = parser(__doc__)
    options.add_argument("--child", nargs=2, metavar=("DATASET", "OUT"), help="run one job and print its footprint")
    given = options.parse_args()
    if given.child:
        child(*given.child)
        return
    with tempfile.TemporaryDirectory() as directory:
        show(measure(Path(directory)), json=given.json)


if __name__ == "__main__":
    main()
