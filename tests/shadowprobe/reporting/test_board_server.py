"""The live leaderboard without a browser: what it serves, to whom, and what it reads again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from world import write_world

import shadowprobe
from shadowprobe.reporting.board import server
from shadowprobe.reporting.board.server import Board, build_board_app
from shadowprobe.running.listing import ListedRun, list_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two finished runs, and one that is not finished."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    for linker in ("prior", "oracle"):
        shadowprobe.run(linker, "world", out=f"runs/{linker}")
    shutil.copytree("runs/prior", "runs/begun")
    Path("runs/begun/results.json").unlink()
    return Path("runs")


@pytest.fixture
def client(folder: Path) -> TestClient:
    """A browser on this machine."""
    return TestClient(build_board_app(folder), base_url="http://127.0.0.1:8100")


def test_the_page_has_the_runs_and_may_ask_only_its_own_server(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert "<title>Runs in runs" in answer.text
    assert "connect-src 'self'" in answer.text
    assert all(f'"path":"runs/{name}"' in answer.text for name in ("begun", "oracle", "prior"))
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_runs_are_sent_again_only_where_they_have_changed(client: TestClient, folder: Path) -> None:
    found = client.get("/runs.json").json()
    assert [run["path"] for run in found["runs"]] == ["runs/begun", "runs/oracle", "runs/prior"]
    # As much of a digest as nobody meets by chance.
    assert len(found["version"]) == 16
    same = client.get("/runs.json", params={"known": found["version"]})
    assert (same.status_code, same.content) == (204, b"")
    shutil.rmtree(folder / "begun")
    changed = client.get("/runs.json", params={"known": found["version"]})
    assert changed.status_code == 200
    assert len(changed.json()["runs"]) == 2
    assert changed.json()["version"] != found["version"]


def test_a_report_is_of_the_runs_of_this_folder_alone(client: TestClient, folder: Path) -> None:
    client.get("/")
    report = client.get("/report", params={"run": ["runs/prior", "runs/oracle"]})
    assert report.status_code == 200
    assert "<bdi>prior</bdi>, <bdi>oracle</bdi> on <bdi>world</bdi>" in report.text
    for wanted in ([], ["runs/nobody"], ["runs/prior", "runs/nobody"], ["world"]):
        answer = client.get("/report", params={"run": wanted})
        assert (answer.status_code, answer.text) == (404, "There is no such run in this folder.\n")
    unfinished = client.get("/report", params={"run": "runs/begun"})
    assert unfinished.status_code == 409
    assert unfinished.text.startswith("runs/begun")


def test_another_name_for_this_machine_is_refused(folder: Path) -> None:
    for host, status in (("127.0.0.1", 200), ("localhost", 200), ("evil.example.org", 400)):
        assert TestClient(build_board_app(folder), base_url=f"http://{host}").get("/").status_code == status


def test_only_what_may_have_changed_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths: list[str] = []

    def read(path: Path) -> ListedRun:
        paths.append(path.name)
        return list_run(path)

    monkeypatch.setattr(server, "list_run", read)
    board = Board(folder)
    for expected in (["begun", "oracle", "prior"], ["begun"]):
        paths.clear()
        assert [run.path for run in board.list_runs()] == ["runs/begun", "runs/oracle", "runs/prior"]
        assert paths == expected
    # Scored again, its results are younger.
    os.utime(folder / "prior" / "results.json", ns=(1, 1))
    paths.clear()
    board.list_runs()
    assert paths == ["begun", "prior"]
    # A broken run is read again when its card changes.
    (folder / "oracle" / "run.json").write_text("{")
    for expected in (["begun", "oracle"], ["begun"]):
        paths.clear()
        states: dict[str, Any] = {run.path: run.state for run in board.list_runs()}
        assert (paths, states["runs/oracle"]) == (expected, "broken")
    (folder / "oracle" / "run.json").write_text(json.dumps({}))
    paths.clear()
    board.list_runs()
    assert paths == ["begun", "oracle"]
