"""Reads parts of dumps in several processes at the same time; the database gets their rows in one."""

from __future__ import annotations

import multiprocessing
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast

from shadowprobe.errors import BuildError, InputError, ShadowprobeError

# The number of batches of a process that wait to be received: more would only take memory.
WAITING = 2
# Files of fewer bytes together are read sooner than processes start.
SMALL = 16 << 20


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
    tasks = context.Queue()
    for task in [*enumerate(parts), *[None] * workers]:
        tasks.put(task)
    processes: dict[Connection, SpawnProcess] = {}
    try:
        for _ in range(min(workers, len(parts))):
            # Each process has its own connection: one that is killed while it sends stops no other.
            results, sender = context.Pipe(duplex=False)
            process = context.Process(target=_read_tasks, args=(tasks, sender), daemon=True)
            with sender, _hide_script():
                process.start()
            processes[results] = process
        for number, rows in _receive(processes):
            yield parts[number], rows
    finally:
        for process in processes.values():
            process.kill()
        tasks.cancel_join_thread()
        tasks.close()
        for results, process in processes.items():
            process.join()
            results.close()


@contextmanager
def _hide_script() -> Iterator[None]:
    """Hides the script that runs: a new process would execute it again, although it needs nothing of it."""
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _receive(processes: Mapping[Connection, SpawnProcess]) -> Iterator[tuple[int, Rows]]:
    """Yields the rows that the processes send, until all of them have ended."""
    connections = list(processes)
    while connections:
        for ready in wait(connections):
            results = cast(Connection, ready)
            try:
                number, sent = results.recv()
            except (EOFError, OSError):
                processes[results].join()
                if code := processes[results].exitcode:
                    raise BuildError(
                        f"a process that read the dumps was ended (exit code {code}): try again with fewer --workers"
                    ) from None
                connections.remove(results)
                continue
            if isinstance(sent, _Failure):
                raise sent.make()
            yield number, sent


class _Failure(NamedTuple):
    """An error in another process: an exception itself may not survive the way."""

    message: str
    path: Path | None = None

    def make(self) -> ShadowprobeError:
        """Makes the exception."""
        return BuildError(self.message) if self.path is None else InputError(self.path, self.message)


def _read_tasks(tasks: Any, results: Connection) -> None:
    """Reads parts until none is left; runs in its own process. It ends if nobody receives its results."""
    with suppress(BrokenPipeError), ThreadPoolExecutor(1) as sender:
        waiting: deque[Future[None]] = deque()
        while (task := tasks.get()) is not None:
            number, part = task
            for sent in _read(part):
                if len(waiting) == WAITING:
                    waiting.popleft().result()
                waiting.append(sender.submit(results.send, (number, sent)))
        for future in waiting:
            future.result()


def _read(part: Part) -> Iterator[Rows | _Failure]:
    """Yields the rows of a part, or what failed."""
    try:
        yield from part.read()
    except InputError as error:
        yield _Failure(error.problem, error.path)
    except Exception as error:
        yield _Failure(f"{part.path}: {type(error).__name__}: {error}")
