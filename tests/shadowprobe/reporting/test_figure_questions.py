"""The figure of the accuracy on each relation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from drawn import assert_laid_out, intervals, points
from figure_runs import results, rows
from measured_runs import write_retrieval
from retrieval_world import ANSWERED

from shadowprobe.reporting import figures
from shadowprobe.reporting.figures import questions


class Relation(NamedTuple):
    """A relation with a label."""

    label: str


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


@pytest.mark.parametrize(("width", "longest"), [("one", 26), ("two", 44)])
def test_the_names_of_relations_have_room_and_the_mean_stands_apart(
    confused: Path, monkeypatch: pytest.MonkeyPatch, width: Any, longest: int
) -> None:
    known = {"P19": Relation("x" * (longest - 6)), "P20": Relation("x" * (longest - 5))}
    monkeypatch.setattr(questions, "relations", lambda: known)
    drawn = figures.plot("questions", [confused], width=width)
    # The name and ` (P19)` fill the line; one more character is too many.
    assert [text.count("\n") for text in rows(drawn.axes[0])] == [1, 0, 0]
    monkeypatch.undo()
    drawn = figures.plot("questions", [confused], width=width)
    assert_laid_out(drawn, 2)
    for axes in drawn.axes:
        black = [line for line in axes.lines if line.get_color() == "black"]
        birth, mean = axes.get_yticks()[1:]
        assert [points(line)[0][1] for line in black] == [pytest.approx((birth + mean) / 2, abs=0.02)]
        assert black[0].get_zorder() < 1


def test_a_relation_that_nobody_knows_goes_by_its_number(confused: Path) -> None:
    found = results(confused)
    measured = found["probes"]["entity_questions"]["relations"]
    measured["P0"] = measured.pop("P20")
    (confused / "results.json").write_text(json.dumps(found))
    assert rows(figures.plot("questions", [confused]).axes[0])[0] == "P0"


def test_a_single_number_of_documents_has_one_panel(little: Path, tmp_path: Path) -> None:
    run = write_retrieval(tmp_path / "run", little, ANSWERED, probes=["entity_questions"], ks=(5,))
    (axes,) = figures.plot("questions", [run]).axes
    assert axes.get_title() == "in the first\n5 documents"
