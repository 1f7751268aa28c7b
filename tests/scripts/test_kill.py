"""The script that kills commands: it sees what a kill must not do, and nothing of that happens."""

from __future__ import annotations

from pathlib import Path
from random import Random

import kill
import pytest
from killing import Building, PlainRun, Victim, kill_repeatedly, make_victim


def test_a_run_that_is_killed_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert kill.main(["--count", "2", "--only", "run"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("run: killed 2 times in 1 runs of 21 questions each, with ")
    assert printed.endswith("; 0 problems\n")


class Forgetting(PlainRun):
    """Has fewer answers in the end than at a kill."""

    def stored(self, out: str) -> list[str]:
        found = super().stored(out)
        return found[1:] if len(found) == 21 else found


class Repeating(PlainRun):
    """Asks for everything again after a kill."""

    at_once = 1

    def command(self, out: str) -> list[str]:
        return [*super().command(out), "--force"]


class Differing(PlainRun):
    """Another result in every directory."""

    def result(self, out: str) -> dict[str, bytes | None]:
        return {**super().result(out), "results.json": out.encode()}


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (Forgetting, "lost: tAvon"),
        (Repeating, "stored, and asked for again: "),
        (Differing, "killed-0/results.json differs"),
    ],
)
def test_what_a_kill_must_not_do_is_reported(kind: type[Victim], problem: str, tmp_path: Path) -> None:
    victim = kind(tmp_path)
    problems = kill_repeatedly(victim, 3, Random(1)).problems
    assert any(one.startswith(problem) for one in problems), problems


@pytest.mark.slow
def test_a_build_that_is_killed_sends_no_stored_request_again_and_makes_the_same_dataset(tmp_path: Path) -> None:
    with make_victim(Building.name, tmp_path) as victim:
        report = kill_repeatedly(victim, 4, Random(7))
    assert report.problems == ()
    assert max(report.stored) > 0
