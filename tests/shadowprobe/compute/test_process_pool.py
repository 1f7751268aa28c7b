"""The pool of processes: results in order, each once, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from parts_work import die, die_once, fail, ignores_interrupts, name_process, outlast_once, square

from shadowprobe.compute import process_pool
from shadowprobe.compute.executor import SerialExecutor, make_executor
from shadowprobe.compute.process_pool import ProcessExecutor
from shadowprobe.errors import BuildError, InputError, UsageError


@pytest.fixture
def pool() -> Iterator[ProcessExecutor]:
    executor = ProcessExecutor(2)
    yield executor
    executor.close()


def test_results_come_in_the_order_of_the_parts(pool: ProcessExecutor) -> None:
    assert list(pool.map(square, range(12))) == [0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121]
    # The workers are used again.
    assert list(pool.map(square, (5, 3))) == [25, 9]


def test_only_a_few_parts_are_read_ahead(pool: ProcessExecutor) -> None:
    read: list[int] = []
    results = pool.map(square, (read.append(number) or number for number in range(100)))  # type: ignore[func-returns-value]
    assert next(results) == 0
    # Three parts for each of the two workers.
    assert len(read) == 6
    results.close()  # type: ignore[attr-defined]


def test_no_process_is_started_for_no_part_or_a_single_part(pool: ProcessExecutor) -> None:
    assert list(pool.map(name_process, [])) == []
    assert list(pool.map(name_process, [0])) == [os.getpid()]
    assert os.getpid() not in pool.map(name_process, [0, 1])


def test_the_parts_of_a_worker_that_dies_are_done_again_and_each_result_comes_once(
    pool: ProcessExecutor, tmp_path: Path
) -> None:
    parts = [(str(tmp_path), number) for number in range(10)]
    assert list(pool.map(die_once, parts)) == [number * 10 for number in range(10)]
    # Parts 1, 4 and 7 ended their workers.
    assert all(len((tmp_path / str(number)).read_text().split()) >= 2 for number in (1, 4, 7))


def test_a_worker_that_does_not_end_after_another_died_is_killed(pool: ProcessExecutor, tmp_path: Path) -> None:
    begun = time.monotonic()
    assert list(pool.map(outlast_once, [(str(tmp_path), number) for number in range(4)])) == [0, 10, 20, 30]
    assert time.monotonic() - begun < 50


class Forgetful(ProcessExecutor):
    """A pool that loses part 1, as one may whose worker dies in that moment. Parts before it have their results."""

    def __init__(self) -> None:
        super().__init__(2)
        self.futures: list[Future[Any]] = []

    def _submit(self, function: Callable[[Any], Any], part: Any) -> Future[Any]:
        self.futures.append(super()._submit(function, part))
        if len(self.futures) != 2:
            return self.futures[-1]
        assert [future.result() for future in self.futures] == [0, 1]
        os.kill(self._list_workers()[0].pid or 0, signal.SIGKILL)
        return Future()


def test_a_part_that_the_pool_has_forgotten_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "CHECK_SECONDS", 0.05)
    with closing(Forgetful()) as pool:
        assert list(pool.map(square, [0, 1])) == [0, 1]
        # Part 1 was given out twice.
        assert len(pool.futures) == 3


def test_a_part_that_ends_every_worker_is_an_error(pool: ProcessExecutor) -> None:
    results = pool.map(die, range(6))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(BuildError, match="a worker process ended 3 times at the same part: is there enough memory"):
        next(results)


def test_an_error_of_a_part_is_the_one_that_a_single_process_would_raise(pool: ProcessExecutor) -> None:
    results = pool.map(fail, range(6))
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(InputError, match=r"^pages\.jsonl:7: field `url`: is wrong$") as caught:
        next(results)
    assert (caught.value.line, caught.value.field) == (7, "url")


def test_an_interrupt_is_left_to_the_main_process(pool: ProcessExecutor) -> None:
    assert list(pool.map(ignores_interrupts, range(2))) == [True, True]


KILLED = """
import sys
sys.path += sys.argv[2:]
from parts_work import wait_long
from shadowprobe.compute.process_pool import ProcessExecutor
if __name__ == "__main__":
    list(ProcessExecutor(2).map(wait_long, [(sys.argv[1], number) for number in range(4)]))
"""


def test_workers_end_with_a_main_process_that_is_killed(tmp_path: Path) -> None:
    script, pids = tmp_path / "main.py", tmp_path / "pids"
    script.write_text(KILLED)
    pids.mkdir()
    support = str(Path(name_process.__code__.co_filename).parent)
    with subprocess.Popen([sys.executable, str(script), str(pids), support]) as main:
        workers = _wait(lambda: [int(path.name) for path in pids.iterdir()] if len(list(pids.iterdir())) == 2 else [])
        main.kill()
    assert len(workers) == 2
    assert _wait(lambda: [] if any(_is_running(worker) for worker in workers) else [True])


def _wait(look: object, seconds: float = 20.0) -> list[int]:
    assert callable(look)
    ended = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < ended:
        time.sleep(0.05)
    return list(found)


def _is_running(process: int) -> bool:
    try:
        # A process that has ended, and that nobody has waited for, is a zombie.
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_one_worker_is_this_process() -> None:
    assert isinstance(make_executor(workers=1), SerialExecutor)
    with make_executor(workers=1) as executor:
        assert list(executor.map(name_process, [0, 1])) == [os.getpid()] * 2


def test_wrong_options_are_refused_in_one_line() -> None:
    with pytest.raises(UsageError, match=r"^--executor: unknown executor `rya` \(did you mean `ray`\?\): choose from"):
        make_executor("rya")
    with pytest.raises(UsageError, match=r"^--ray-address: needs --executor ray$"):
        make_executor("local", address="auto")
    with pytest.raises(UsageError, match=r"^--gpus: needs --executor ray$"):
        make_executor("local", gpus=0.5)
