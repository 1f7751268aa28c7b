"""A run that is killed loses at most the batch under way, and no answer twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from killing import LINKER, PlainRun, kill_repeatedly, make_victim
from world import write_world

from shadowprobe import Prediction, open_dataset
from shadowprobe.base.jsonl import read_lines


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "shadowprobe", *arguments]


def test_kill_9_at_random_moments_loses_no_answer_and_repeats_none(tmp_path: Path) -> None:
    with make_victim(PlainRun.name, tmp_path) as victim:
        report = kill_repeatedly(victim, 6, Random(7))
    assert report.problems == ()
    assert 0 < max(report.stored) < report.needed
    stored = [prediction.id for _, prediction in read_lines(tmp_path / "killed-0" / "predictions.jsonl", Prediction)]
    assert stored == [snippet.id for snippet in open_dataset(str(tmp_path / "world")).snippets()]


def wait_for_answers(directory: Path, process: subprocess.Popen[bytes], lines: int) -> None:
    """Waits until a run has stored some more predictions, or has ended."""
    path = directory / "run" / "predictions.jsonl"
    before = path.read_bytes().count(b"\n") if path.exists() else 0
    while process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= before + lines:
            return
        time.sleep(0.002)


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(LINKER)
    write_world(tmp_path / "world")
    # A shell makes the jobs that it starts in the background deaf to Ctrl-C, and their children too.
    hearing = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    script = f"{hearing}; from shadowprobe.cli import main; main()"
    run = [sys.executable, "-c", script, "run", "--linker", "slow.py:Slow", "--dataset", "world", "--out", "run"]
    process = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_answers(tmp_path, process, 1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr.decode().strip().splitlines()[-1].startswith("shadowprobe: interrupted; the same command goes on")


def test_two_runs_into_one_directory_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="file locks are the POSIX kind")
    (tmp_path / "slow.py").write_text(LINKER.replace("0.02", "0.5"))
    write_world(tmp_path / "world")
    run = command("run", "--linker", "slow.py:Slow", "--dataset", "world", "--out", "run")
    first = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_answers(tmp_path, first, 1)
    second = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    first.kill()
    first.communicate()
    assert second.returncode == 2
    assert "another shadowprobe is writing to run" in second.stderr
