"""`shadowprobe runs` as a user meets it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from world import write_world

import shadowprobe
from shadowprobe.base.files import is_locked, lock_file
from shadowprobe.cli import main
from shadowprobe.errors import UsageError
from shadowprobe.running.listing import ListedRun, label_runs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of runs over the small world: two of `blend`, one of `prior`."""
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path / "world")
    for weight in ("0", "1"):
        shadowprobe.run("blend", "world", options={"weight": weight}, out=f"runs/blend-{weight}")
    shadowprobe.run("prior", "world", out="runs/deeper/prior", limit=2)
    return tmp_path / "runs"


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main(["runs", *arguments])
    assert not end.value.code
    return capsys.readouterr().out


def test_each_run_has_a_line_with_its_figures(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(listed(capsys, "--json"))
    assert [(run["path"], run["system"], run["data"], run["state"]) for run in found] == [
        ("runs/blend-0", "blend (weight=0.0)", "world", "finished"),
        ("runs/blend-1", "blend (weight=1.0)", "world", "finished"),
        ("runs/deeper/prior", "prior", "world", "finished"),
    ]
    # Four names with a Top, a Shadow and three neutral contexts, and one of the tail; the last has the first two names.
    assert [(run["total"], run["done"], run["limit"]) for run in found] == [(21, 21, None), (21, 21, None), (11, 11, 2)]
    prior = {one["key"]: one["value"] for one in found[2]["headlines"]}
    assert prior == {"shadow_f1": 0, "top_f1": 1, "overshadowed": 1, "prior_bias": 1, "consistent": 0}


def test_a_run_with_one_probe_only_is_listed_summarised_and_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shadowprobe.run("prior", "world", out="runs/one", settings=shadowprobe.Settings(probes=("prior",)))
    one = next(run for run in json.loads(listed(capsys, "--json")) if run["path"] == "runs/one")
    assert (one["state"], one["headlines"], one["problem"]) == ("finished", [], "")
    for command in (("table", "summary", "runs/one", "runs/blend-0"), ("report", "runs/one")):
        with pytest.raises(SystemExit) as end:
            main(list(command))
        assert not end.value.code
    assert Path("runs/one/report.html").exists()


def test_a_linker_and_a_retriever_of_one_name_are_two_systems() -> None:
    linker = ListedRun("a", "linker", "bm25", "mini", "finished")
    retriever = ListedRun("b", "retriever", "bm25", "namesakes", "finished", options={"k1": 1.5})
    assert [run.system for run in label_runs([linker, retriever])] == ["bm25", "bm25"]


def test_the_table_fits_on_a_narrow_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = listed(capsys).splitlines()
    assert lines[0] == "3 runs of linkers in runs (%)"
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("deeper/prior ") and " 100.0 " in line for line in lines)


def test_runs_that_are_not_finished_say_how_far_they_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, kept in (("half", 10), ("old", 5)):
        shutil.copytree("runs/blend-0", f"runs/{name}")
        Path(f"runs/{name}/results.json").unlink()
        file = Path(f"runs/{name}/predictions.jsonl")
        file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:kept]))
    # Version 0.1 did not write how many questions there are.
    card = json.loads(Path("runs/old/run.json").read_text())
    del card["total"]
    Path("runs/old/run.json").write_text(json.dumps(card))
    out = listed(capsys)
    assert "unfinished, 47%" in " ".join(out.split())
    assert "unfinished, 5 answers" in " ".join(out.split())


def test_a_broken_run_is_named_and_hides_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("runs/blend-0/results.json").write_text("{")
    Path("runs/bad").mkdir()
    Path("runs/bad/run.json").write_text("[]")
    out = listed(capsys)
    assert "Runs that cannot be read" in out
    assert "blend-1" in out
    found = json.loads(listed(capsys, "--json"))
    assert [run["path"] for run in found if run["state"] == "broken"] == ["runs/bad", "runs/blend-0"]


def test_a_folder_without_runs_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    assert listed(capsys, "empty") == "empty has no runs; `shadowprobe run` makes one\n"
    with pytest.raises(SystemExit) as end:
        main(["runs"])
    assert end.value.code == 2
    assert capsys.readouterr().err == "shadowprobe: runs: no such directory\n"


SLOW = """
import time
from shadowprobe import Linker

class Slow(Linker):
    name = "slow"
    batch_size = 1

    def link(self, snippets):
        time.sleep(0.2)
        return [self.nil(snippet) for snippet in snippets]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
def test_a_run_is_running_until_its_process_dies(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "shadowprobe", "run", "--linker", "slow.py:Slow", "-d", "world", "--out", "runs/s"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        answers = Path("runs/s/predictions.jsonl")
        deadline = time.monotonic() + 60
        while not (answers.exists() and answers.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        states = [run["state"] for run in json.loads(listed(capsys, "--json")) if run["path"] == "runs/s"]
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert states == ["running"]
    (run,) = (run for run in json.loads(listed(capsys, "--json")) if run["path"] == "runs/s")
    assert run["state"] == "unfinished"
    assert 0 < run["done"] < run["total"] == 21


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no flock")
def test_a_look_at_a_lock_does_not_take_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert not is_locked(path)
    with lock_file(tmp_path, "file"):
        assert is_locked(path)
        with pytest.raises(UsageError, match="another shadowprobe"), lock_file(tmp_path, "file"):
            pass
    assert not is_locked(path)
