"""`shadowprobe report`: where it writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import complaint, outcome
from world import write_world

import shadowprobe


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs over one dataset, and one over its first name alone."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    for linker in ("prior", "nil"):
        shadowprobe.run(linker, "world", out=f"runs/{linker}")
    shadowprobe.run("prior", "world", limit=1, out="runs/less")
    return tmp_path


def test_runs_over_the_same_data_are_one_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "report", "runs/prior") == (0, "", "Written to runs/prior/report.html\n")
    assert outcome(capsys, "report", "runs/prior", "runs/nil") == (0, "", "Written to report.html\n")
    assert outcome(capsys, "report", "runs/prior", "--out", "deep/A.HTM") == (0, "", "Written to deep/A.HTM\n")
    assert Path("deep/A.HTM").read_text().startswith("<!DOCTYPE html>")
    assert complaint(capsys, "report", "runs/prior", "runs/nil") == (
        "report.html exists; give another --out, or --force to write over it"
    )
    assert outcome(capsys, "report", "runs/prior", "runs/nil", "--force")[0] == 0


def test_runs_over_several_datasets_are_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, "report", "runs/prior", "runs/less") == (0, "", "Written to report/index.html\n")
    assert sorted(path.name for path in Path("report/reports").iterdir()) == ["1.html", "2.html"]
    # A folder of one run is a folder too, where a folder is named.
    assert outcome(capsys, "report", "runs/prior", "--out", "site") == (0, "", "Written to site/index.html\n")
    for option, value in (("--queries", ["--queries", "q"]), ("--published", ["--published"])):
        message = complaint(capsys, "report", "runs/prior", "runs/less", "--out", "other", *value)
        assert message == f"{option}: goes with the report of runs over the same data, in one .html file"
    assert complaint(capsys, "report", "runs/prior", "--published").startswith("--published: goes with runs of retriev")
