"""A goal with what was measured for it, as a line for a person or as JSON for `run`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

# The exit code of a benchmark whose packages are not installed.
SKIPPED = 77


class Goal(msgspec.Struct, frozen=True):
    """One sentence that a run of the benchmarks can confirm or refute."""

    goal: str
    measured: float
    unit: str
    holds: bool

    @property
    def words(self) -> str:
        """The measured figure with its unit."""
        return f"{self.measured:.2f} {self.unit}"

    @property
    def verdict(self) -> str:
        """Whether the goal was reached, so that a miss catches the eye."""
        return "holds" if self.holds else "MISSED"


class Measured(msgspec.Struct, frozen=True):
    """What one benchmark found: its goal, and the figures behind it."""

    goal: Goal
    details: dict[str, float]


def parser(about: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark takes."""
    made = argparse.ArgumentParser(description=about)
    made.add_argument("--json", action="store_true", help="print JSON instead of lines")
    return made


def peak() -> int:
    """The most memory that this process has held, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # Preferred on Linux: there getrusage also counts what the parent held when it started us.
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def show(measured: Measured, *, json: bool) -> None:
    """Prints the figures, and the goal last."""
    if json:
        print(msgspec.json.encode(measured).decode())
        return
    for name, value in measured.details.items():
        print(f"{name:<52} {value:>16,.6g}")
    print(f"{measured.goal.goal}: {measured.goal.words}, {measured.goal.verdict}")
