"""What the stand-ins of WAT and TagMe share: a small Wikipedia, and two ways of counting characters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Literal

from service import Reply
from world import NAMES, shadow, top

TOKEN = "0f7c5a1e-53cr-37ab-843339462"
Unit = Literal["code points", "UTF-16"]


class Counted:
    """A text whose places are counted as a service counts them."""

    def __init__(self, text: str, unit: Unit) -> None:
        self.unit = unit
        self.text = text if unit == "code points" else text.encode("utf-16-le")

    def cut(self, start: int, end: int) -> str:
        """The piece between two places."""
        if isinstance(self.text, bytes):
            return self.text[2 * start : 2 * end].decode("utf-16-le", "replace")
        return self.text[start:end]

    def find(self, name: str) -> Iterable[tuple[int, int]]:
        """Every place where a name stands."""
        length = len(name)
        size = len(self.text) // (2 if self.unit == "UTF-16" else 1)
        return ((start, start + length) for start in range(size) if self.cut(start, start + length) == name)

    def sentence(self, start: int) -> str:
        """The sentence around a place."""
        before, after = self.cut(0, start), self.cut(start, len(self.text))
        return before.rpartition(".")[2] + after.partition(".")[0]


def meaning(name: str, sentence: str) -> dict[str, Any] | None:
    """The page that a name means in a sentence: a ship where there is a crew, and else the river."""
    if name not in NAMES:
        return None
    number, at_sea = NAMES.index(name), "crew" in sentence
    title = shadow(name) if at_sea else top(name)
    return {"spot": name, "id": number + (200 if at_sea else 100), "title": title, "rho": 0.41 if at_sea else 0.73}


def as_json(answer: Any) -> Reply:
    """An answer as it goes over the wire."""
    body = json.dumps(answer, ensure_ascii=False).encode()
    return 200, {"Content-Type": "application/json;charset=UTF-8"}, body
