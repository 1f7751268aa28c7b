"""The memory and the CPU time of a process with all processes that it has started, from /proc."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """Bytes of memory at a moment, and CPU seconds so far."""

    memory: int
    cpu: float


def measure_tree(process: int) -> Usage:
    """What a process and its descendants use. Memory that several of them share counts once."""
    memory, cpu = 0, 0.0
    for each in list_tree(process):
        # A process may end between two looks at it.
        with suppress(OSError, ValueError, IndexError):
            memory += _read_memory(each)
            cpu += _read_cpu(each)
    return Usage(memory, cpu)


def list_tree(process: int) -> list[int]:
    """A process and its descendants."""
    found, waiting = [], [process]
    while waiting:
        found.append(waiting.pop())
        with suppress(OSError):
            for task in Path(f"/proc/{found[-1]}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text(encoding="ascii").split()]
    return found


def _read_memory(process: int) -> int:
    """The memory of a process; of a page that n processes share, it gets one n-th (PSS)."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _read_cpu(process: int) -> float:
    """CPU seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / _TICKS
