"""What it takes to find near duplicates: the time for a snippet among 10 thousand and among a million.

The snippets are made-up sentences whose words are as unequally frequent as in a language; one in twenty nearly repeats
the one before. The baseline is the same search among the first snippets, so that a time that grows with their number
is seen. The memory is that of the index.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import time
from array import array
from collections.abc import Iterator

import msgspec
from goals import Goal, Measured, parser, show
from synthetic import SEED

from shadowprobe.build.near_duplicates import NearDuplicates

LIMIT, BYTES = 1.5, 300
FEW, MANY = 10_000, 1_000_000
WORDS, LENGTH, REPEATED = 50_000, 20, 20


def make_texts(count: int) -> Iterator[str]:
    """So many sentences, always the same."""
    random_words = random.Random(SEED)
    words = [f"w{number}" for number in range(WORDS)]
    weights = list(itertools.accumulate(1 / number for number in range(1, WORDS + 1)))
    text = ""
    for number in range(count):
        if number % REPEATED == REPEATED - 1:
            text = f"{text.rpartition(' ')[0]} other"
        else:
            text = " ".join(random_words.choices(words, cum_weights=weights, k=LENGTH))
        yield text


def search(count: int) -> dict[str, float]:
    """CPU seconds per snippet, and bytes of the index per kept snippet."""
    seen, seconds = NearDuplicates(), 0.0
    texts = make_texts(count)
    while block := list(itertools.islice(texts, 1_000)):
        started = time.process_time()
        for text in block:
            seen.add(text)
        seconds += time.process_time() - started
    arrays = [value for value in vars(seen).values() if isinstance(value, array)]
    return {
        "seconds": seconds / count,
        "bytes": sum(each.itemsize * len(each) for each in arrays) / len(seen),
        "kept": len(seen),
    }


def run_child(count: int) -> dict[str, float]:
    """The search in a process of its own."""
    command = [sys.executable, __file__, "--child", str(count)]
    found: dict[str, float] = msgspec.json.decode(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


def measure() -> Measured:
    """Few snippets, the least of three; then many."""
    few = min((run_child(FEW) for _ in range(3)), key=lambda found: found["seconds"])
    many = run_child(MANY)
    ratio = many["seconds"] / few["seconds"]
    return Measured(
        Goal(
            f"near duplicates among {MANY:,} snippets: at most {LIMIT:g} times the CPU time per snippet as among"
            f" {FEW:,}, and {BYTES} bytes each",
            ratio,
            "times",
            ratio <= LIMIT and many["bytes"] <= BYTES,
        ),
        {
            f"among {MANY:,}, CPU µs a snippet": many["seconds"] * 1e6,
            f"baseline: among {FEW:,}, CPU µs a snippet": few["seconds"] * 1e6,
            "bytes of the index a snippet": many["bytes"],
            "kept": many["kept"],
        },
    )


def main() -> None:
    """Measures both sizes."""
    options = parser(__doc__)
    options.add_argument("--child", type=int, metavar="COUNT", help="search and print what it took")
    given = options.parse_args()
    if given.child:
        print(msgspec.json.encode(search(given.child)).decode())
    else:
        show(measure(), json=given.json)


if __name__ == "__main__":
    main()
