"""How many things went into a stage, how many came out, and why the others did not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from msgspec import Struct, field

from shadowprobe.jsonl import encode_json, read_json, write_atomically


class Funnel(Struct):
    """The counts of one stage; what is dropped is counted under its reason."""

    stage: str
    seen: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def keep(self, count: int = 1) -> None:
        """Counts things that go on to the next stage."""
        self.seen += count
        self.kept += count

    def drop(self, why: str, count: int = 1) -> None:
        """Counts things that end here."""
        self.seen += count
        self.dropped[why] = self.dropped.get(why, 0) + count

    def add(self, reasons: Counter[str]) -> None:
        """Counts many that end here."""
        for why, count in sorted(reasons.items()):
            self.drop(why, count)

    def write(self, path: Path) -> None:
        """Writes the counts, the reasons in the order of their names, so that equal builds give equal files."""
        self.dropped = dict(sorted(self.dropped.items()))
        write_atomically(path, encode_json(self))

    @classmethod
    def read(cls, path: Path) -> Funnel:
        """Reads the counts of a stage that is done."""
        return read_json(path, cls)
