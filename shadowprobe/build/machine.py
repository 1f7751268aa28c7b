"""What a build may use of its machine: memory for the database of dumps, and processes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from shadowprobe.errors import UsageError

# The share of the available memory that the database of dumps gets if nothing else is said: Python needs some too.
SHARE = 0.5
# With less, even a small database cannot be used.
LEAST = 200_000_000
# What is assumed if the machine does not say how much is available.
UNKNOWN = 2_000_000_000
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_PROC, _GROUP = Path("/proc"), Path("/sys/fs/cgroup")


class Machine(Struct, frozen=True):
    """The limits that the user set; 0 means as much as the machine has."""

    memory: int = 0
    workers: int = 0

    def find_memory(self) -> int:
        """Returns the memory for the database in bytes."""
        return self.memory or max(LEAST, int(SHARE * read_available_memory()))

    def count_workers(self) -> int:
        """Returns the number of processes that work at the same time."""
        return self.workers or os.cpu_count() or 1


# Everything that the machine has.
ALL = Machine()


def parse_size(text: str) -> int:
    """Parses a size such as 8GB or 500MB."""
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size < LEAST:
        raise UsageError(f"--memory {text}: give a size such as 8GB, and at least {LEAST // 10**6}MB")
    return size


def read_available_memory() -> int:
    """Reads how much memory is available, within the limit of the container."""
    return min([_read_free_memory(), *_read_group_limits()])


def _read_free_memory() -> int:
    try:
        lines = (_PROC / "meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return UNKNOWN
    sizes = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(sizes["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in sizes else UNKNOWN


def _read_group_limits() -> list[int]:
    """Reads the limit of a container, in version 2 or version 1 of control groups; empty without a limit."""
    limits = []
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = (_GROUP / name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdecimal():
            limits.append(int(text))
    return limits
