"""Rows of dumps are collected before they are written, as many as take about the same memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from shadowprobe.build.dumps import loading
from shadowprobe.build.dumps.loading import Loader
from shadowprobe.build.dumps.parallel import Rows
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.build.machine import Machine

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")


class Given(NamedTuple):
    """Rows that a test gives, as a part of a file."""

    path: Path
    batches: list[list[Any]]
    are_numbers: bool

    def read(self) -> Iterator[Rows]:
        for batch in self.batches:
            yield Rows("kind", {"value": np.array(batch) if self.are_numbers else batch})


def write(path: Path, batches: list[list[Any]], *, are_numbers: bool, progress: Progress = ignore_progress) -> Any:
    """Loads batches; returns the number of rows of each time that something was written, and all values."""
    path.touch()
    kind = "BIGINT" if are_numbers else "VARCHAR"
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE found (value {kind}); CREATE TABLE sizes (size BIGINT)")
        statements = {"kind": ["INSERT INTO found FROM batch", "INSERT INTO sizes SELECT count(*) FROM batch"]}
        given = Given(path, batches, are_numbers)
        Loader(connection, statements, progress, Machine(workers=1)).load([given])
        sizes = [size for (size,) in connection.execute("SELECT size FROM sizes").fetchall()]
        return sizes, [value for (value,) in connection.execute("SELECT value FROM found").fetchall()]


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten numbers, two texts or twenty letters take as much memory as may wait."""
    monkeypatch.setattr(loading, "NUMBERS", 10)
    monkeypatch.setattr(loading, "TEXTS", 2)
    monkeypatch.setattr(loading, "TEXT_BYTES", 20)


def test_numbers_are_written_when_there_are_enough_and_the_rest_at_the_end(tmp_path: Path) -> None:
    batches = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13]]
    assert write(tmp_path / "dump", batches, are_numbers=True) == ([12, 1], list(range(1, 14)))
    assert write(tmp_path / "dump", [[1] * 5, [2] * 4, [3], [4]], are_numbers=True)[0] == [10, 1]


def test_fewer_texts_wait_than_numbers(tmp_path: Path) -> None:
    assert write(tmp_path / "dump", [["a"], ["b"], ["c"]], are_numbers=False) == ([2, 1], ["a", "b", "c"])


def test_long_texts_count_by_their_letters_and_a_missing_text_has_none(tmp_path: Path) -> None:
    long = "x" * 20
    assert write(tmp_path / "dump", [[long], [long], ["y" * 19], [None]], are_numbers=False)[0] == [1, 1, 2]


def test_the_rows_of_each_file_are_counted_as_progress(tmp_path: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    write(tmp_path / "dump", [[1, 2], [3], [4, 5, 6]], are_numbers=True, progress=lambda *step: steps.append(step))
    assert steps == [("dump", 2, None), ("dump", 3, None), ("dump", 6, None)]
