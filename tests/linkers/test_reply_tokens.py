"""The tokens of a reply and their probabilities, at the edges of what servers send."""

from __future__ import annotations

import json
import math
from importlib import import_module
from typing import Any

import msgspec
import pytest

tokens: Any = import_module("shadowprobe.linkers._shared.reply_tokens")
ReplyValue: Any = import_module("shadowprobe.linkers._shared.prompts").ReplyValue
Token = tokens.Token


def test_a_token_is_known_by_its_bytes_or_else_by_its_text() -> None:
    assert Token("�", -0.1, octets=[0xC3]).raw == b"\xc3"
    assert Token("ö", -0.1).raw == b"\xc3\xb6"
    # Both halves of the letter belong to the value, and nothing beside it.
    reply = [Token('"', 0.0), Token("�", -0.1, octets=[0xC3]), Token("�", -0.2, octets=[0xB6]), Token('"', 0.0)]
    assert tokens.find_tokens(ReplyValue("ö", 1, 2), '"ö"', reply) == reply[1:3]


@pytest.mark.parametrize(("logprob", "is_valid"), [(0.001, True), (0.0011, False), (-1e100, True), (-1e101, False)])
def test_a_log_probability_is_hardly_above_0(logprob: float, is_valid: bool) -> None:
    sent = msgspec.Raw(json.dumps({"content": [{"token": "1", "logprob": logprob}]}).encode())
    assert [token.logprob for token in tokens.decode_tokens(sent)] == ([logprob] if is_valid else [])


def test_a_number_that_is_never_chosen_has_no_probability() -> None:
    others = [Token("2", -1e100), Token(" 1", math.log(0.25)), Token("x", -1.0), Token("12", -1.0)]
    # The same number in two tokens.
    assert tokens.read_probabilities(Token("1", math.log(0.5), top_logprobs=others)) == {1: 0.75}


def test_a_probability_has_six_digits_and_is_at_most_1() -> None:
    assert tokens.compute_probability(math.log(0.12345678)) == 0.123457
    assert tokens.compute_probability(0.001) == 1.0
