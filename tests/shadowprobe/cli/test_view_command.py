"""`shadowprobe view`: the address that it announces, without a server."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusals import complaint, outcome

from shadowprobe.net import service


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was asked to open; the server ends as soon as it has said where it is."""
    monkeypatch.chdir(tmp_path)
    addresses: list[str] = []

    def announce_only(_server: Any, host: str, bound: Any, announce: Callable[[str], None]) -> None:
        assert bound.getsockname()[0] == host
        announce(f"http://{host}:1")

    monkeypatch.setattr(service, "run_server", announce_only)
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_only_this_machine_can_open_the_page_and_a_browser_opens_it_if_asked(
    opened: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("runs").mkdir()
    said = "The runs in runs are on http://127.0.0.1:1/ until Ctrl-C\n"
    assert outcome(capsys, "view", "--port", "0") == (0, "", said)
    assert opened == []
    assert outcome(capsys, "view", "--port", "0", "--open") == (0, "", said)
    assert opened == ["http://127.0.0.1:1/"]


def test_a_folder_that_is_not_there_is_refused(opened: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, "view") == "runs: no such directory; `shadowprobe run` makes runs in `runs`"
