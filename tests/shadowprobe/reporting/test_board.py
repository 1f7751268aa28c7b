"""The leaderboard as a folder of files; what a browser makes of it is in tests/integration."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from world import write_world

import shadowprobe
from shadowprobe.errors import UsageError
from shadowprobe.reporting.board.folder import write_folder
from shadowprobe.reporting.board.page import compose_board, name_board
from shadowprobe.running.finished import read_runs
from shadowprobe.running.listing import list_runs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    for weight in range(7):
        shadowprobe.run("blend", "world", options={"weight": f"0.{weight}"}, out=f"runs/{weight}")
    return tmp_path


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One run over the small world, and one over its first name."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    shadowprobe.run("prior", "world", out="runs/0")
    shadowprobe.run("prior", "world", limit=1, out="runs/less")
    return tmp_path


def data_of(page: Path) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.mark.parametrize(("count", "is_compared"), [(1, False), (2, True), (6, True), (7, False)])
def test_up_to_six_systems_stand_side_by_side(folder: Path, count: int, is_compared: bool) -> None:
    runs = read_runs([Path(f"runs/{number}") for number in range(count)], is_mixed=True)
    assert write_folder(runs, Path("site"), title="Runs") == []
    data = data_of(Path("site/index.html"))
    assert data["reports"] == {f"runs/{number}": f"reports/{number + 1}.html" for number in range(count)}
    assert list(data["comparisons"].values()) == (["reports/all-1.html"] if is_compared else [])
    assert all((Path("site") / file).is_file() for file in (data["reports"] | data["comparisons"]).values())


def test_a_run_whose_data_has_gone_is_listed_without_a_report(folder: Path) -> None:
    runs = read_runs([Path("runs/0"), Path("runs/1")], is_mixed=True)
    (folder / "world/top.jsonl").unlink()
    problems = write_folder(runs, Path("site"), title="Runs")
    assert len(problems) == 3
    assert all(problem.startswith("world: ") for problem in problems)
    data = data_of(Path("site/index.html"))
    assert (len(data["runs"]), data["reports"], data["comparisons"]) == (2, {}, {})


def test_a_file_in_place_of_the_folder_is_refused(folder: Path) -> None:
    Path("site").write_text("mine")
    with pytest.raises(UsageError, match="is a file"):
        write_folder(read_runs([Path("runs/0")]), Path("site"), title="Runs")


def test_a_page_of_a_server_may_ask_it_and_one_of_a_folder_nobody(folder: Path) -> None:
    runs = list_runs(Path("runs"))
    assert "connect-src 'self'" in compose_board(runs, "Runs", version="1")
    assert "connect-src 'none'" in compose_board(runs, "Runs")


def test_reports_are_numbered_and_those_of_each_dataset_stand_together(few: Path) -> None:
    shadowprobe.run("nil", "world", out="runs/1")
    runs = read_runs([Path("runs/0"), Path("runs/less"), Path("runs/1")], is_mixed=True)
    assert write_folder(runs, Path("deep/site"), title="Runs") == []
    data = data_of(Path("deep/site/index.html"))
    assert data["reports"] == {
        "runs/0": "reports/1.html",
        "runs/1": "reports/2.html",
        "runs/less": "reports/3.html",
    }
    digest = runs[0].data["digest"]
    assert data["comparisons"] == {f"{digest} ": "reports/all-1.html"}
    written = sorted(path.name for path in Path("deep/site/reports").iterdir())
    assert written == ["1.html", "2.html", "3.html", "all-1.html"]
    assert (data["live"], data["version"]) == (False, "")


def test_a_folder_is_written_over_only_by_force(few: Path) -> None:
    runs = read_runs([Path("runs/0")])
    Path("site").mkdir()
    write_folder(runs, Path("site"), title="Runs")
    with pytest.raises(UsageError, match=r"site/index.html exists; give another --out, or --force to write over it"):
        write_folder(runs, Path("site"), title="Runs")
    write_folder(runs, Path("site"), title="Others", force=True)
    assert "<title>Others</title>" in Path("site/index.html").read_text()


def test_a_page_is_called_like_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    assert [name_board(Path(name)) for name in ("runs", "runs/..", "/")] == [
        "Runs in runs",
        f"Runs in {tmp_path.name}",
        "Runs in /",
    ]
