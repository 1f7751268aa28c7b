"""A chat model behind an endpoint that answers in the shapes of vLLM, llama.cpp and Ollama, and how it is asked."""

from __future__ import annotations

import math
import re
from typing import Any, Literal

import pytest
from asking import answers_of, error_for, marked
from service import Asked, Behaviour, Reply, Service
from wire import as_json
from world import NAMES, shadow, top

from shadowprobe import (
    Candidate,
    Dataset,
    Entity,
    EntitySpace,
    Failure,
    Knowledge,
    Linker,
    LinkerError,
    Prediction,
    Snippet,
)
from shadowprobe.plugins import make_linker

LLM = "shadowprobe.linkers.llm:LlmLinker"
Kind = Literal["vllm", "llama.cpp", "ollama"]
TAGGED = re.compile(r"between <(\w+)> and </\1>\.\n\nText:\n(.*?)<\1>(.*?)</\1>(.*?)\n\n(?:Choices|Answer)", re.DOTALL)
LINE = re.compile(r"^([0-9]+)\. (.*?)(?:: .*)?$", re.MULTILINE)
Piece = tuple[str | bytes, float, list[tuple[str, float]]]
AVON = marked("Why not [Avon]?")
RIVER = Prediction(
    "marked",
    answer="Avon (river)",
    score=0.8125,
    candidates=(Candidate("Avon (river)", score=0.8125), Candidate("Avon (ship)", score=0.125)),
)
SHIP = Prediction(
    "marked",
    answer="Avon (ship)",
    score=0.8125,
    candidates=(Candidate("Avon (ship)", score=0.8125), Candidate("Avon (river)", score=0.125)),
)


class Chat:
    """A model that knows ships by their crew; sure of its answer with 3/4, and with 1/16 more after a space."""

    def __init__(self, kind: Kind = "vllm", root: str = "/v1", token: str = "") -> None:
        self.kind, self.root, self.token = kind, root, token
        self.model = "small"
        self.gives_logprobs = True
        self.thinks = ""

    def __call__(self, _: int, asked: Asked) -> Reply:
        if (asked.method, asked.path) != ("POST", f"{self.root}/chat/completions"):
            return as_json(404, {"detail": "Not Found"})
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return as_json(401, {"error": {"message": "Unauthorized"}})
        if asked.json["model"] != self.model and self.kind != "llama.cpp":
            return as_json(404, {"error": {"message": f"The model `{asked.json['model']}` does not exist."}})
        ((_, before, name, after),) = TAGGED.findall(asked.json["messages"][0]["content"])
        at_sea = "crew" in before.rpartition(".")[2] + after.partition(".")[0]
        meant = (shadow(name) if at_sea else top(name)) if name in NAMES else name
        choices = {title: int(number) for number, title in LINE.findall(asked.json["messages"][0]["content"])}
        if choices:
            number = choices.get(meant, 0)
            other = next((n for n in choices.values() if n not in {0, number}), 9)
            rivals = [(str(number), 0.75), (str(other), 0.125), (f" {number}", 0.0625), ("0", 0.03125), ("no", 0.01)]
            pieces: list[Piece] = [('{"', 1.0, []), ("answer", 1.0, []), ('": ', 1.0, []), (str(number), 0.75, rivals)]
        else:
            pieces = [('{"title": "', 1.0, []), (meant[:2], 0.5, []), (meant[2:], 0.125, []), ('"', 1.0, [])]
        return self.reply([*pieces, ("}", 1.0, [])])

    def reply(self, pieces: list[Piece], **choice: Any) -> Reply:
        """A reply of these tokens."""
        content = b"".join(raw(text) for text, _, _ in pieces).decode()
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if self.thinks:
            # All three keep the thought apart from the reply; among the tokens of vLLM it is still there.
            message["reasoning_content" if self.kind != "ollama" else "reasoning"] = self.thinks
            if self.kind == "vllm":
                pieces = [(self.thinks, 0.5, []), *pieces]
        if self.kind == "llama.cpp":
            pieces = [*pieces, ("", 1.0, [])]
        whole = {"index": 0, "message": message, "finish_reason": "stop", **choice}
        if self.gives_logprobs:
            whole["logprobs"] = {"content": [self.entry(*piece) for piece in pieces]}
        return as_json(200, {"id": "chatcmpl-1", "object": "chat.completion", "choices": [whole]})

    def entry(self, text: str | bytes, probability: float, rivals: list[tuple[str, float]]) -> dict[str, Any]:
        """A token with those that could have stood in its place."""
        shown = raw(text).decode("utf-8", "replace")
        entry: dict[str, Any] = {"token": shown, "logprob": math.log(probability), "bytes": list(raw(text))}
        if self.kind == "llama.cpp":
            entry["id"] = 17
        return entry | {"top_logprobs": [self.entry(other, chance, []) for other, chance in rivals]}


def raw(text: str | bytes) -> bytes:
    """The bytes of a token, which may be half a character."""
    return text if isinstance(text, bytes) else text.encode()


def saying(content: str | None, finish_reason: str = "stop", **message: Any) -> Behaviour:
    """An endpoint that gives every prompt the same reply."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}}
    return lambda *_: as_json(200, {"choices": [choice | {"finish_reason": finish_reason, "logprobs": None}]})


def v1(service: Service) -> str:
    """The address of the stand-in as a user gives it."""
    return service.url.replace("/api", "/v1")


def wrapper(url: str, **options: str) -> Linker:
    """The linker for the stand-in's model."""
    return make_linker(LLM, {"url": url, "model": "small", **options})


def ask(service: Service, world: Dataset, *snippets: Snippet, **options: str) -> list[Prediction | Failure]:
    """What the model says of a few snippets."""
    return answers_of(wrapper(v1(service), **options), world.knowledge, *snippets)


def error_of(service: Service, world: Dataset, **options: str) -> str:
    """The failure on one snippet."""
    return error_for(wrapper(v1(service), **options), world.knowledge, AVON)


def stop_of(service: Service, world: Dataset, **options: str) -> str:
    """The one line that stops a run."""
    with pytest.raises(LinkerError) as caught:
        ask(service, world, AVON, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def number_of(service: Service, world: Dataset, title: str) -> int:
    """The number that a title has among the choices shown for AVON."""
    prompt = wrapper_open(v1(service), world).outgoing(AVON)
    return {shown: int(number) for number, shown in LINE.findall(prompt)}[title]


def wrapper_open(url: str, world: Dataset, **options: str) -> Linker:
    """A linker that knows the world, for what it would send; nothing is sent."""
    linker = wrapper(url, **options)
    linker.knowledge, linker.notes = world.knowledge, []
    return linker


def dozen() -> Knowledge:
    """A name with twelve entities, the first the most common."""
    titles = [f"Avon {chr(ord('A') + number)}" for number in range(12)]
    entities = {title: Entity(title, description="One of many.") for title in titles}
    return Knowledge(entities, [EntitySpace("Avon", tuple(titles))])
