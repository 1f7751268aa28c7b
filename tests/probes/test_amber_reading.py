"""AmbER sets read end to end: what is asked, and what is counted."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from reading_world import CLAIMS, QUESTIONS, query
from retrieval_world import amber_set, entity, write_sets

from shadowprobe import InputError
from shadowprobe.retrieval import ReaderAnswer

amber_reading: Any = import_module("shadowprobe.probes.amber_reading")
SAID = {"a1": "the Naseby.", "a2": "Genoa", "b1": "Western Cape river", "b2": "by Anna Lindgren", "d1": "Yorkshire"}


@pytest.fixture
def probe(tmp_path: Path) -> Any:
    write_sets(tmp_path / "human/qa/amber_sets.jsonl", QUESTIONS)
    write_sets(tmp_path / "nonhuman/fc/amber_sets.jsonl", CLAIMS)
    made = amber_reading.AmberReadingProbe()
    made.load(tmp_path)
    return made


def answers(said: dict[str, str], found: bool | None = None) -> dict[str, ReaderAnswer]:
    return {one: ReaderAnswer(one, text, found) for one, text in said.items()}


def test_a_claim_has_labels_and_everything_else_free_answers(probe: Any) -> None:
    queries = {one.id: one for one in probe.queries()}
    assert (queries["f1"].task, queries["f1"].labels) == ("fc", ("SUPPORTS", "REFUTES"))
    assert (queries["a1"].task, queries["a1"].labels) == ("qa", ())
    assert queries["a1"].answers == ("near Naseby", "Naseby")
    assert queries["a1"].gold == {"avon-river"}
    assert queries["a1"].name == "Avon"


def test_every_query_has_a_row_with_its_scores(probe: Any) -> None:
    rows = {row["id"]: row for row in probe.rows(answers(SAID, True))}
    assert rows["a1"] == {
        "id": "a1",
        "set": 0,
        "collection": "human",
        "task": "qa",
        "group": "head",
        "answer": "the Naseby.",
        "found": True,
        "score": 1.0,
        "exact": True,
    }
    assert rows["b2"]["score"] == pytest.approx(0.8)
    # No answer.
    assert (rows["d2"]["answer"], rows["d2"]["found"], rows["d2"]["score"], rows["d2"]["exact"]) == (
        None,
        None,
        0.0,
        False,
    )


def test_people_and_things_are_apart_and_a_label_may_be_written_in_any_case(probe: Any) -> None:
    found = probe.measure(answers({"f1": "supports.", "f2": "SUPPORTS"}))
    assert found["nonhuman"]["fc"]["score"]["all"]["rate"] == 0.5
    assert found["human"]["qa"]["score"]["all"]["rate"] == 0.0
    assert (found["nonhuman"]["fc"]["metric"], found["human"]["qa"]["metric"]) == ("accuracy", "f1")


def test_each_group_has_its_own_queries_and_scores(probe: Any) -> None:
    found = probe.measure(answers({"a1": "Naseby", "a2": "nothing at all"}))["human"]["qa"]
    # Avon, Berg and Dale have a head and a tail query each.
    assert found["queries"] == {"all": 6, "head": 3, "tail": 3}
    # Only a1 is right, and it is a head query.
    assert found["exact_match"]["head"]["rate"] == pytest.approx(1 / 3)
    assert found["exact_match"]["tail"]["rate"] == 0.0


def test_the_interval_of_one_set_alone_says_nothing(probe: Any) -> None:
    probe.keep(("qa",), 1)
    found = probe.measure(answers(SAID))
    assert list(found) == ["human"]
    assert found["human"]["qa"]["score"]["all"] == {"n": 2, "rate": 0.5, "ci95": [0.0, 1.0]}


def test_head_is_answered_better_where_the_interval_excludes_0(tmp_path: Path) -> None:
    sets = [
        amber_set(
            f"Name {n}",
            entity([query(f"h{n}", "Who?", ["one"], f"head-{n}")], f"head-{n}", head=True),
            entity([query(f"t{n}", "Who?", ["one"], f"tail-{n}")], f"tail-{n}"),
        )
        for n in range(20)
    ]
    probe = amber_reading.AmberReadingProbe()
    # Folders of other names: neither the collection nor the task is known, and queries are questions.
    probe.load(write_sets(tmp_path / "amber_sets.jsonl", sets))
    said = {**{f"h{n}": "one" for n in range(20)}, **{f"t{n}": "two" for n in range(20)}}
    assert probe.measure(answers(said))["sets"]["queries"]["verdict"] == "head"
    swapped = {**{f"h{n}": "two" for n in range(20)}, **{f"t{n}": "one" for n in range(20)}}
    assert probe.measure(answers(swapped))["sets"]["queries"]["verdict"] == "tail"


def test_an_answer_may_be_a_text_and_must_not_be_blank(tmp_path: Path) -> None:
    sets = [
        amber_set(
            "A",
            entity(
                [{**query("x", "Who?", [], "d"), "output": {"answer": " ", "provenance": [{"wikipedia_id": "d"}]}}],
                "d",
                head=True,
            ),
        )
    ]
    path = write_sets(tmp_path / "amber_sets.jsonl", sets)
    with pytest.raises(InputError, match="the query 'x' has no right answer"):
        amber_reading.AmberReadingProbe().load(path)
