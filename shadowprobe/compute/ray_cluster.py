"""The executor for a cluster: Ray runs the parts on all of its nodes."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from shadowprobe.compute.executor import AHEAD, Executor, count_cores
from shadowprobe.errors import BuildError, ShadowprobeError, UsageError

A = TypeVar("A")
B = TypeVar("B")

# A part is tried again so often if its worker or its node dies.
RETRIES = 10
CONNECT_SECONDS = 10.0
# Ray reads these when it is imported. It sends no statistics, warns of nothing, and does not print the log of a node
# that died to the standard output.
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
}
# Without this, Ray on a single machine listens to other machines too.
LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


class RayExecutor(Executor):
    """Parts as Ray tasks. Without an address, Ray is started on this machine and ends with the executor.

    At most `workers` parts are under way. Ray uses the processes of earlier parts again, so that each of them loads a
    model once.
    """

    is_cluster = True

    def __init__(self, workers: int | None = None, address: str | None = None, gpus: float = 0.0) -> None:
        check_address(address)
        ray = import_ray(**({} if address else LOOPBACK_ONLY))
        self._is_own, self._gpus = not ray.is_initialized(), gpus
        if self._is_own:
            start_ray(workers, address)
        resources = ray.cluster_resources()
        if gpus > resources.get("GPU", 0.0):
            self.close()
            raise UsageError(f"--gpus {gpus:g}: the Ray cluster has {resources.get('GPU', 0.0):g} GPUs")
        self.workers = workers or max(1, int(resources.get("CPU", 1)))

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        """Yields the result for each part in order; only a few parts are given to Ray ahead."""
        ray = import_ray()
        # Ray would end a process with a GPU after each part.
        task = ray.remote(num_cpus=1, num_gpus=self._gpus, max_retries=RETRIES, max_calls=0)(_call)
        called, remaining, given, unfinished = ray.put(function), iter(parts), deque[Any](), set[Any]()
        try:
            while True:
                free = min(self.workers - len(unfinished), AHEAD * self.workers - len(given))
                for part in islice(remaining, free):
                    given.append(task.remote(called, part))
                    unfinished.add(given[-1])
                if not given:
                    return
                if unfinished:
                    unfinished.difference_update(ray.wait(list(unfinished), num_returns=1)[0])
                while given and given[0] not in unfinished:
                    yield _get_result(ray, given[0])
                    given.popleft()
        finally:
            for reference in unfinished:
                ray.cancel(reference, force=False)

    def close(self) -> None:
        """Leaves the cluster; a cluster that was started here ends."""
        if self._is_own:
            import_ray().shutdown()


def check_address(address: str | None) -> None:
    """Refuses an address where no server listens: Ray itself would try for minutes, and print each try."""
    host, _, port = (address or "").rpartition(":")
    # `auto` and `ray://...` are for Ray to understand.
    if host and "/" not in host and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise UsageError(f"--ray-address {address}: no cluster answers there ({error})") from None


def import_ray(**settings: str) -> Any:
    """Imports Ray with these settings, unless the environment has others; says how to install it if it is missing."""
    for name, value in (SETTINGS | settings).items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ModuleNotFoundError:
        raise UsageError("--executor ray: Ray is not installed: pip install 'shadowprobe[ray]'") from None
    return ray


def start_ray(workers: int | None, address: str | None) -> None:
    """Connects to the cluster at an address, or starts Ray on this machine, reachable from this machine only."""
    ray = import_ray()
    # Ray writes to the terminal what its log files have too.
    quiet = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    own = {"num_cpus": workers or count_cores(), "include_dashboard": False}
    try:
        ray.init(address=address, **quiet, **({} if address else own))
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        where = f"--ray-address {address}: no cluster answers there" if address else "Ray cannot be started"
        raise UsageError(f"{where} ({error})") from None


def _get_result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, ShadowprobeError):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        raise BuildError(
            f"the Ray cluster lost a part {RETRIES + 1} times ({type(error).__name__}): the same command continues"
        ) from None


def _call(function: Callable[[A], B], part: A) -> B:
    return function(part)
