"""What training changed, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shadowprobe.running.finished import FinishedRun
from shadowprobe.training.evaluation import describe_amber, describe_questions


def ranks(*values: int | None) -> list[dict[str, Any]]:
    return [{"id": str(number), "rank": value} for number, value in enumerate(values)]


ROWS = {"before": ranks(1, 3, None, 2), "after": ranks(1, 1, 1, None), "bm25": ranks(1, 1, 4, 4)}


def test_each_system_has_its_accuracy_and_the_differences_are_paired() -> None:
    found = describe_questions(ROWS, ["a", "b", "c", "d"], [True] * 4, (1, 3))
    assert found is not None
    assert (found["n"], found["subjects"]) == (4, 4)
    rates = {system: [of_k["rate"] for of_k in by_k.values()] for system, by_k in found["systems"].items()}
    assert rates == {"before": [1 / 4, 3 / 4], "after": [3 / 4, 3 / 4], "bm25": [2 / 4, 2 / 4]}
    assert [found["change"][k]["difference"] for k in ("1", "3")] == [2 / 4, 0.0]
    assert [found["lead"][k]["difference"] for k in ("1", "3")] == [1 / 4, 1 / 4]
    low, high = found["change"]["1"]["ci95"]
    assert low < 0.5 <= high


def test_only_the_chosen_questions_count() -> None:
    found = describe_questions(ROWS, ["a", "b", "c", "d"], [False, True, True, False], (1,))
    assert found is not None
    assert found["change"]["1"]["difference"] == 1.0
    assert describe_questions(ROWS, ["a", "b", "c", "d"], [False] * 4, (1,)) is None


def test_questions_about_one_subject_are_drawn_together() -> None:
    apart = describe_questions(ROWS, ["a", "b", "c", "d"], [True] * 4, (1,))
    together = describe_questions(ROWS, ["a"] * 4, [True] * 4, (1,))
    assert apart is not None
    assert together is not None
    # One subject alone does not say how much subjects differ.
    assert together["change"]["1"]["ci95"] == [-1.0, 1.0]
    assert apart["change"]["1"]["ci95"] != [-1.0, 1.0]


def test_the_gap_between_head_and_tail_and_how_it_changed() -> None:
    def rows(*right: bool) -> list[dict[str, Any]]:
        """Two sets with one query about the head and one about the tail each."""
        groups = [(0, "head"), (0, "tail"), (1, "head"), (1, "tail")]
        return [
            {"collection": "human", "task": "qa", "set": number, "group": group, "rank": 1 if is_right else 2}
            for (number, group), is_right in zip(groups, right, strict=True)
        ]

    by_system = {"before": rows(True, False, True, False), "after": rows(True, True, True, False)}
    part = {"sets": 2, "accuracy": {"1": {"head": {"rate": 1.0}, "tail": {"rate": 0.0}}}, "gap": {"difference": 1.0}}
    results = {"settings": {"k": [1, 5]}, "probes": {"amber": {"human": {"qa": part}}}}
    runs = [FinishedRun(Path(), label, results) for label in by_system]
    found = describe_amber(runs, by_system)["human"]["qa"]
    assert found["k"] == 1
    assert found["systems"]["before"] == {"head": {"rate": 1.0}, "tail": {"rate": 0.0}, "gap": {"difference": 1.0}}
    # The tail of one of two sets is found now: the gap goes from 100 points to 50.
    assert found["gap_change"]["difference"] == -0.5
    assert found["gap_change"]["ci95"] == [-1.0, 0.0]
