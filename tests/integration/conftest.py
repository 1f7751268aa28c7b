"""Fixtures of the tests that read reports in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, chromium


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pages of a module are."""
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def window(place: Path) -> Iterator[Browser]:
    """One Chromium for a whole module; skips where it is not installed."""
    with chromium(place) as opened:
        yield opened


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """A window as a person finds it, in which nothing goes wrong and nothing is asked of anybody."""
    window.size(1200, 900)
    window.scheme("light")
    yield window
    assert (window.console(), window.requests()) == ([], [])
