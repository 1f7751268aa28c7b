"""Reads parts of dumps in several processes at the same time; the database gets their rows in one."""

from __future__ import annotations

import multiprocessing
import queue
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from shadowprobe.errors import BuildError, InputError, ShadowprobeError

# The number of waiting batches per process: more would only take memory.
WAITING = 2
# Files of fewer bytes together are read sooner than processes start.
SMALL = 16 << 20
# The seconds after which a process that ended without a word is noticed.
PATIENCE = 1.0


class Rows(NamedTuple):
    """Some rows of one kind, by column."""

    kind: str
    columns: dict[str, Any]


class Part(Protocol):
    """A dump, or a part of it, that can be read on its own."""

    @property
    def path(self) -> Path:
        """The file."""

    def read(self) -> Iterator[Rows]:
        """Yields the rows, some thousands at a time."""


def read_parts(parts: Sequence[Part], workers: int) -> Iterator[tuple[Part, Rows]]:
    """Yields the rows of all parts, in any order if several processes read them."""
    if min(workers, len(parts)) < 2 or sum(path.stat().st_size for path in {part.path for part in parts}) < SMALL:
        for part in parts:
            for rows in part.read():
                yield part, rows
        return
    # Forking would copy the threads of the database in an unknown state.
    context = multiprocessing.get_context("spawn")
    tasks, results = context.Queue(), context.Queue(WAITING * workers)
    processes = [
        context.Process(target=_read_tasks, args=(tasks, results), daemon=True) for _ in range(min(workers, len(parts)))
    ]
    for task in [*enumerate(parts), *[None] * len(processes)]:
        tasks.put(task)
    try:
        with _hide_script():
            for process in processes:
                process.start()
        for number, rows in _receive(results, processes, len(parts)):
            yield parts[number], rows
    finally:
        started = [process for process in processes if process.pid is not None]
        for process in started:
            process.kill()
        for waiting in (tasks, results):
            waiting.cancel_join_thread()
            waiting.close()
        for process in started:
            process.join()


@contextmanager
def _hide_script() -> Iterator[None]:
    """Hides the script that runs: a new process would execute it again, although it needs nothing of it."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _receive(results: Any, processes: Sequence[SpawnProcess], parts: int) -> Iterator[tuple[int, Rows]]:
    """Yields the rows that the processes send, until all parts are read."""
    while parts:
        try:
            number, sent = results.get(timeout=PATIENCE)
        except queue.Empty:
            codes = [process.exitcode for process in processes if process.exitcode]
            if codes:
                raise BuildError(
                    f"a process that read the dumps was ended (exit code {codes[0]}): try again with fewer --workers"
                ) from None
            continue
        if isinstance(sent, Rows):
            yield number, sent
        elif sent is None:
            parts -= 1
        else:
            raise sent.make()


class _Failure(NamedTuple):
    """An error in another process: an exception itself may not survive the way."""

    message: str
    path: Path | None = None

    def make(self) -> ShadowprobeError:
        """Makes the exception."""
        return BuildError(self.message) if self.path is None else InputError(self.path, self.message)


def _read_tasks(tasks: Any, results: Any) -> None:
    """Reads parts until none is left; runs in its own process."""
    while (task := tasks.get()) is not None:
        number, part = task
        try:
            for rows in part.read():
                results.put((number, rows))
            results.put((number, None))
        except InputError as error:
            results.put((number, _Failure(error.problem, error.path)))
        except Exception as error:
            results.put((number, _Failure(f"{part.path}: {type(error).__name__}: {error}")))
