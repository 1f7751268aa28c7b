"""Fixtures that every folder of tests shares."""

from __future__ import annotations

from pathlib import Path

import pytest
from world import hand_predictions, write_world

from shadowprobe import Answers, Dataset, web


@pytest.fixture
def world(tmp_path: Path) -> Dataset:
    """The hand-made dataset."""
    return write_world(tmp_path / "world")


@pytest.fixture
def answers(world: Dataset) -> Answers:
    """The hand-made answers to the hand-made dataset."""
    return Answers(world).fill(hand_predictions())


@pytest.fixture(autouse=True)
def no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a linker that tries a service again do so at once."""
    monkeypatch.setattr(web, "FIRST_PAUSE", 0.01)
