"""Which executor a command gets."""

from __future__ import annotations

import os
from unittest import mock

import pytest

from shadowprobe.compute.executor import SerialExecutor, count_cores, make_executor
from shadowprobe.compute.process_pool import ProcessExecutor
from shadowprobe.errors import UsageError


def test_all_cores_that_the_process_may_use_are_used_unless_told() -> None:
    with mock.patch.object(os, "sched_getaffinity", return_value={0, 3, 5}, create=True):
        assert count_cores() == 3
        made = make_executor()
        assert isinstance(made, ProcessExecutor)
        assert (made.workers, made.is_cluster) == (3, False)
        assert isinstance(make_executor(workers=1), SerialExecutor)
    with mock.patch.object(os, "sched_getaffinity", return_value={2}, create=True):
        assert isinstance(make_executor(), SerialExecutor)
        two = make_executor(workers=2)
        assert isinstance(two, ProcessExecutor)
        assert two.workers == 2


def test_one_process_does_the_parts_in_order_and_is_no_cluster() -> None:
    with SerialExecutor() as executor:
        assert list(executor.map(str, [1, 2])) == ["1", "2"]
        assert (executor.workers, executor.is_cluster) == (1, False)


def test_options_of_ray_are_refused_without_ray() -> None:
    with pytest.raises(UsageError, match=r"^--ray-address: needs --executor ray$"):
        make_executor(address="auto", gpus=1.0)
    with pytest.raises(UsageError, match=r"^--gpus: needs --executor ray$"):
        make_executor(gpus=1.0)
