"""Reads a file with one title per line, as tokens of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from shadowprobe.base.files import read_text_lines

# The number of titles that are tokenized at a time: fast, and small in memory.
CHUNK = 10_000


def read_title_tokens(
    path: Path, tokenize: Callable[[list[str]], Sequence[list[int]]]
) -> Iterator[tuple[int, str, list[int]]]:
    """Yields the line number, the text and the tokens of each title."""
    lines = ((number, line) for number, line in read_text_lines(path) if line.strip())
    while chunk := list(islice(lines, CHUNK)):
        sequences = tokenize([title for _, title in chunk])
        for (number, title), sequence in zip(chunk, sequences, strict=True):
            yield number, title, sequence
