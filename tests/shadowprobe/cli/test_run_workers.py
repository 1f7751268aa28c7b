"""When `shadowprobe run` starts workers: only if an option asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from shadowprobe.cli.run import _open_workers
from shadowprobe.compute import executor


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The executors that were asked for."""
    found: list[tuple[Any, ...]] = []

    @contextmanager
    def make(*arguments: Any) -> Iterator[str]:
        found.append(arguments)
        yield "an executor"

    monkeypatch.setattr(executor, "make_executor", make)
    return found


@pytest.mark.parametrize("workers", [None, 1])
def test_one_worker_on_this_machine_is_this_process(made: list[Any], workers: int | None) -> None:
    with _open_workers("local", workers, None, 0.0) as opened:
        assert (opened, made) == (None, [])


@pytest.mark.parametrize(
    "options", [("local", 2, None, 0.0), ("ray", None, None, 0.0), ("local", None, "auto", 0.0), ("ray", 1, None, 0.5)]
)
def test_any_other_option_asks_for_an_executor(made: list[Any], options: Any) -> None:
    with _open_workers(*options) as opened:
        shown: Any = opened
    assert (shown, made) == ("an executor", [options])
