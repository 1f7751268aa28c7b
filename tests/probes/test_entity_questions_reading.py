"""EntityQuestions read end to end: exact match against all aliases, and who lost the rest."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from retrieval_world import write_questions

from shadowprobe.retrieval import ReaderAnswer

entity_questions_reading: Any = import_module("shadowprobe.probes.entity_questions_reading")


@pytest.fixture
def probe(tmp_path: Path) -> Any:
    made = entity_questions_reading.EntityQuestionsReadingProbe()
    made.load(write_questions(tmp_path / "questions"))
    return made


def test_any_alias_is_right(probe: Any) -> None:
    said = [ReaderAnswer("P19-0", "the NASEBY!"), ReaderAnswer("P19-1", "cape"), ReaderAnswer("P20-0", "Como")]
    found = probe.measure({one.id: one for one in said})
    assert found["questions"] == 4
    assert found["relations"]["P19"]["exact_match"]["rate"] == pytest.approx(1 / 3)
    assert found["relations"]["P20"]["exact_match"]["rate"] == 0
    assert found["macro"] == pytest.approx((1 / 3 + 0) / 2)
    # 1; cape of western cape 2/3; no answer 0; como of como lake 2/3.
    assert found["micro"]["f1"]["rate"] == pytest.approx((1 + 2 / 3 + 0 + 2 / 3) / 4)
    # The answers do not say what was found.
    assert found["lost"] is None
    assert found["relations"]["P19"]["question"] == "Where was [E] born?"


def test_wrong_answers_are_lost_by_the_retriever_or_by_the_reader(probe: Any) -> None:
    said = [ReaderAnswer("P19-0", "no", False), ReaderAnswer("P19-1", "no", True), ReaderAnswer("P20-0", "no", False)]
    # An answer that is right although no document has it is lost by nobody.
    said.append(ReaderAnswer("P19-2", "Cuxhaven", False))
    lost = probe.measure({one.id: one for one in said})["lost"]
    assert (lost["by_retriever"]["rate"], lost["by_reader"]["rate"]) == (2 / 4, 1 / 4)


def test_a_limit_takes_the_first_questions_of_each_relation(probe: Any) -> None:
    probe.keep(("qa",), 1)
    assert [query.id for query in probe.queries()] == ["P19-0", "P20-0"]
    probe.keep(("fc",), None)
    assert list(probe.queries()) == []
