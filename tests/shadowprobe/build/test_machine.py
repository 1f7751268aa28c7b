"""What a build may use of its machine."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest

from shadowprobe.build import machine
from shadowprobe.build.machine import Machine, parse_size, read_available_memory
from shadowprobe.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [("8GB", 8 * 10**9), ("1.5 gb", 15 * 10**8), ("500M", 5 * 10**8), ("2t", 2 * 10**12), ("300000000", 3 * 10**8)],
)
def test_a_size_has_a_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "8 apples", "-1GB", "100MB", "0", "8GBB"])
def test_what_is_no_size_or_too_little_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--memory .*: give a size such as 8GB, and at least 200MB"):
        parse_size(text)


def test_the_least_size_is_enough() -> None:
    assert parse_size("200MB") == parse_size("200000KB") == 200_000_000
    with pytest.raises(UsageError, match="at least 200MB"):
        parse_size("199.999999MB")


def write_memory(directory: Path, available: str, limit: str = "", name: str = "memory.max") -> None:
    (directory / "meminfo").write_text(f"MemTotal: 99999999 kB\n{available}")
    if limit:
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(f"{limit}\n")


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "_PROC", tmp_path)
    monkeypatch.setattr(machine, "_GROUP", tmp_path)
    return tmp_path


def test_half_of_the_available_memory_is_used(proc: Path) -> None:
    write_memory(proc, "MemAvailable: 4000000 kB\n")
    assert Machine().find_memory() == 2_000_000 * 1024
    assert Machine(memory=10**9).find_memory() == 10**9


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_a_container_has_less(proc: Path, name: str) -> None:
    write_memory(proc, "MemAvailable: 4000000 kB\n", "1000000000", name)
    assert read_available_memory() == 10**9


def test_a_container_without_limit_has_what_the_machine_has(proc: Path) -> None:
    write_memory(proc, "MemAvailable: 4000000 kB\n", "max")
    assert read_available_memory() == 4_000_000 * 1024


def test_a_machine_that_does_not_say_gets_an_assumption(proc: Path) -> None:
    # Two gigabytes, of which the database gets half.
    assert Machine().find_memory() == 10**9
    write_memory(proc, "")
    assert Machine().find_memory() == 10**9
    write_memory(proc, "", "1000000000")
    assert Machine().find_memory() == 5 * 10**8


def test_there_is_always_enough_for_a_small_database(proc: Path) -> None:
    write_memory(proc, "MemAvailable: 1000 kB\n")
    assert Machine().find_memory() == parse_size("200MB")


def test_all_cores_work_unless_told() -> None:
    assert Machine().count_workers() == os.cpu_count()
    with mock.patch.object(os, "cpu_count", return_value=None):
        assert Machine().count_workers() == 1
    assert Machine(workers=3).count_workers() == 3
