"""A decision model behind an endpoint that answers in either protocol, and how it is asked."""

from __future__ import annotations

import re
from typing import Any

from asking import answers_of, error_for
from service import Asked, Behaviour, Reply, Service
from wire import as_json
from world import NAMES, shadow, top

from shadowprobe import Dataset, Failure, Linker, Prediction, Snippet
from shadowprobe.plugins import make_linker

DECISIONS = "shadowprobe.linkers.decisions:DecisionsLinker"
TAGGED = re.compile(r"(.*)<mention>(.*)</mention>(.*)", re.DOTALL)
NIL = "None of these"
Probabilities = dict[str, float]


class Decider:
    """A model that knows ships by their crew: 3/4 for what it means, and the rest in equal parts for the others."""

    def __init__(self, protocol: str = "systemone", root: str = "/v1", token: str = "") -> None:
        self.protocol, self.root, self.token = protocol, root, token

    def __call__(self, _: int, asked: Asked) -> Reply:
        path = "systemone" if self.protocol == "systemone" else "decisions"
        if (asked.method, asked.path) != ("POST", f"{self.root}/{path}"):
            return as_json(404, {"detail": "Not Found"})
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return as_json(401, {"detail": "Unauthorized"})
        text = asked.json["state" if self.protocol == "systemone" else "input"]
        return answer_with(self.protocol, asked, lambda options: self.decide(text, options))

    def decide(self, text: str, options: list[str]) -> Probabilities:
        """The probability of each option, which come in the order in which they are shown."""
        ((before, name, after),) = TAGGED.findall(text)
        at_sea = "crew" in before.rpartition(".")[2] + after.partition(".")[0]
        meant = (shadow(name) if at_sea else top(name)) if name in NAMES else name
        meant = meant if meant in options else NIL
        return {option: 0.75 if option == meant else 0.25 / (len(options) - 1) for option in options}


def options_of(protocol: str, asked: Asked) -> dict[str, list[str]]:
    """The options of each question in the order in which they are shown."""
    questions = asked.json["questions"]
    if protocol == "systemone":
        return {name: list(question["criteria"]) for name, question in questions.items()}
    return {question["name"]: [choice["value"] for choice in question["choices"]] for question in questions}


def answer_with(protocol: str, asked: Asked, decide: Any, **more: Any) -> Reply:
    """The reply with these probabilities for every question."""
    answers: dict[str, dict[str, Any]] = {}
    for name, options in options_of(protocol, asked).items():
        found: Probabilities = decide(options)
        best = max(found, key=lambda option: found[option], default=None)
        answers[name] = {"type": "choice", "choice": best, "confidence": 0.5, "probabilities": found} | more
    if protocol == "systemone":
        return as_json(200, {"model": "small", "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 0}})
    for name, answer in answers.items():
        answer["name"] = name
        answer["probabilities"] = [{"value": key, "probability": p} for key, p in answer["probabilities"].items()]
    return as_json(200, {"model": "small", "answers": list(answers.values()), "usage": {}})


def deciding(protocol: str, decide: Any, **more: Any) -> Behaviour:
    """An endpoint that decides every question by its options alone."""
    return lambda _, asked: answer_with(protocol, asked, decide, **more)


def wrapper(service: Service, **options: str) -> Linker:
    """The linker for the stand-in's model."""
    return make_linker(DECISIONS, {"url": service.url.replace("/api", "/v1"), "model": "small", **options})


def ask(service: Service, world: Dataset, *snippets: Snippet, **options: str) -> list[Prediction | Failure]:
    """What the model says of a few snippets."""
    return answers_of(wrapper(service, **options), world.knowledge, *snippets)


def error_of(service: Service, world: Dataset, snippet: Snippet, **options: str) -> str:
    """The failure on one snippet."""
    return error_for(wrapper(service, **options), world.knowledge, snippet)
