"""The base class of wrappers that ask a chat model behind an endpoint that speaks OpenAI's protocol."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from msgspec import Struct

from shadowprobe.errors import ItemError
from shadowprobe.systems.model_linker import ModelLinker
from shadowprobe.systems.service_client import Request

if TYPE_CHECKING:
    import httpx

# How much of a refusal a message repeats.
BEGINNING = 80
NOTHING = msgspec.Raw(b"null")


class Message(Struct):
    """What the model says; its reasoning, where the server keeps it apart, is not read."""

    content: str | None = None
    refusal: str | None = None


class Choice(Struct):
    """A reply and why it ended."""

    message: Message
    finish_reason: str | None = None
    # Read apart: an answer with log-probabilities of another shape is still an answer.
    logprobs: msgspec.Raw = NOTHING

    @property
    def is_cut(self) -> bool:
        """True if the reply ended because it had no more tokens."""
        return self.finish_reason == "length"


class Completion(Struct):
    """What the endpoint sends back; whatever else stands in it is not read."""

    choices: list[Choice]


class ChatLinker(ModelLinker):
    """A chat model: a wrapper sends a prompt by `make_request`, and gets the model's text by `reply_of`.

    The prompt is one user message, for templates without a system role. `seed`, `temperature` and `max_tokens` are not
    sent when `none`; some hosted models refuse one or the other. A token in SHADOWPROBE_LLM_TOKEN is sent as
    `Authorization: Bearer`; local servers want none.
    """

    name = "llm"
    path = "/chat/completions"
    option_help: ClassVar[dict[str, str]] = {
        "model": "the model, as the endpoint calls it",
        "temperature": "sent to the model, unless none",
        "seed": "sent to the model, unless none",
        "max_tokens": "the longest reply; not sent if none",
    }

    def __init__(
        self,
        model: str,
        temperature: float | None = 0.0,
        seed: int | None = 0,
        max_tokens: int | Literal["auto"] | None = 512,
        timeout: float = 120.0,
        **web: Any,
    ) -> None:
        super().__init__(model, timeout, **web)
        if isinstance(max_tokens, int) and max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        if temperature is not None and not 0 <= temperature < math.inf:
            raise ValueError("temperature must be a number not below 0, or none")
        self.temperature, self.seed, self.max_tokens = temperature, seed, max_tokens

    @property
    def longest_reply(self) -> int | None:
        """The number of tokens that a reply may have; None if that is not sent."""
        return self.max_tokens if isinstance(self.max_tokens, int) else None

    def make_request(self, prompt: str, **wanted: Any) -> Request:
        """One user message, with what else is wanted of the reply; what is not set is not sent."""
        limits = {"temperature": self.temperature, "seed": self.seed, "max_tokens": self.longest_reply}
        sent = {name: value for name, value in limits.items() if value is not None}
        return self.post({"messages": [{"role": "user", "content": prompt}], **sent, **wanted})

    def reply_of(self, response: httpx.Response, *, may_be_cut: bool = False) -> tuple[str, Choice]:
        """The text of a reply, and all that came with it; one that was cut off only if the wrapper can read it."""
        completion = msgspec.json.decode(response.content, type=Completion)
        if not completion.choices:
            raise ItemError("the endpoint sent no reply: `choices` is empty")
        choice = completion.choices[0]
        reply = choice.message.content or ""
        if choice.is_cut and not (may_be_cut and reply.strip()):
            raise ItemError(self.describe_cut())
        if not reply.strip():
            refused = " ".join((choice.message.refusal or "").split())
            ended = f"finish_reason {choice.finish_reason!r}"
            raise ItemError(
                f"the reply is empty ({f'the model refuses: {refused[:BEGINNING]!r}' if refused else ended})"
            )
        return reply, choice

    def describe_cut(self) -> str:
        """What is wrong with a reply that was cut off, and what to type."""
        return f"the reply was cut off (max_tokens is {self.longest_reply}): raise it with -o max_tokens=N"

    def advice(self) -> list[tuple[str, str]]:
        """What to type when the server refuses a field; a wrapper that sends more adds its own."""
        return [
            (r"temperature", "add -o temperature=none"),
            (r"\bseed\b", "add -o seed=none"),
            (r"max_tokens", "add -o max_tokens=none"),
        ]
