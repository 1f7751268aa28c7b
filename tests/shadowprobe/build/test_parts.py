"""Finished parts are stored, and only what is missing or has changed is made again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from shadowprobe.build.parts import PartStore, drop_parts
from shadowprobe.compute.executor import SerialExecutor


class Sum(Struct):
    """The result of a part."""

    value: int


class Adder:
    """Adds the numbers of a part, and notes which parts it got."""

    def __init__(self) -> None:
        self.parts: list[list[int]] = []

    def __call__(self, part: list[int]) -> Sum:
        self.parts.append(part)
        return Sum(sum(part))


PARTS = [[1, 2], [3], [4, 5], [6]]
SUMS = [3, 3, 9, 6]


def run(directory: Path, parts: list[list[int]], version: str = "1") -> tuple[list[int], list[list[int]]]:
    """The results, and the parts that were made for them."""
    adder = Adder()
    results = PartStore(directory / "parts", version).map(SerialExecutor(), adder, iter(parts), Sum)
    return [result.value for result in results], adder.parts


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    assert run(tmp_path, PARTS) == (SUMS, PARTS)
    return tmp_path


def test_what_is_finished_is_read(finished: Path) -> None:
    assert run(finished, PARTS) == (SUMS, [])
    assert run(finished, [*PARTS, [7]]) == ([*SUMS, 7], [[7]])


def test_a_changed_part_and_all_behind_it_are_made_again(finished: Path) -> None:
    changed = [[1, 2], [9], *PARTS[2:]]
    assert run(finished, changed) == ([3, 9, 9, 6], changed[1:])
    assert run(finished, changed) == ([3, 9, 9, 6], [])


def test_another_version_makes_all_parts_again(finished: Path) -> None:
    assert run(finished, PARTS, "2") == (SUMS, PARTS)


@pytest.mark.parametrize("content", [None, b"", b'{"value":', b'{"value":"x"}'])
def test_a_part_that_is_lost_or_damaged_is_made_again_with_those_behind_it(
    finished: Path, content: bytes | None
) -> None:
    path = finished / "parts" / "000001.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    assert run(finished, PARTS) == (SUMS, PARTS[1:])


def test_a_killed_run_continues_after_its_last_part(tmp_path: Path) -> None:
    first = Adder()
    results = PartStore(tmp_path / "parts", "1").map(SerialExecutor(), first, iter(PARTS), Sum)
    assert [next(results).value for _ in range(2)] == SUMS[:2]
    results.close()  # type: ignore[attr-defined]
    # Half a line, as a kill may leave it, is not a finished part.
    with (tmp_path / "parts" / "manifest.jsonl").open("ab") as manifest:
        manifest.write(b'{"number":2,"dig')
    assert run(tmp_path, PARTS) == (SUMS, PARTS[2:])
    assert run(tmp_path, PARTS) == (SUMS, [])


def test_no_parts_make_no_directory_and_dropped_parts_are_gone(finished: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "none", []) == ([], [])
    assert not (tmp_path / "none").exists()
    drop_parts(finished / "parts")
    assert not (finished / "parts").exists()
    drop_parts(finished / "parts")
