"""Parts of dumps whose readers do not come to their end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from shadowprobe.build.dumps.parallel import Rows


class DeadlyPart(Struct, frozen=True):
    """A part whose process is killed, as a machine without memory does it."""

    path: Path

    def read(self) -> Iterator[Rows]:
        """Kills the process."""
        os.kill(os.getpid(), signal.SIGKILL)
        yield Rows("never", {})


class LargePart(Struct, frozen=True):
    """A part with more rows than a connection holds. The file of its name gets the number of the process."""

    path: Path

    def read(self) -> Iterator[Rows]:
        """Yields the same rows three times."""
        self.path.write_text(str(os.getpid()))
        for _ in range(3):
            yield Rows("large", {"text": b"x" * 3_000_000})


class EndlessPart(Struct, frozen=True):
    """A part that has always one more row."""

    path: Path

    def read(self) -> Iterator[Rows]:
        """Yields the same row again and again."""
        while True:
            yield Rows("number", {"number": [1]})
