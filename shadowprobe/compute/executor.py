"""The interface of executors: a function is mapped over parts, and the results come in the order of the parts."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from shadowprobe.errors import UsageError, nearest

EXECUTORS = ("local", "ray")
# The parts per worker that are given out before the first of them is done, so that no worker waits for the next.
AHEAD = 3
# The number of times that a part is tried if its worker dies.
TRIES = 3

A = TypeVar("A")
B = TypeVar("B")


class Executor(ABC):
    """Maps a function over parts.

    The function is a pure one that a module offers by name, because a worker imports it. A part whose worker dies is
    done again by another worker, and each result is yielded once. So the results are the same for any number of
    workers.
    """

    workers: int = 1
    # True if the workers may be on other machines.
    is_cluster: bool = False

    @abstractmethod
    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        """Yields the result for each part in order; only a few parts are read ahead."""

    @abstractmethod
    def close(self) -> None:
        """Ends the workers."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SerialExecutor(Executor):
    """Does all parts in this process."""

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        """Yields the result for each part."""
        return map(function, parts)

    def close(self) -> None:
        """There are no workers."""


def count_cores() -> int:
    """Counts the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_executor(
    name: str = "local", workers: int | None = None, address: str | None = None, gpus: float = 0.0
) -> Executor:
    """Makes the executor of this name; without a number of workers it uses all cores. `gpus` are those of a worker."""
    if name not in EXECUTORS:
        raise UsageError(
            f"--executor: unknown executor `{name}`{nearest(name, EXECUTORS)}: choose from {', '.join(EXECUTORS)}"
        )
    if name == "ray":
        from shadowprobe.compute.ray_cluster import RayExecutor

        return RayExecutor(workers, address, gpus)
    if address is not None or gpus:
        raise UsageError(f"{'--ray-address' if address is not None else '--gpus'}: needs --executor ray")
    if (workers or count_cores()) == 1:
        return SerialExecutor()
    from shadowprobe.compute.process_pool import ProcessExecutor

    return ProcessExecutor(workers or count_cores())
