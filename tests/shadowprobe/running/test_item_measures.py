"""What is compared between runs of each kind: one yes or no for every item, in the same order in all runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from finished_runs import finished_run
from measured_runs import READ, SAID, write_answers, write_questions_about_namesakes, write_retrieval
from reading_world import write_reading_world
from retrieval_world import FOUND, write_collection

from shadowprobe import Answers, Dataset
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.item_measures import Measure, is_among, measure_runs
from shadowprobe.running.linking import measure_answers
from shadowprobe.running.reading import ReadingSettings, make_reading_job


def hits(measure: Measure) -> str:
    """The items as letters: `x` where the measure holds."""
    return "".join("x" if holds else "." for holds in measure.holds)


def linker_run(answers: Answers, label: str = "hand") -> FinishedRun:
    system = {"name": label, "version": "", "options": {}}
    return finished_run(label, measure_answers(answers, [], linker=system), answers)


def test_a_linker_is_right_or_wrong_on_each_snippet_and_each_name(answers: Answers) -> None:
    measures = measure_runs([linker_run(answers)])["hand"]
    # In the order Avon, Berg, Como, Dale; see `hand_predictions`.
    assert {name: (hits(one), one.unit, one.is_fault) for name, one in measures.items()} == {
        "shadow": (".xx.", "snippets", False),
        "top": ("xx..", "snippets", False),
        "tail": ("x", "snippets", False),
        "overshadowed": ("x.x.", "names", True),
        "prior_bias": ("x...", "names", True),
        "both_right": (".x..", "names", False),
    }
    assert [measures[name].group_unit for name in ("shadow", "top", "overshadowed")] == ["names", "names", ""]
    assert measures["both_right"].groups is None


def test_without_a_prior_there_is_no_bias_to_it(world: Dataset) -> None:
    measures = measure_runs([linker_run(Answers(world).fill([]))])["hand"]
    assert list(measures) == ["shadow", "top", "tail", "overshadowed", "both_right"]


def test_a_rank_is_among_the_first_k_up_to_k() -> None:
    rows: list[dict[str, Any]] = [{"rank": None}, {"rank": 1}, {"rank": 2}, {"rank": 3}]
    assert is_among(rows, 2).tolist() == [False, True, True, False]
    assert is_among([], 1).dtype == np.bool_


def test_retrievers_are_compared_at_the_numbers_of_documents_that_all_have(tmp_path: Path) -> None:
    write_collection(tmp_path / "little")
    first = write_retrieval(tmp_path / "first", tmp_path / "little", FOUND, ks=(1, 2))
    second = write_retrieval(tmp_path / "second", tmp_path / "little", READ, ks=(2, 1, 3), probes=("amber",))
    measures = measure_runs(read_runs([first, second]), str(tmp_path / "little"))
    # Questions are asked in one run only. Head: a1 b1 c1 d1; tail: a2 a3 b2 c2 d2.
    assert {name: hits(one) for name, one in measures["first"].items()} == {
        "human/qa/head@1": "x.x.",
        "human/qa/tail@1": "..x..",
        "human/qa/head@2": "xxx.",
        # Two passages of one article count once, so that the ship is second for a3 too.
        "human/qa/tail@2": "xxx..",
    }
    assert {name: hits(one) for name, one in measures["second"].items()} == {
        "human/qa/head@1": ".xxx",
        "human/qa/tail@1": "xxxx.",
        "human/qa/head@2": "xxxx",
        "human/qa/tail@2": "xxxx.",
    }
    tail = measures["first"]["human/qa/tail@1"]
    assert tail.groups is not None
    # a2 and a3 are of one set.
    assert np.unique(tail.groups, return_counts=True)[1].tolist() == [2, 1, 1, 1]
    assert (tail.unit, tail.group_unit) == ("queries", "sets")


def test_questions_are_right_if_a_document_has_an_answer(tmp_path: Path) -> None:
    write_collection(tmp_path / "little")
    found = {"P19-0": ("avon-river-1",), "P19-1": ("berg-song", "berg-river")}
    run = write_retrieval(tmp_path / "first", tmp_path / "little", found, probes=("entity_questions",))
    measures = measure_runs(read_runs([run]), str(tmp_path / "little"))["first"]
    # P19-2 and P20-0 have no ranking.
    assert {name: (hits(one), one.unit) for name, one in measures.items()} == {
        "questions@1": ("x...", "questions"),
        "questions@2": ("xx..", "questions"),
    }


def test_readers_are_compared_on_the_probes_that_all_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_reading_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    for out, documents in (("right", "oracle"), ("given", "found")):
        settings = ReadingSettings("little" if out == "right" else None)
        make_reading_job("mine.py:Told", documents, settings, k=2, out=Path(out)).run()
    given = measure_runs(read_runs([Path("given")], names=["given"]))["given"]
    # Of the questions P19-0 and P20-0 are exactly right.
    assert hits(given["questions"]) == "x..x"
    both = measure_runs(read_runs([Path("given"), Path("right")], names=["given", "right"]))
    # With the right documents a1 is right, with the others a2; a claim is supported by everybody.
    assert {name: hits(one) for name, one in both["right"].items()} == {
        "human/fc/head": "x",
        "human/fc/tail": ".",
        "human/qa/head": "x..",
        "human/qa/tail": "...",
    }
    assert [hits(both["given"][f"human/qa/{group}"]) for group in ("head", "tail")] == ["...", "x.."]
    assert (both["given"]["human/qa/head"].unit, both["given"]["human/qa/head"].group_unit) == ("answers", "sets")


def test_a_language_model_is_complete_or_not_on_each_set(tmp_path: Path) -> None:
    queries = write_questions_about_namesakes(tmp_path)
    run = write_answers(tmp_path / "talker", queries, SAID)
    measures = measure_runs(read_runs([run]), queries=queries)["talker"]
    # Partial, merged and complete.
    assert {name: (hits(one), one.unit) for name, one in measures.items()} == {
        "complete": ("..x", "sets"),
        "entity_answer": ("..x", "sets"),
    }
