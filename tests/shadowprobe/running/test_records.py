"""The answers of a run as plain records, for each kind of run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from finished_runs import finished_run
from measured_runs import SAID
from namesake_sets import write_sets
from retrieval_world import FOUND, write_collection
from world import hand_predictions, shadow, top

from shadowprobe import Answers, Dataset
from shadowprobe.base.jsonl import encode_lines
from shadowprobe.queries.query import Ranking
from shadowprobe.running.answering import AnsweringTask
from shadowprobe.running.finished import FinishedRun, read_runs
from shadowprobe.running.linking import measure_answers
from shadowprobe.running.records import list_records, make_summary
from shadowprobe.running.retrieving import RetrievalSettings, RetrievingTask
from shadowprobe.running.stored import score_stored
from shadowprobe.running.task import Task


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def score(task: Task, answers: bytes) -> FinishedRun:
    Path("stored.jsonl").write_bytes(answers)
    (run,) = read_runs([score_stored(task, Path("stored.jsonl"), out=Path("run")).out])
    return run


def test_every_mention_has_its_answer_its_prior_and_its_outcome(world: Dataset) -> None:
    # The last prediction is left out, so that tail1 has none.
    answers = Answers(world).fill(hand_predictions()[:-1])
    system = {"name": "hand", "version": "", "options": {}}
    run = finished_run("hand", measure_answers(answers, [], linker=system), answers)
    records = {record["id"]: record for record in list_records(run)}
    assert list(records) == [snippet.id for snippet in world.snippets()]
    avon = records["sAvon"]
    assert (avon["subset"], avon["name"], avon["mention"], avon["start"], avon["end"]) == (
        "shadow",
        "Avon",
        "Avon",
        12,
        16,
    )
    assert (avon["gold"], avon["answer"], avon["prior"]) == (shadow("Avon"), top("Avon"), top("Avon"))
    assert (avon["score"], avon["status"], avon["correct"]) == (0.8, "linked", False)
    assert avon["text"].startswith("The crew of Avon")
    statuses = {name: (records[name]["status"], records[name]["answer"]) for name in ("tDale", "sDale", "tail1")}
    assert statuses == {"tDale": ("nil", None), "sDale": ("skipped", None), "tail1": ("missing", None)}
    assert records["tDale"]["score"] is None
    # Dale's prior is the ship, by its score; a name of Tail has none, and a neutral context no right answer.
    assert [records[name]["prior"] for name in ("tDale", "tail1")] == [shadow("Dale"), None]
    assert [records[name]["correct"] for name in ("tBerg", "tDale", "nBerg1")] == [True, False, None]


def test_every_query_has_the_rank_of_its_document() -> None:
    write_collection(Path("little"))
    lines = encode_lines(
        Ranking(one, documents) for one, documents in {**FOUND, "P19-1": ("berg-song", "berg-river")}.items()
    )
    run = score(RetrievingTask("little", settings=RetrievalSettings(ks=(1, 2))), lines)
    ranks = {(record["probe"], record["id"]): record["rank"] for record in list_records(run)}
    assert len(ranks) == 9 + 4
    assert [ranks["amber", one] for one in ("a1", "a2", "c2", "d1")] == [1, 2, 4, None]
    assert [ranks["entity_questions", one] for one in ("P19-0", "P19-1")] == [None, 2]


def test_every_question_has_the_kind_of_its_answer() -> None:
    write_sets(Path("sets.json"))
    lines = encode_lines({"id": one, "answer": text} for one, text in SAID.items())
    run = score(AnsweringTask("sets.json"), lines)
    kinds = {record["id"]: record["category"] for record in list_records(run)}
    assert kinds == {"avon": "partial", "berg": "merged", "como": "complete"}
    summary = make_summary(run)
    assert (summary["kind"], summary["system"], summary["data"], summary["path"]) == ("model", "stored", "sets", "run")
    # One set of three is complete, and one is merged.
    assert (summary["complete"], summary["merged"]) == (1 / 3, 1 / 3)
    assert summary["complete_low"] < 1 / 3 < summary["complete_high"]
    assert not math.isnan(summary["answer_recall"])
    assert summary["verdict"] is None
