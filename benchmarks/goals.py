"""A goal with what was measured for it, as a line for a person or as JSON for `run`."""

from __future__ import annotations

import argparse

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


def show(measured: Measured, *, json: bool) -> None:
    """Prints the figures, and the goal last."""
    if json:
        print(msgspec.json.encode(measured).decode())
        return
    for name, value in measured.details.items():
        print(f"{name:<52} {value:>16,.6g}")
    print(f"{measured.goal.goal}: {measured.goal.words}, {measured.goal.verdict}")
