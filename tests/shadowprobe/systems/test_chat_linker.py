"""What a chat model is sent, and how its replies are read."""

from __future__ import annotations

import json
import math
from typing import Any

import httpx
import pytest

from shadowprobe import ItemError
from shadowprobe.systems.chat_linker import BEGINNING, ChatLinker


def make_linker(**options: Any) -> ChatLinker:
    return ChatLinker("small", url="http://127.0.0.1:9/v1", **options)


def read(content: str | None, *, may_be_cut: bool = False, **more: Any) -> str:
    """The text of a reply, or the error of one that has none."""
    refusal = more.pop("refusal", None)
    body = {"choices": [{"message": {"content": content, "refusal": refusal}, **more}]}
    try:
        return make_linker().reply_of(httpx.Response(200, json=body), may_be_cut=may_be_cut)[0]
    except ItemError as error:
        return f"error: {error}"


CUT = "error: the reply was cut off (max_tokens is 512): raise it with -o max_tokens=N"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (read("Avon (river)"), "Avon (river)"),
        (read(" 1 ", finish_reason="stop"), " 1 "),
        (read(None, finish_reason="stop"), "error: the reply is empty (finish_reason 'stop')"),
        (read(" \n"), "error: the reply is empty (finish_reason None)"),
        (
            read(None, refusal="I\n cannot" + "x" * 100),
            f"error: the reply is empty (the model refuses: {('I cannot' + 'x' * 100)[:BEGINNING]!r})",
        ),
        (read("Avon (ri", finish_reason="length"), CUT),
        (read("Avon (ri", finish_reason="length", may_be_cut=True), "Avon (ri"),
        # Nothing is left that could be read.
        (read("", finish_reason="length", may_be_cut=True), CUT),
    ],
)
def test_a_reply_is_its_text_or_an_error_that_says_why_there_is_none(reply: str, text: str) -> None:
    assert reply == text


def test_an_endpoint_without_a_reply_is_an_error() -> None:
    with pytest.raises(ItemError, match="the endpoint sent no reply: `choices` is empty"):
        make_linker().reply_of(httpx.Response(200, json={"choices": []}))


def sent(linker: ChatLinker, **wanted: Any) -> dict[str, Any]:
    request = linker.make_request("Who?", **wanted)
    assert (request.method, request.url) == ("POST", "http://127.0.0.1:9/v1/chat/completions")
    body: dict[str, Any] = json.loads(json.dumps(request.json))
    return body


def test_what_is_not_set_is_not_sent() -> None:
    messages = [{"role": "user", "content": "Who?"}]
    usual = {"model": "small", "messages": messages, "temperature": 0.0, "seed": 0, "max_tokens": 512}
    assert sent(make_linker()) == usual
    assert sent(make_linker(), logprobs=True) == {**usual, "logprobs": True}
    unset = make_linker(temperature=None, seed=None, max_tokens=None)
    assert sent(unset) == {"model": "small", "messages": messages}
    # The wrapper says how long a reply is.
    assert "max_tokens" not in sent(make_linker(max_tokens="auto"))


def test_a_reply_has_120_seconds() -> None:
    assert make_linker().timeout == 120


@pytest.mark.parametrize(
    "options",
    [{"max_tokens": 0}, {"temperature": -0.1}, {"temperature": math.inf}, {"temperature": math.nan}],
)
def test_limits_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"max_tokens must be at least 1|temperature must be a number not below 0"):
        make_linker(**options)


def test_the_least_limits_are_allowed() -> None:
    least = make_linker(max_tokens=1, temperature=0.0)
    assert (least.max_tokens, least.temperature, least.longest_reply) == (1, 0.0, 1)
    assert make_linker(max_tokens=None).longest_reply is None
