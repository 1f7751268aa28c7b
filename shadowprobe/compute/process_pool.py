"""The executor for one machine: a pool of processes, which is started again if one of them dies."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from typing import Generic, TypeVar

from msgspec import Struct

from shadowprobe.compute.executor import AHEAD, TRIES, Executor
from shadowprobe.errors import BuildError

A = TypeVar("A")
B = TypeVar("B")


class _Task(Struct, Generic[A, B], eq=False):
    """A part that was given out, and its result to come."""

    part: A
    future: Future[B]


class ProcessExecutor(Executor):
    """A pool of processes on this machine. A single part is done in this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        """Yields the result for each part in order; only a few parts are read ahead."""
        remaining = iter(parts)
        first = list(islice(remaining, 2))
        if len(first) < 2:
            yield from map(function, first)
            return
        waiting: deque[_Task[A, B]] = deque()
        try:
            for part in chain(first, remaining):
                waiting.append(_Task(part, self._submit(function, part)))
                if len(waiting) >= AHEAD * self.workers:
                    yield self._take(function, waiting)
            while waiting:
                yield self._take(function, waiting)
        finally:
            for task in waiting:
                task.future.cancel()

    def _submit(self, function: Callable[[A], B], part: A) -> Future[B]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, _make_context(function), _set_up_worker)
        try:
            return self._pool.submit(function, part)
        except BrokenProcessPool as error:
            failed: Future[B] = Future()
            failed.set_exception(error)
            return failed

    def _take(self, function: Callable[[A], B], waiting: deque[_Task[A, B]]) -> B:
        """Returns the result of the first part; if a worker died, the parts without a result are done again."""
        try:
            result = waiting[0].future.result()
        except (BrokenProcessPool, CancelledError):
            self.close()
            self._repeat(function, [task for task in waiting if not _is_finished(task.future)])
            result = waiting[0].future.result()
        waiting.popleft()
        return result

    def _repeat(self, function: Callable[[A], B], tasks: list[_Task[A, B]]) -> None:
        """Does parts again one by one, so that a part that ends every worker is known."""
        for task in tasks:
            for _ in range(TRIES - 1):
                task.future = self._submit(function, task.part)
                if _is_finished(task.future, has_to_wait=True):
                    break
                self.close()
            else:
                raise BuildError(
                    f"a worker process ended {TRIES} times at the same part: is there enough memory? The same command"
                    " continues from here; --workers 1 uses one process only"
                )

    def close(self) -> None:
        """Ends the workers."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _is_finished(future: Future[B], *, has_to_wait: bool = False) -> bool:
    """True for a part with a result, or with an error of its function."""
    if future.cancelled() or (not has_to_wait and not future.done()):
        return False
    return not isinstance(future.exception(), BrokenProcessPool)


def _make_context(function: Callable[[A], B]) -> BaseContext:
    """A process with threads must not be copied by `fork`: workers are copies of a clean process.

    That process imports what the module of the function names in `WORKER_IMPORTS`, once for all workers.
    """
    if sys.platform == "win32":
        return get_context("spawn")
    context = get_context("forkserver")
    module = sys.modules[getattr(function, "func", function).__module__]
    context.set_forkserver_preload(list(getattr(module, "WORKER_IMPORTS", ())))
    return context


def _set_up_worker() -> None:
    """Leaves an interrupt to the main process, and ends this worker if the main process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
