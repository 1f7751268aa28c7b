"""Fixtures that every folder of tests shares."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from world import hand_predictions, write_world

from shadowprobe import Answers, Dataset
from shadowprobe.systems import service_client as web

if TYPE_CHECKING:
    from browser import Browser
    from wiki_world import Shadowland

pytest_plugins = ["figure_fixtures"]


def pytest_configure() -> None:
    """Lets the shared tests of wrappers show values when they fail, and hides the width of the terminal."""
    shared = ("contract", "worker_contract", "annotator_contract", "asking", "chat_models")
    pytest.register_assert_rewrite(*shared)
    # Tables are as wide as without a terminal, however wide the terminal of the tests is.
    os.environ.pop("COLUMNS", None)


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


@pytest.fixture(scope="session")
def shadowland(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shadowland]:
    """A real MediaWiki and the web pages that its articles cite; skips where MediaWiki is not installed."""
    from wiki_world import shadowland as made

    with made(tmp_path_factory.mktemp("shadowland")) as world:
        yield world


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the pages are that the tests of a module open."""
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def window(place: Path) -> Iterator[Browser]:
    """One Chromium for a whole module; skips where it is not installed."""
    from browser import chromium

    with chromium(place) as opened:
        yield opened


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """A window as a person finds it, in which nothing goes wrong and nothing is asked of anybody."""
    window.size(1200, 900)
    window.scheme("light")
    yield window
    assert (window.console(), window.requests()) == ([], [])
