"""The counts of a stage: how many items were seen, kept, and dropped for each reason; and its progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, field

from shadowprobe.base.files import write_atomically
from shadowprobe.base.jsonl import encode_json

# Reports the work of a stage: its name or that of a file, the number of items that are done, and the total if known.
Progress = Callable[[str, int, int | None], None]


def ignore_progress(work: str, done: int, total: int | None) -> None:
    """Reports nothing."""


class Funnel(Struct):
    """The counts of one stage; dropped items are counted by reason."""

    stage: str
    seen: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def keep(self, count: int = 1) -> None:
        """Counts items that go to the next stage."""
        self.seen += count
        self.kept += count

    def drop(self, why: str, count: int = 1) -> None:
        """Counts items that are dropped for one reason, if there are any."""
        if count:
            self.seen += count
            self.dropped[why] = self.dropped.get(why, 0) + count

    def add(self, reasons: Counter[str]) -> None:
        """Counts items that are dropped for several reasons."""
        for why, count in sorted(reasons.items()):
            self.drop(why, count)

    def write(self, path: Path) -> None:
        """Writes the counts with sorted reasons, so that equal builds give equal files."""
        self.dropped = dict(sorted(self.dropped.items()))
        write_atomically(path, encode_json(self))
