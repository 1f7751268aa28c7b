"""What our BM25 costs over one million short passages, against bm25s used directly.

The passages are of made-up words, as unevenly frequent as those of a language. Both sides read the same file, index
title and text, and answer 1,000 queries with 100 documents each, in a process of their own.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from goals import Goal, Measured, parser, peak, show

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.plugins import make_retriever
from shadowprobe.queries.collection import Collection, read_documents
from shadowprobe.queries.query import Document, Query

LIMIT = 1.2
PASSAGES, QUERIES, DEPTH = 1_000_000, 1_000, 100
WORDS, LENGTH, ASKED = 50_000, 30, 6


class Cost(msgspec.Struct, frozen=True):
    """Seconds of CPU and peak memory of one side."""

    seconds: float
    bytes: int


def words(lottery: random.Random, count: int) -> str:
    """Words of a made-up language, a few of them very frequent."""
    return " ".join(f"w{int(WORDS ** lottery.random())}" for _ in range(count))


def passages(count: int) -> Iterator[Document]:
    """The passages, always the same."""
    lottery = random.Random("passages")
    for number in range(count):
        yield Document(f"p{number}", words(lottery, 2), words(lottery, LENGTH))


def queries() -> list[Query]:
    """The queries, always the same."""
    lottery = random.Random("queries")
    return [Query(f"q{number}", words(lottery, ASKED)) for number in range(QUERIES)]


def ours(path: Path) -> int:
    """Our retriever, as a run uses it."""
    retriever = make_retriever("bm25")
    retriever.open(Collection("passages", path).documents(), {})
    asked, found = queries(), 0
    for start in range(0, len(asked), retriever.batch_size):
        hits = retriever.search(asked[start : start + retriever.batch_size], DEPTH)
        found += sum(len(each) for each in hits if isinstance(each, list))
    return found


def directly(path: Path) -> int:
    """The same with nothing but bm25s, as its manual has it."""
    import bm25s

    ids, texts = [], []
    for document in read_documents(path):
        ids.append(document.id)
        texts.append(f"{document.title}. {document.text}")
    tokens = bm25s.tokenize(texts, stopwords="en", show_progress=False)
    del texts
    retriever = bm25s.BM25()
    retriever.index(tokens, show_progress=False)
    asked = bm25s.tokenize([query.text for query in queries()], stopwords="en", show_progress=False)
    numbers, _ = retriever.retrieve(asked, k=DEPTH, show_progress=False)
    return sum(len([ids[number] for number in row]) for row in numbers)


SIDES: dict[str, Callable[[Path], int]] = {"ours": ours, "bm25s": directly}


def cost(side: str, path: Path) -> Cost:
    """One side in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--side", side, "--file", str(path)], stdout=subprocess.PIPE, check=True
    )
    return msgspec.json.decode(done.stdout, type=Cost)


def main() -> None:
    """Measures both sides, or is one of them."""
    options = parser(__doc__)
    options.add_argument("--passages", type=int, default=PASSAGES)
    options.add_argument("--side", choices=SIDES)
    options.add_argument("--file", type=Path)
    given = options.parse_args()
    if given.side:
        began = time.process_time()
        SIDES[given.side](given.file)
        print(msgspec.json.encode(Cost(time.process_time() - began, peak())).decode())
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "passages.jsonl"
        with path.open("wb") as file:
            for document in passages(given.passages):
                file.write(encode_lines([document]))
        costs = {side: cost(side, path) for side in SIDES}
    seconds = {side: found.seconds for side, found in costs.items()}
    memory = {side: found.bytes for side, found in costs.items()}
    slower, larger = (figures["ours"] / figures["bm25s"] for figures in (seconds, memory))
    worst = max(slower, larger)
    goal = Goal(
        f"bm25 over {given.passages:,} passages: at most {LIMIT} x the time and memory of bm25s used directly",
        worst,
        "x",
        worst <= LIMIT,
    )
    details = {
        **{f"CPU seconds, {side}": figure for side, figure in seconds.items()},
        **{f"peak memory in MB, {side}": figure / 1e6 for side, figure in memory.items()},
        "time, ours over bm25s": slower,
        "memory, ours over bm25s": larger,
    }
    show(Measured(goal, details), json=given.json)


if __name__ == "__main__":
    main()
