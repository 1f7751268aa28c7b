"""The two wire formats of decision models: what is sent, and where the probabilities are in the answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import Struct

from shadowprobe import ItemError

# Servers round probabilities, some to two digits.
SUM_ERROR = 0.05


class Option(NamedTuple):
    """An allowed answer to a question."""

    name: str
    description: str


class Question(NamedTuple):
    """A question about the text with its options in the order in which they are shown."""

    name: str
    instructions: str
    options: Sequence[Option]


class Answer(Struct):
    """The answer to a question; a server may leave out what it does not know."""

    type: str = "choice"
    name: str | None = None
    probabilities: Any = None


class NamedAnswers(Struct):
    """A reply of System One."""

    answers: dict[str, Answer]


class ListedAnswers(Struct):
    """A reply of OpenAI's Decisions API."""

    answers: list[Answer]


class ListedProbability(Struct):
    """The probability of an option there; a boolean is not one of our options, and is not the text of one."""

    value: str | bool
    probability: float


class SystemOne:
    """System One: questions by name, with the options of each as an object."""

    path: ClassVar[str] = "/systemone"

    def make_body(self, text: str, questions: Sequence[Question]) -> dict[str, Any]:
        """What is sent besides the model."""
        return {
            "state": text,
            "questions": {
                question.name: {
                    "type": "choice",
                    "instructions": question.instructions,
                    "criteria": {option.name: option.description or None for option in question.options},
                }
                for question in questions
            },
        }

    def read_answers(self, content: bytes, questions: Sequence[Question]) -> list[dict[str, float]]:
        """The probabilities of the options of each question."""
        answers = msgspec.json.decode(content, type=NamedAnswers).answers
        return [read_probabilities(question, answers.get(question.name)) for question in questions]


class OpenaiDecisions:
    """OpenAI's Decisions API: lists of questions, options, answers and probabilities."""

    path: ClassVar[str] = "/decisions"

    def make_body(self, text: str, questions: Sequence[Question]) -> dict[str, Any]:
        """What is sent besides the model."""
        return {
            "input": text,
            "questions": [
                {
                    "type": "choice",
                    "name": question.name,
                    "instructions": question.instructions,
                    "choices": [
                        {"value": option.name} | ({"description": option.description} if option.description else {})
                        for option in question.options
                    ],
                }
                for question in questions
            ],
        }

    def read_answers(self, content: bytes, questions: Sequence[Question]) -> list[dict[str, float]]:
        """The probabilities of the options of each question; an answer without a name is known by its place."""
        answers = msgspec.json.decode(content, type=ListedAnswers).answers
        by_name = {answer.name: answer for answer in answers}
        if None in by_name and len(answers) == len(questions):
            by_name = {question.name: answer for question, answer in zip(questions, answers, strict=True)}
        return [read_probabilities(question, by_name.get(question.name)) for question in questions]


PROTOCOLS: dict[str, SystemOne | OpenaiDecisions] = {"systemone": SystemOne(), "openai": OpenaiDecisions()}


def read_probabilities(question: Question, answer: Answer | None) -> dict[str, float]:
    """The probability of every option, adding up to 1; raises if the model gave no such answer."""
    if answer is None:
        raise ItemError(f"the reply has no answer to the question `{question.name}`")
    if answer.type == "refusal":
        raise ItemError("the model refuses to answer")
    if answer.type != "choice":
        raise ItemError(f"the answer is of the type {answer.type!r} and not `choice`")
    if answer.probabilities is None:
        raise ItemError("the answer has no probabilities")
    given = _collect(answer.probabilities)
    for option in question.options:
        if option.name not in given:
            raise ItemError(f"the answer has no probability for the option {option.name!r}")
        if not 0 <= given[option.name] <= 1:
            raise ItemError(f"the probability of the option {option.name!r} is {given[option.name]:g}")
    total = math.fsum(given[option.name] for option in question.options)
    if abs(total - 1) > SUM_ERROR:
        raise ItemError(f"the probabilities of the options add up to {total:.2f} and not to 1")
    return {option.name: given[option.name] / total for option in question.options}


def _collect(probabilities: Any) -> dict[str, float]:
    """The probabilities by option: they are an object in one protocol, and a list in the other."""
    if isinstance(probabilities, list):
        listed = msgspec.convert(probabilities, list[ListedProbability])
        return {each.value: each.probability for each in listed if isinstance(each.value, str)}
    return msgspec.convert(probabilities, dict[str, float])
