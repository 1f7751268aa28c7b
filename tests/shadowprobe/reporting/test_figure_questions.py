"""The figure of the accuracy on each relation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from drawn import intervals, points
from figure_runs import results, rows

from shadowprobe.reporting import figures


def test_questions_are_sorted_by_how_often_they_are_answered(confused: Path) -> None:
    drawn = figures.plot("questions", [confused])
    first, second = drawn.axes
    assert (first.get_title(), second.get_title()) == ("in the first\ndocument", "in the first\n2 documents")
    assert rows(first) == ["place of death (P20)", "place of birth (P19)", "mean over the relations"]
    # The first row is at the top, where the axis begins; the last one ends where it ends.
    bottom, upper = first.get_ylim()
    assert (upper, bottom > first.get_yticks()[-1] > first.get_yticks()[0] > 0) == (0, True)
    assert bottom - first.get_yticks()[-1] < 0.3
    # Of P20 the one question; of P19 one of three, and with the second document two; then their means.
    lines: list[Any] = [axes.containers[0] for axes in drawn.axes]
    assert [[x for x, _ in points(one.lines[0])] for one in lines] == [
        [100, pytest.approx(100 / 3), pytest.approx(200 / 3)],
        [100, pytest.approx(200 / 3), pytest.approx(250 / 3)],
    ]
    found = results(confused)["probes"]["entity_questions"]["relations"]
    expected = [found[relation]["accuracy_ci95"]["1"] for relation in ("P20", "P19")]
    # The mean has none.
    assert intervals(first)[:2] == [pytest.approx([100 * bound for bound in one]) for one in expected]
    assert intervals(first)[2] == pytest.approx([200 / 3, 200 / 3])


def test_a_run_that_was_not_asked_keeps_its_place(both: list[Path]) -> None:
    (first, _) = figures.plot("questions", both).axes
    # An empty line: its colour stays its own, and the legend has it.
    assert [len(points(container.lines[0])) for container in first.containers] == [3, 0]  # type: ignore[attr-defined]
