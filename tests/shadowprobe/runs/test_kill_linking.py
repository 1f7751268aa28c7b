"""A run that is killed loses at most the batch under way, and no answer twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from world import write_world

from shadowprobe import Prediction
from shadowprobe.base.jsonl import read_lines

SLOW_LINKER = '''
import time
from shadowprobe import Linker

class Slow(Linker):
    """Takes its time over every batch, and writes down what it was asked."""

    batch_size = 2

    def link(self, snippets):
        time.sleep(0.02)
        with open("asked.txt", "a") as file:
            file.writelines(f"{snippet.id}\\n" for snippet in snippets)
        return [self.answer(s, self.knowledge.candidates(s.mention)[0]) for s in snippets]
'''


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "shadowprobe", *arguments]


def test_kill_9_at_random_moments_loses_no_answer_and_repeats_none(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_LINKER)
    dataset = write_world(tmp_path / "world")
    run = command("run", "--linker", "slow.py:Slow", "--dataset", "world", "--out", "run")
    generator = random.Random(7)
    kills = 0
    for _ in range(6):
        process = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # Killed not at a time but at a point of its work, so that a slow machine gets as far as a fast one.
        wait_for_answers(tmp_path, process, generator.randrange(1, 4))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
    assert kills > 0
    finished = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    stored = [prediction.id for _, prediction in read_lines(tmp_path / "run" / "predictions.jsonl", Prediction)]
    assert stored == [snippet.id for snippet in dataset.snippets()]
    asked = (tmp_path / "asked.txt").read_text().split()
    # Each kill may cost the batch under way, two snippets here, and no more.
    assert len(asked) <= len(stored) + 2 * kills


def wait_for_answers(directory: Path, process: subprocess.Popen[bytes], lines: int) -> None:
    """Waits until a run has stored some more predictions, or has ended."""
    path = directory / "run" / "predictions.jsonl"
    before = path.read_bytes().count(b"\n") if path.exists() else 0
    while process.poll() is None:
        if path.exists() and path.read_bytes().count(b"\n") >= before + lines:
            return
        time.sleep(0.002)


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_LINKER)
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
    (tmp_path / "slow.py").write_text(SLOW_LINKER.replace("0.02", "0.5"))
    write_world(tmp_path / "world")
    run = command("run", "--linker", "slow.py:Slow", "--dataset", "world", "--out", "run")
    first = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for_answers(tmp_path, first, 1)
    second = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    first.kill()
    first.communicate()
    assert second.returncode == 2
    assert "another shadowprobe is writing to run" in second.stderr
