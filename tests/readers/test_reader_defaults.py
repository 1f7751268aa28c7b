"""What every reader does where no option is given: other defaults give other answers."""

from __future__ import annotations

import inspect
from importlib.metadata import entry_points
from typing import Any

import pytest

from shadowprobe import plugins

NEEDED = inspect.Parameter.empty
DEFAULTS: dict[str, dict[str, Any]] = {
    "chat": {
        "model": NEEDED,
        "url": NEEDED,
        "temperature": 0.0,
        "seed": 0,
        "max_tokens": 256,
        "concurrency": 8,
        "rate": 0.0,
        "timeout": 120.0,
        "retries": 4,
    },
    "first-sentence": {},
    "lm": {"model": "smollm2", "context": 4000, "max_tokens": 24, "start": "", "device": "cpu", "precision": "single"},
    "oracle-answer": {"only_found": False},
    "span": {"model": NEEDED, "longest": 30, "device": "cpu"},
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_reader_has_these_defaults(name: str) -> None:
    point = next(iter(entry_points(group=plugins.READERS, name=name)))
    options = plugins.list_options(point.load())
    assert {name: option.default for name, option in options.items()} == DEFAULTS[name]


def test_no_reader_is_left_out() -> None:
    ours = [listing.name for listing in plugins.listings(plugins.READERS) if listing.package == "shadowprobe"]
    assert sorted(ours) == sorted(DEFAULTS)
