"""A run of retrieval that is killed loses at most the batch under way, and ends with the same bytes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from killing import Retrieval, kill_repeatedly, make_victim
from retrieval_world import write_collection
from retriever_scripts import write_retrievers


def command(out: str, pause: float = 0.02, *more: str) -> list[str]:
    retriever = ("--retriever", "mine.py:Noting", "-o", f"pause={pause}")
    return [
        *(sys.executable, "-m", "shadowprobe", "retrieve", *retriever, "--collection", "little", "--out", out),
        *("-k", "1", "--depth", "3", *more),
    ]


def wait_for_rankings(path: Path, process: subprocess.Popen[bytes], lines: int) -> None:
    """Waits until a run has stored some more rankings, or has ended."""
    before = path.read_bytes().count(b"\n") if path.exists() else 0
    while process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= before + lines:
            return
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def _a_collection_and_a_retriever(tmp_path: Path) -> None:
    write_collection(tmp_path / "little")
    write_retrievers(tmp_path)


def test_kill_9_at_random_moments_loses_no_ranking_and_ends_with_the_same_bytes(tmp_path: Path) -> None:
    with make_victim(Retrieval.name, tmp_path / "victim") as victim:
        report = kill_repeatedly(victim, 4, Random(7))
    assert report.problems == ()
    assert 0 < max(report.stored) < report.needed
    run = tmp_path / "victim" / "killed-0"
    assert b"the first query was strange" in (run / "results.json").read_bytes()
    assert sorted(path.name for path in run.iterdir()) == ["rankings.jsonl", "results.json", "run.json"]


def test_kill_9_of_a_forced_run_leaves_a_directory_that_is_the_new_runs(tmp_path: Path) -> None:
    subprocess.run(command("run", 0), cwd=tmp_path, capture_output=True, check=True)
    forced = command("run", 0.05, "--force")
    process = subprocess.Popen(forced, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    card = tmp_path / "run" / "run.json"
    while process.poll() is None and b'"pause": 0.05' not in card.read_bytes():
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    old = subprocess.run(command("run", 0), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert old.returncode == 2
    assert "options pause is 0.05, not 0" in old.stderr
    new = subprocess.run(command("run", 0.05), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert new.returncode == 0, new.stderr


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    # A shell makes the jobs that it starts in the background deaf to Ctrl-C, and their children too.
    hearing = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{hearing}; from shadowprobe.cli import main; main()"
    run = [sys.executable, "-c", script, *command("run", 0.05)[3:]]
    process = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_rankings(tmp_path / "run" / "rankings.jsonl", process, 1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr.decode().strip().splitlines()[-1].startswith("shadowprobe: interrupted; the same command goes on")


def test_two_runs_into_one_directory_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="file locks are the POSIX kind")
    first = subprocess.Popen(command("run", 0.5), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_rankings(tmp_path / "run" / "rankings.jsonl", first, 1)
    second = subprocess.run(command("run", 0.5), cwd=tmp_path, capture_output=True, text=True, check=False)
    first.kill()
    first.communicate()
    assert second.returncode == 2
    assert "another shadowprobe is writing to run" in second.stderr
