"""What all tasks share: batches of replies, and cards of other runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from retrieval_world import write_collection

from shadowprobe import Failure, InputError, LinkerError, UsageError
from shadowprobe.running.retrieving import RetrievingTask
from shadowprobe.running.task import Batch


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RetrievingTask:
    """A task without a system."""
    monkeypatch.chdir(tmp_path)
    write_collection(Path("little"))
    made = RetrievingTask("little")
    made.system = {"name": "told"}
    return made


def test_replies_are_answers_or_failures() -> None:
    failure = Failure("b", "no")
    assert Batch.divide(["a", failure, "c"]) == (["a", "c"], [failure], 3, 1)
    assert Batch.divide([]) == ([], [], 0, 0)


def test_questions_are_asked_some_at_a_time_and_each_once(task: RetrievingTask) -> None:
    seen: list[list[str]] = []

    def ask(questions: Sequence[str]) -> Iterator[str]:
        seen.append(list(questions))
        yield from (question.upper() for question in questions)

    batches = list(task.ask_in_batches(list("abcde"), 2, ask))
    assert seen == [["a", "b"], ["c", "d"], ["e"]]
    assert [batch.answers for batch in batches] == [["A", "B"], ["C", "D"], ["E"]]
    assert list(task.ask_in_batches([], 2, ask)) == []


def test_an_error_while_replies_are_read_names_the_system(task: RetrievingTask) -> None:
    def ask(questions: Sequence[str]) -> Iterator[str]:
        yield "A"
        raise ValueError("too hard")

    with pytest.raises(LinkerError, match=r"retriever `told` failed: ValueError: too hard.* \(--debug shows where\)$"):
        list(task.ask_in_batches(["a", "b"], 2, ask))


def test_a_task_of_stored_answers_has_no_notes_and_no_status(task: RetrievingTask) -> None:
    assert (task.notes, task.status, list(task.further_tasks())) == ([], "", [])


def write_card(**entries: object) -> Path:
    Path("run").mkdir(exist_ok=True)
    Path("run/run.json").write_text(json.dumps(entries))
    return Path("run/rankings.jsonl")


def test_the_card_of_answers_must_be_of_the_same_kind_and_the_same_data(task: RetrievingTask) -> None:
    system = {"name": "told", "options": {}}
    digest = task.collection.digest
    good = write_card(retriever=system, collection={"name": "little", "digest": digest})
    assert task.read_card(good) is not None
    assert task.read_card(Path("other.jsonl")) is None
    for entries in ({"name": "big", "digest": "0" * 64}, None):
        path = write_card(retriever=system, collection=entries)
        with pytest.raises(InputError) as refused:
            task.read_card(path)
        described = "`big` (000000000000...)" if entries is not None else "`None` (None...)"
        assert str(refused.value).startswith(f"run/run.json: field `collection`: the run is over {described}, and the ")
        assert str(refused.value).endswith(f"is `little` ({digest[:12]}...); --collection names what it is over")
    path = write_card(reader=system, collection={"name": "little", "digest": digest})
    words = r"^run is a run of a reader: `shadowprobe read --predictions run` scores it$"
    with pytest.raises(UsageError, match=words):
        task.read_card(path)
