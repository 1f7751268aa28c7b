"""The executor for one machine: a pool of processes, which is started again if one of them dies."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for_futures
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

from msgspec import Struct

from shadowprobe.compute.executor import AHEAD, TRIES, Executor
from shadowprobe.errors import BuildError

# How often a dead worker is looked for while a result is awaited.
CHECK_SECONDS = 5.0

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
        if self._is_lost(waiting[0].future):
            self.close()
            self._repeat(function, [task for task in waiting if _has_no_result(task.future)])
        return waiting.popleft().future.result()

    def _repeat(self, function: Callable[[A], B], tasks: list[_Task[A, B]]) -> None:
        """Does parts again one by one. One that ends every worker gets an error, and the parts after it are left."""
        for task in tasks:
            for _ in range(TRIES - 1):
                task.future = self._submit(function, task.part)
                if not self._is_lost(task.future):
                    break
                self.close()
            else:
                task.future = Future()
                problem = (
                    f"a worker process ended {TRIES} times at the same part: is there enough memory? The same command"
                    " continues from here; --workers 1 uses one process only"
                )
                task.future.set_exception(BuildError(problem))
                return

    def _is_lost(self, future: Future[B]) -> bool:
        """Waits for the result of a part; true if there is none because a worker died."""
        is_broken = False
        # The pool may forget a part that it is given while it notices a dead worker.
        while not is_broken and not wait_for_futures([future], CHECK_SECONDS).done:
            is_broken = self._has_dead_worker()
        return _has_no_result(future)

    def _has_dead_worker(self) -> bool:
        return not all(worker.is_alive() for worker in self._list_workers())

    def _list_workers(self) -> list[BaseProcess]:
        # No public name has them before Python 3.14.
        return list((self._pool._processes or {}).values()) if self._pool is not None else []

    def close(self) -> None:
        """Ends the workers."""
        if self._pool is not None:
            if self._has_dead_worker():
                # A worker that the pool started a moment ago may wait for ever for a lock that the dead one has taken.
                for worker in self._list_workers():
                    worker.kill()
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None


def _has_no_result(future: Future[B]) -> bool:
    """True for a part without a result; an error of its function is a result."""
    return not future.done() or future.cancelled() or isinstance(future.exception(), BrokenProcessPool)


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
