"""The base class of wrappers that ask a chat model behind an endpoint that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Struct

from shadowprobe.errors import ItemError, LinkerError
from shadowprobe.systems.service_client import Request
from shadowprobe.systems.web_linker import WebLinker

if TYPE_CHECKING:
    import httpx

# How much of a complaint, and of a refusal, a message repeats.
SHOWN, BEGINNING = 200, 80
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


class Completion(Struct):
    """What the endpoint sends back; whatever else stands in it is not read."""

    choices: list[Choice]


class ChatLinker(WebLinker):
    """A chat model: a wrapper sends a prompt by `post`, and gets the model's text by `reply_of`.

    The prompt is one user message, for templates without a system role. `seed`, `temperature` and `max_tokens` are not
    sent when `none`; some hosted models refuse one or the other. A token in SHADOWPROBE_LLM_TOKEN is sent as
    `Authorization: Bearer`; local servers want none.
    """

    name = "llm"
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
        max_tokens: int | None = 512,
        timeout: float = 120.0,
        **web: Any,
    ) -> None:
        super().__init__(timeout=timeout, **web)
        if max_tokens is not None and max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        if temperature is not None and not 0 <= temperature < math.inf:
            raise ValueError("temperature must be a number not below 0, or none")
        self.model = model
        self.temperature, self.seed, self.max_tokens = temperature, seed, max_tokens

    def post(self, prompt: str, **wanted: Any) -> Request:
        """One user message, with what else is wanted of the reply; what is not set is not sent."""
        sent: dict[str, Any] = {"model": self.model, "messages": [{"role": "user", "content": prompt}]}
        limits = {"temperature": self.temperature, "seed": self.seed, "max_tokens": self.max_tokens}
        sent |= {name: value for name, value in limits.items() if value is not None}
        token = self.optional_token
        return Request(
            "POST",
            self._address(),
            json=sent | wanted,
            headers={"Authorization": f"Bearer {token}"} if token else None,
        )

    def reply_of(self, response: httpx.Response) -> tuple[str, Choice]:
        """The text of a reply that is whole, and all that came with it."""
        completion = msgspec.json.decode(response.content, type=Completion)
        if not completion.choices:
            raise ItemError("the endpoint sent no reply: `choices` is empty")
        choice = completion.choices[0]
        if choice.finish_reason == "length":
            raise ItemError(f"the reply was cut off (max_tokens is {self.max_tokens}): raise it with -o max_tokens=N")
        reply = choice.message.content or ""
        if not reply.strip():
            refused = " ".join((choice.message.refusal or "").split())
            ended = f"finish_reason {choice.finish_reason!r}"
            raise ItemError(
                f"the reply is empty ({f'the model refuses: {refused[:BEGINNING]!r}' if refused else ended})"
            )
        return reply, choice

    def _address(self) -> str:
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/") or "/v1"
        if not path.endswith("/chat/completions"):
            path += "/chat/completions"
        return urlunsplit(parts._replace(path=path))

    def refuse(self, response: httpx.Response, problem: str) -> None:
        """Stops the run where every other prompt would be refused too, and says what to type."""
        complaint = self._complaint(response)
        if response.status_code == 404:
            raise LinkerError(
                f"{problem} ({complaint}): does the server have the model `{self.model}`?"
                " `-o url=` ends in /v1 as a rule"
            )
        if response.status_code not in {400, 422}:
            super().refuse(response, problem)
            return
        # A text that is too long for the model is the failure of its snippet, whatever fields the message names.
        if "context" not in complaint.lower():
            for fields, advice in self.advice():
                if re.search(fields, complaint):
                    raise LinkerError(f"{problem} ({complaint}): {advice}")
        raise ItemError(f"{problem} ({complaint})")

    def advice(self) -> list[tuple[str, str]]:
        """What to type when the server refuses a field; a wrapper that sends more adds its own."""
        return [
            (r"temperature", "add -o temperature=none"),
            (r"\bseed\b", "add -o seed=none"),
            (r"max_tokens", "add -o max_tokens=none"),
        ]

    def _complaint(self, response: httpx.Response) -> str:
        """What an error says: in `error.message` as a rule, in `error` with LM Studio, in `message` with old vLLM."""
        try:
            body = json.loads(response.content)
        except ValueError:
            return self.beginning_of(response)
        error = body.get("error", body) if isinstance(body, dict) else body
        message = error.get("message") if isinstance(error, dict) else error
        if not isinstance(message, str):
            return self.beginning_of(response)
        # The token goes before the cut, which could leave half of it.
        return " ".join(self.without_token(message).split())[:SHOWN]
