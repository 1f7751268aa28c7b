"""How the stand-ins for services write what they answer: JSON, and places as Java counts them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from service import Asked, Behaviour, Reply


def units(text: str) -> int:
    """The length that Java gives a text."""
    return len(text.encode("utf-16-le")) // 2


def as_json(status: int, body: Any) -> Reply:
    """A reply in JSON."""
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()


def changed(service: Behaviour, field: str, change: Callable[[Any], Any]) -> Behaviour:
    """A service that answers in JSON, with one field changed on its way back."""

    def behaviour(number: int, asked: Asked) -> Reply:
        status, _, body = service(number, asked)
        assert status == 200
        answer = json.loads(body)
        return as_json(status, {**answer, field: change(answer[field])})

    return behaviour
