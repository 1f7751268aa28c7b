"""The tokens of a chat model's reply, and the probabilities of what they say."""

from __future__ import annotations

import math
import re
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, field

from .prompts import ReplyValue

# Characters that may be in the same token as a number, in JSON.
AROUND = " \t\r\n\"'{}:,"

# The limits of a log-probability: rounding may make it slightly larger than 0, and some servers use a very low number
# for "never".
LEAST, SLACK = -1e100, 1e-3


class Token(Struct):
    """A token and its log-probability; a token may be part of a character, which only its bytes show."""

    token: str
    logprob: Annotated[float, Meta(ge=LEAST, le=SLACK)]
    octets: list[Annotated[int, Meta(ge=0, le=255)]] | None = field(name="bytes", default=None)
    top_logprobs: list[Token] | None = None

    @property
    def raw(self) -> bytes:
        """The bytes that it adds to the reply."""
        return bytes(self.octets) if self.octets is not None else self.token.encode("utf-8", "replace")


class Logprobs(Struct):
    """The tokens of a reply."""

    content: list[Token] | None = None


def decode_tokens(logprobs: msgspec.Raw) -> list[Token]:
    """Returns the tokens of a reply with their log-probabilities; none if they are missing or invalid."""
    try:
        decoded = msgspec.json.decode(logprobs, type=Logprobs | None)
    except (msgspec.DecodeError, ValueError):
        return []
    return (decoded.content or []) if decoded is not None else []


def find_tokens(value: ReplyValue, reply: str, tokens: list[Token]) -> list[Token]:
    """Returns the tokens of a value in a reply."""
    whole = b"".join(token.raw for token in tokens)
    # The tokens may contain more than the reply: the reasoning before it, and an end mark.
    begin = whole.rfind(reply.encode())
    if begin < 0:
        return []
    start, end = (begin + len(reply[:place].encode()) for place in (value.start, value.end))
    inside, place = [], 0
    for token in tokens:
        if place < end and place + len(token.raw) > start:
            inside.append(token)
        place += len(token.raw)
    return inside


def read_probabilities(token: Token) -> dict[int, float]:
    """Returns the probability of each number at the position of a token."""
    alternatives = {other.raw: other for other in [*(token.top_logprobs or []), token]}
    by_number: dict[int, list[float]] = {}
    for raw, other in alternatives.items():
        text = raw.decode("utf-8", "replace").strip(AROUND)
        if re.fullmatch("[0-9]", text):
            by_number.setdefault(int(text), []).append(math.exp(other.logprob))
    totals = {number: math.fsum(parts) for number, parts in by_number.items()}
    return {number: compute_probability(math.log(total)) for number, total in totals.items() if total > 0}


def compute_probability(logprob: float) -> float:
    """Returns a probability without the digits that depend on the server's other work."""
    return round(min(1.0, math.exp(logprob)), 6)
