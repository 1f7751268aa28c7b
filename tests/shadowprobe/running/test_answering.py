"""The task of a language model: which sets it has, what tells its runs apart, and what stored runs say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from namesake_sets import AVON, BERG, COMO, SAID, write_sets

from shadowprobe import Failure, InputError, UsageError
from shadowprobe.queries.ambigdocs_sets import AmbigSet
from shadowprobe.queries.document_order import DocumentOrder
from shadowprobe.queries.examples import HeldOut
from shadowprobe.running.answering import AnsweringTask, find_held_out, read_held_out
from shadowprobe.systems.chat_answerer import Answer, Asker


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_sets(Path("sets.json"))


class Told(Asker):
    """Answers two sets at a time, and fails on Berg."""

    def ask(self, sets: Iterable[AmbigSet]) -> Iterator[list[Answer | Failure]]:
        given = [Failure(one.id, "no") if one.id == "berg" else Answer(one.id, SAID[one.question]) for one in sets]
        yield from (given[:2], given[2:])


def told(**options: Any) -> Told:
    return Told("told", url="http://localhost:1/v1", **options)


def names(sets: Iterable[AmbigSet]) -> list[str]:
    return [one.id for one in sets]


def test_a_limit_takes_the_first_sets_and_documents_the_first_of_each_set() -> None:
    task = AnsweringTask("sets.json", documents=2, limit=2)
    assert names(task.sets) == ["avon", "berg"]
    assert (task.total, task.waiting, task.name) == (2, 2, "sets")
    assert [len(one.documents) for one in AnsweringTask("sets.json", documents=2).sets] == [2, 2, 2]
    assert [len(one.documents) for one in AnsweringTask("sets.json").sets] == [2, 2, 3]
    # Answers to the others may be in its file too.
    assert list(task.known) == ["avon", "berg", "como"]
    assert task.questions["queries"]["documents"] == 2


def test_the_built_in_sets_go_by_their_name() -> None:
    assert AnsweringTask().name == "namesakes"
    with pytest.raises(UsageError, match="--queries: is empty; give a file, or `builtin`"):
        AnsweringTask("")


def test_sets_that_are_held_out_are_not_asked_about() -> None:
    task = AnsweringTask("sets.json", held_out=HeldOut(1, seed=3))
    assert sorted(names(task.sets) + names(task.held)) == ["avon", "berg", "como"]
    assert (len(task.held), task.total) == (1, 2)
    assert task.questions["queries"]["held_out"] == {"names": 1, "seed": 3}
    assert "held_out" not in AnsweringTask("sets.json").questions["queries"]


def test_answers_and_failures_come_as_the_model_gives_them() -> None:
    task = AnsweringTask("sets.json")
    task.set_asker(told())
    batches = list(task.ask())
    assert [(len(list(one.answers)), one.failures, one.asked, one.failed) for one in batches] == [
        (1, [Failure("berg", "no")], 2, 1),
        (1, [], 1, 0),
    ]
    assert task.answers == {"avon": SAID[AVON.question], "como": SAID[COMO.question]}
    assert task.waiting == 1
    assert [json.loads(line)["id"] for line in task.encode_answers(Path()).splitlines()] == ["avon", "como"]


def test_results_count_what_is_missing() -> None:
    task = AnsweringTask("sets.json", limit=2, rounds=200)
    task.set_asker(told())
    list(task.ask())
    results = task.measure(["a note"])
    assert (results["missing"], results["notes"]) == (1, ["a note"])
    assert (results["queries"]["sets"], results["queries"]["limit"]) == (2, 2)
    assert results["settings"] == {"bootstrap_rounds": 200, "bootstrap_seed": 7}
    assert list(results["probes"]) == ["ambigdocs"]


def test_examples_an_order_and_what_is_held_out_tell_runs_apart() -> None:
    task = AnsweringTask("sets.json")
    task.set_asker(told())
    assert task.chosen == {}
    task.set_asker(told(order=DocumentOrder("reversed")))
    assert task.chosen == {"order": "reversed"}
    held = AnsweringTask("sets.json", held_out=HeldOut(1))
    held.set_asker(told())
    assert held.chosen == {"held-out": 1}
    # Where there are examples, something is held out for them.
    held.set_asker(told(examples=held.make_examples(1, None, 5)))
    assert held.chosen == {"shots": 1}
    assert held.system["options"]["shots_seed"] == 5
    assert held.incidental == held.asker.incidental


def test_examples_come_from_a_file_or_from_what_is_held_out() -> None:
    task = AnsweringTask("sets.json", documents=2, held_out=HeldOut(1))
    assert names(task.make_examples(1, None, 0).sets) == names(task.held)
    assert task.make_examples(1, None, 0).source is None
    with pytest.raises(UsageError, match="--shots 2: "):
        task.make_examples(2, None, 0)
    write_sets(Path("more.json"), BERG, COMO)
    only_avon = AnsweringTask("sets.json", documents=2, limit=1)
    examples = only_avon.make_examples(2, Path("more.json"), 0)
    assert names(examples.sets) == ["berg", "como"]
    assert [len(one.documents) for one in examples.sets] == [2, 2]
    assert examples.source is not None
    assert examples.source["name"] == "more"


def write_run(**entries: Any) -> Path:
    Path("run").mkdir(exist_ok=True)
    Path("run/answers.jsonl").touch()
    queries = {"name": "sets", "digest": AnsweringTask("sets.json").digest} | entries.pop("queries", {})
    system = {"name": "told", "options": entries.pop("options", {})}
    Path("run/run.json").write_text(json.dumps({"model": system, "queries": queries}))
    return Path("run")


@pytest.mark.parametrize(
    ("options", "order"),
    [
        ({"order_seed": 3}, DocumentOrder("shuffled", 3)),
        ({"order": "given", "order_seed": 0}, DocumentOrder("given", 0)),
        # These are of another version, or were asked elsewhere: the user may say it.
        ({}, DocumentOrder("reversed", 9)),
        ({"order": "sorted", "order_seed": 0}, DocumentOrder("reversed", 9)),
        ({"order_seed": "x"}, DocumentOrder("reversed", 9)),
    ],
)
def test_a_run_says_in_which_order_its_answers_saw_the_documents(options: dict[str, Any], order: DocumentOrder) -> None:
    task = AnsweringTask("sets.json", order=DocumentOrder("reversed", 9))
    task.read_card(write_run(options=options) / "answers.jsonl")
    task.system = {"name": "told", "options": {}}
    task.measure([])
    assert [probe.order for probe in task.probes] == [order]


def test_a_run_says_what_it_held_out() -> None:
    assert find_held_out(Path("sets.json")) is None
    assert find_held_out(write_run()) is None
    run = write_run(queries={"held_out": {"names": 2, "seed": 5}})
    assert find_held_out(run) == find_held_out(run / "answers.jsonl") == HeldOut(2, 5)
    with pytest.raises(InputError, match=r"run/run\.json: field `queries\.held_out`: Expected `int` >= 1"):
        find_held_out(write_run(queries={"held_out": {"names": 0}}))
    assert read_held_out({}, Path()) is None


def test_a_torn_last_line_is_one_of_a_run_that_goes_on_and_of_no_other() -> None:
    Path("stored.jsonl").write_text('{"id": "avon", "answer": "a"}\n{"id": "berg"')
    task = AnsweringTask("sets.json")
    task.load(Path("stored.jsonl"), resumed=True)
    assert task.answers == {"avon": "a"}
    with pytest.raises(InputError, match="not valid JSON"):
        task.load(Path("stored.jsonl"))
