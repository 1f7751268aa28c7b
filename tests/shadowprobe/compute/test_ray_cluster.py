"""Ray is optional: what is missing is said in one line. Real clusters are in tests/integration/test_ray.py.

Here a stand-in takes the place of Ray. It does a part when somebody waits for it.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from shadowprobe.compute.executor import count_cores, make_executor
from shadowprobe.compute.ray_cluster import RayExecutor, check_address
from shadowprobe.errors import BuildError, UsageError


class LostError(Exception):
    """A part whose node is gone."""


class TaskError(Exception):
    """A part whose function raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class StandIn(ModuleType):
    """The functions of Ray that an executor calls."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.exceptions = SimpleNamespace(RayError=LostError, RayTaskError=TaskError)
        self.resources: dict[str, float] = {"CPU": 2.0}
        self.is_running = False
        self.started: list[dict[str, Any]] = []
        self.options: dict[str, Any] = {}
        self.under_way: list[Callable[[], Any]] = []
        self.most_under_way = 0
        # The place of the part that is done next: that of the newest, unless a test says another.
        self.next = -1
        self.cancelled: list[Callable[[], Any]] = []

    def is_initialized(self) -> bool:
        return self.is_running

    def init(self, **options: Any) -> None:
        self.started.append(options)
        self.is_running = True

    def shutdown(self) -> None:
        self.is_running = False

    def cluster_resources(self) -> dict[str, float]:
        return self.resources

    def put(self, value: Any) -> Any:
        return value

    def remote(self, **options: Any) -> Callable[[Callable[..., Any]], Any]:
        self.options = options

        def make(function: Callable[..., Any]) -> Any:
            def give(*given: Any) -> Callable[[], Any]:
                self.under_way.append(lambda: function(*given))
                self.most_under_way = max(self.most_under_way, len(self.under_way))
                return self.under_way[-1]

            return SimpleNamespace(remote=give)

        return make

    def wait(self, given: list[Any], *, num_returns: int) -> tuple[list[Any], list[Any]]:
        done = [self.under_way.pop(self.next) for _ in range(num_returns)]
        return done, [each for each in given if each not in done]

    def get(self, reference: Callable[[], Any]) -> Any:
        assert reference not in self.under_way
        return reference()

    def cancel(self, reference: Any, *, force: bool) -> None:
        assert not force
        self.cancelled.append(reference)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    standin = StandIn()
    monkeypatch.setitem(sys.modules, "ray", standin)
    with mock.patch.dict(os.environ):
        for name in [name for name in os.environ if name.startswith("RAY_")]:
            del os.environ[name]
        yield standin


def double(number: int) -> int:
    return 2 * number


def refuse(number: int) -> int:
    raise TaskError(BuildError(f"part {number} is refused"))


def test_without_ray_the_install_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        mock.patch.dict(os.environ),
        pytest.raises(UsageError, match=r"^--executor ray: Ray is not installed: pip install 'shadowprobe\[ray\]'$"),
    ):
        make_executor("ray")


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(UsageError, match=rf"^--ray-address {address}: no cluster answers there \("):
            make_executor("ray", address=address)
        free.listen()
        check_address(address)


def test_a_port_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--ray-address 127\.0\.0\.1:99999: no cluster answers there"):
        make_executor("ray", address="127.0.0.1:99999")


@pytest.mark.parametrize("address", [None, "auto", "ray://127.0.0.1:1", ":1", "127.0.0.1:port"])
def test_an_address_that_only_ray_understands_is_left_to_ray(address: str | None) -> None:
    check_address(address)


def test_without_an_address_ray_is_started_for_this_machine_alone_and_ended(ray: StandIn) -> None:
    with RayExecutor(3) as executor:
        assert (executor.workers, executor.is_cluster) == (3, True)
        (started,) = ray.started
        assert (started["address"], started["num_cpus"]) == (None, 3)
        # Neither a page for browsers, nor the log of the workers on the terminal, nor statistics for its makers.
        assert (started["include_dashboard"], started["log_to_driver"]) == (False, False)
        assert os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert not ray.is_running


def test_ray_on_this_machine_uses_all_cores_unless_told(ray: StandIn) -> None:
    RayExecutor().close()
    assert ray.started[0]["num_cpus"] == count_cores()


def test_a_cluster_at_an_address_is_joined_as_it_is_and_may_reach_other_machines(ray: StandIn) -> None:
    ray.resources = {"CPU": 8.0}
    assert RayExecutor(address="auto").workers == 8
    (started,) = ray.started
    assert started["address"] == "auto"
    assert not {"num_cpus", "include_dashboard"} & set(started)
    assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" not in os.environ


def test_a_cluster_without_cores_of_its_own_has_one_worker(ray: StandIn) -> None:
    ray.resources = {"CPU": 0.5}
    assert RayExecutor(address="auto").workers == 1
    ray.resources = {}
    assert RayExecutor(address="auto").workers == 1


def test_a_setting_of_the_environment_is_kept(ray: StandIn) -> None:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "1"
    RayExecutor(1)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "1"


def test_ray_that_runs_already_is_neither_started_nor_ended(ray: StandIn) -> None:
    ray.is_running = True
    RayExecutor(1).close()
    assert ray.started == []
    assert ray.is_running


def test_more_gpus_than_the_cluster_has_are_refused_and_ray_is_ended(ray: StandIn) -> None:
    ray.resources = {"CPU": 2.0, "GPU": 1.0}
    assert list(RayExecutor(1, gpus=1.0).map(double, [1])) == [2]
    assert ray.options["num_gpus"] == 1.0
    with pytest.raises(UsageError, match=r"^--gpus 1\.5: the Ray cluster has 1 GPUs$"):
        RayExecutor(1, gpus=1.5)
    ray.is_running, ray.resources = False, {}
    with pytest.raises(UsageError, match=r"^--gpus 0\.5: the Ray cluster has 0 GPUs$"):
        RayExecutor(1, gpus=0.5)
    assert not ray.is_running


@pytest.mark.parametrize(
    ("address", "said"),
    [(None, "Ray cannot be started (no port)"), ("auto", "--ray-address auto: no cluster answers there (no port)")],
)
def test_ray_that_does_not_start_is_one_line(ray: StandIn, address: str | None, said: str) -> None:
    with mock.patch.object(ray, "init", side_effect=ConnectionError("no port")), pytest.raises(UsageError) as refused:
        RayExecutor(1, address)
    assert str(refused.value) == said


def test_results_are_in_order_and_only_a_few_parts_are_given_ahead(ray: StandIn) -> None:
    read: list[int] = []

    def give() -> Iterator[int]:
        for number in range(20):
            read.append(number)
            yield number

    results = RayExecutor(2).map(double, give())
    assert next(results) == 0
    # The newest part is done first. So the first result comes when three parts per worker were given out.
    assert read == [0, 1, 2, 3, 4, 5]
    assert list(results) == [2 * number for number in range(1, 20)]
    assert ray.most_under_way == 2
    assert ray.cancelled == []
    assert list(RayExecutor(2).map(double, [])) == []


def test_parts_under_way_are_cancelled_if_nobody_wants_their_results(ray: StandIn) -> None:
    ray.next = 0
    results = RayExecutor(2).map(double, range(20))
    assert next(results) == 0
    (second,) = ray.under_way
    results.close()  # type: ignore[attr-defined]
    assert ray.cancelled == [second]


def test_an_error_of_ours_comes_as_it_is_and_any_other_as_that_of_a_task(ray: StandIn) -> None:
    with pytest.raises(BuildError, match=r"^part 1 is refused$"):
        list(RayExecutor(1).map(refuse, [1]))

    def break_down(number: int) -> int:
        raise TaskError(ZeroDivisionError("by zero"))

    with pytest.raises(TaskError, match=r"^by zero$"):
        list(RayExecutor(1).map(break_down, [1]))


def test_a_part_that_is_lost_again_and_again_ends_the_work_with_the_number_of_tries(ray: StandIn) -> None:
    def lose(number: int) -> int:
        raise LostError

    with pytest.raises(BuildError) as lost:
        list(RayExecutor(1).map(lose, [1]))
    # The first try and all others.
    tries = 1 + ray.options["max_retries"]
    assert str(lost.value) == f"the Ray cluster lost a part {tries} times (LostError): the same command continues"
    # A process does many parts on one core.
    assert (ray.options["num_cpus"], ray.options["max_calls"]) == (1, 0)
