"""The processes of linkers in an environment of their own: they die, hang, are interrupted and are left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from worker_scripts import BY_PROTOCOL, WORKERS, Make, is_gone, link_text, opened_workers, unopened

from shadowprobe import Dataset, LinkerError
from shadowprobe.running.api import make_linking_job
from shadowprobe.systems import worker_linker
from shadowprobe.systems.worker_linker import WorkerLinker


@pytest.fixture
def make(tmp_path: Path, world: Dataset, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    with opened_workers(tmp_path, world, monkeypatch) as found:
        yield found


def test_a_script_that_dies_at_the_start_leaves_its_last_words(make: Make) -> None:
    with pytest.raises(LinkerError) as error:
        make('print("50%\\r100%\\r", file=sys.stderr); raise ImportError("libcuda.so.1\\nis missing")')
    assert str(error.value) == "the worker of `mine` ended with exit code 1: is missing"


def test_of_a_progress_bar_the_last_state_is_shown(make: Make) -> None:
    with pytest.raises(LinkerError, match=r"the worker of `mine` ended with exit code 3: 20%$"):
        make('sys.stderr.write("10%\\r20%\\r"); sys.stderr.flush(); os._exit(3)')


def test_a_script_that_ends_without_a_word_is_said_to(make: Make) -> None:
    with pytest.raises(LinkerError, match="the worker of `mine` ended with exit code 3 without a message"):
        make("os._exit(3)")


def test_a_script_that_ends_too_early_without_an_error_has_the_exit_code_0(make: Make) -> None:
    with pytest.raises(LinkerError, match="the worker of `mine` ended with exit code 0 without a message"):
        make("os._exit(0)")


def test_a_script_at_work_is_killed_and_not_asked_to_end(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_linker, "GRACE", 0.2)
    asked_to_end = tmp_path / "asked to end"
    linker = make(
        f"""
        signal.signal(signal.SIGTERM, lambda *_: open({str(asked_to_end)!r}, "w").close())

        def answer(item):
            time.sleep(600)
        """,
        timeout=0.1,
    )
    with pytest.raises(LinkerError, match=r"gave no answer in 0\.1 s"):
        link_text(linker)
    assert not asked_to_end.exists()


def test_a_slow_start_is_waited_for(make: Make) -> None:
    linker = make('def start(options): time.sleep(0.4); say({"ready": {}})', start_timeout=60.0, timeout=60.0)
    assert link_text(linker).isdecimal()


def test_a_start_without_end_is_given_up_and_its_process_with_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    popen = subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        process = popen(*arguments, **options)
        started.append(process.pid)
        return process

    monkeypatch.setattr(subprocess, "Popen", noted)
    with pytest.raises(LinkerError) as error:
        make("time.sleep(600)", start_timeout=0.5)
    assert str(error.value) == "the worker of `mine` was not ready in 0.5 s: -o start_timeout=SECONDS gives it longer"
    assert [is_gone(pid) for pid in started] == [True]


def test_a_batch_without_an_answer_is_given_up_and_its_process_with_it(make: Make) -> None:
    linker = make(
        """
        def answer(item):
            time.sleep(600 if item["text"] == "hang" else 0)
            return {"id": item["id"], "title": str(os.getpid())}
        """
    )
    pid = int(link_text(linker))
    linker.timeout = 0.5
    problem = r"gave no answer in 0\.5 s to a batch of 1: -o timeout=SECONDS gives it longer"
    with pytest.raises(LinkerError, match=problem):
        link_text(linker, "[hang]")
    assert is_gone(pid)


def test_a_batch_that_nobody_reads_is_given_up_too(make: Make) -> None:
    # More than a pipe holds, to a script that has stopped reading.
    linker = make('def start(options): say({"ready": {}}); time.sleep(600)', timeout=0.5)
    with pytest.raises(LinkerError, match=r"gave no answer in 0\.5 s to a batch of 1"):
        link_text(linker, f"[Avon] {'x' * 1_000_000}")


def test_kill_9_in_the_middle_of_a_run_stops_it_with_one_line_and_no_zombie(make: Make) -> None:
    linker = make()
    pid = int(link_text(linker))
    os.kill(pid, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(LinkerError) as error:
            link_text(linker)
        expected = "the worker of `mine` was killed by SIGKILL (did the memory run out?) without a message"
        assert str(error.value) == expected
    assert is_gone(pid)


@pytest.mark.parametrize(("number", "name"), [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGRTMIN + 6, "signal 40")])
def test_a_script_that_a_signal_ends_is_said_to(make: Make, number: int, name: str) -> None:
    linker = make(f"def answer(item): os.kill(os.getpid(), {int(number)})")
    with pytest.raises(LinkerError, match=f"^the worker of `mine` was killed by {name} without a message$"):
        link_text(linker)


def test_a_script_that_dies_at_a_snippet_stops_the_run_and_keeps_what_is_answered(
    tmp_path: Path, world: Dataset
) -> None:
    body = """
    def answer(item):
        if "Berg" in item["text"]:
            print("CUDA error: device-side assert", file=sys.stderr)
            os._exit(7)
        return {"id": item["id"], "title": "Avon (river)"}
    """
    linker = unopened(tmp_path, body)
    with pytest.raises(LinkerError, match="`mine` ended with exit code 7: CUDA error: device-side assert"):
        make_linking_job(linker, world, out=tmp_path / "run", batch_size=1).run()
    assert (tmp_path / "run" / "predictions.jsonl").read_text().count("\n") == 1


def test_closing_lets_the_script_end_by_itself(make: Make, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    linker = make(f'import atexit; atexit.register(lambda: open({str(ended)!r}, "w").close())')
    pid = int(link_text(linker))
    linker.close()
    assert is_gone(pid)
    assert ended.exists()
    linker.close()


def test_a_script_that_does_not_end_is_made_to(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shadowprobe.systems.worker_linker.GRACE", 0.3)
    linker = make(
        """
        import atexit
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        atexit.register(time.sleep, 600)
        """
    )
    pid = int(link_text(linker))
    linker.close()
    assert is_gone(pid)


def test_ctrl_c_ends_the_script_at_once_and_shows_nothing_of_it(make: Make) -> None:
    linker = make(
        """
        def answer(item):
            if item["text"] == "interrupt":
                os.kill(os.getppid(), signal.SIGINT)
                time.sleep(600)
            return {"id": item["id"], "title": f"{os.getpid()} {os.getsid(0)}"}
        """
    )
    pid, session = map(int, link_text(linker).split())
    # The terminal sends Ctrl-C to our group, and the script is in another.
    assert session == pid
    # A shell makes the jobs that it starts in the background deaf to Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            link_text(linker, "[interrupt]")
    finally:
        signal.signal(signal.SIGINT, before)
    linker.close()
    assert is_gone(pid)


@pytest.mark.parametrize(
    "options", [{"timeout": 0.0}, {"start_timeout": 0.0}, {"start_timeout": -1.0}, {"timeout": float("nan")}]
)
def test_a_time_limit_that_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="start_timeout and timeout must be above 0"):
        WorkerLinker(**options)
    short = WorkerLinker(start_timeout=0.5, timeout=0.5)
    assert (short.start_timeout, short.timeout) == (0.5, 0.5)


LEFT_BEHIND = """
import sys
sys.path.insert(0, sys.argv[1])
from asking import marked
from shadowprobe import Knowledge
from shadowprobe.systems import worker_linker
from shadowprobe.systems.worker_linker import WorkerLinker

class Mine(WorkerLinker):
    name = "mine"
    worker = sys.argv[2]

linker = Mine(python=sys.executable)
linker.open(Knowledge({}))
linker.link([marked("[Avon]")])
"""


def test_a_worker_at_work_does_not_outlive_a_killed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl", reason="file locks are the POSIX kind")
    monkeypatch.setenv("PYTHONPATH", str(WORKERS))
    body = f"""
    def __init__(self):
        import fcntl
        self.lock = open({str(tmp_path / "lock")!r}, "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def answer(self, items):
        open({str(tmp_path / "working")!r}, "w").close()
        time.sleep(30)
        open({str(tmp_path / "outlived")!r}, "w").close()
        return []
    """
    unopened(tmp_path, body, BY_PROTOCOL)
    support = Path(__file__).resolve().parents[2] / "support"
    command = [sys.executable, "-c", LEFT_BEHIND, str(support), str(tmp_path / "my_worker.py")]
    with subprocess.Popen(command) as run:
        while not (tmp_path / "working").exists():
            assert run.poll() is None
            time.sleep(0.01)
        run.kill()
    # The lock is free when the worker has ended, whoever inherits what is left of it.
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
    assert not (tmp_path / "outlived").exists()
