"""The probabilities in the reply of a decision model, and what is wrong with them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from shadowprobe import ItemError

protocols: Any = import_module("shadowprobe.linkers._shared.decision_protocols")
QUESTION = protocols.Question("q", "Which?", [protocols.Option("a", ""), protocols.Option("b", "a ship")])


def read(first: float, second: float) -> dict[str, float]:
    found: dict[str, float] = protocols.read_probabilities(
        QUESTION, protocols.Answer(probabilities={"a": first, "b": second})
    )
    return found


def test_rounded_probabilities_are_made_to_add_up_to_1() -> None:
    assert read(1.0, 0.0) == {"a": 1.0, "b": 0.0}
    assert read(0.5, 0.46) == {"a": pytest.approx(0.5 / 0.96), "b": pytest.approx(0.46 / 0.96)}
    assert read(0.54, 0.5) == {"a": pytest.approx(0.54 / 1.04), "b": pytest.approx(0.5 / 1.04)}


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        (1.04, 0.0, "the probability of the option 'a' is 1.04"),
        (1.0, -0.01, "the probability of the option 'b' is -0.01"),
        (float("nan"), 1.0, "the probability of the option 'a' is nan"),
        (0.5, 0.44, "the probabilities of the options add up to 0.94 and not to 1"),
        (0.56, 0.5, "the probabilities of the options add up to 1.06 and not to 1"),
    ],
)
def test_numbers_that_are_no_probabilities_are_refused(first: float, second: float, problem: str) -> None:
    with pytest.raises(ItemError) as refused:
        read(first, second)
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (None, "the reply has no answer to the question `q`"),
        (protocols.Answer(type="refusal"), "the model refuses to answer"),
        (protocols.Answer(type="text"), "the answer is of the type 'text' and not `choice`"),
        (protocols.Answer(), "the answer has no probabilities"),
        (protocols.Answer(probabilities={"a": 1.0}), "the answer has no probability for the option 'b'"),
        (
            protocols.Answer(probabilities=[{"value": "a", "probability": 1.0}, {"value": True, "probability": 0.0}]),
            "the answer has no probability for the option 'b'",
        ),
    ],
)
def test_an_answer_without_probabilities_says_why(answer: Any, problem: str) -> None:
    with pytest.raises(ItemError) as refused:
        protocols.read_probabilities(QUESTION, answer)
    assert str(refused.value) == problem


def test_answers_without_names_are_known_by_their_place_if_none_is_missing() -> None:
    other = protocols.Question("r", "Which?", QUESTION.options)
    listed = '{"probabilities": [{"value": "a", "probability": %s}, {"value": "b", "probability": %s}]}'
    content = f'{{"answers": [{listed % (1, 0)}, {listed % (0, 1)}]}}'.encode()
    openai = protocols.PROTOCOLS["openai"]
    assert openai.read_answers(content, [QUESTION, other]) == [{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}]
    with pytest.raises(ItemError, match="the reply has no answer to the question `q`"):
        openai.read_answers(content, [QUESTION])
