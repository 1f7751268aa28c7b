"""The files of an index looked up in parts, as a cluster does it: the same captures are chosen."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from capture_world import COLUMNS, TABLE, CaptureWorld, serving_files

from shadowprobe.build.captures.capture_index import find_captures
from shadowprobe.compute.executor import SerialExecutor
from shadowprobe.errors import BuildError

SPELLINGS = ("https://www.example.org/{}", "http://example.org/{}/", "https://example.org/{}")

A = TypeVar("A")
B = TypeVar("B")


class Cluster(SerialExecutor):
    """Two workers, one after the other; notes their parts."""

    workers, is_cluster = 2, True

    def __init__(self) -> None:
        self.parts: list[Any] = []

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        self.parts = list(parts)
        return super().map(function, self.parts)


@pytest.fixture
def world(tmp_path: Path) -> CaptureWorld:
    return CaptureWorld(tmp_path)


def add_captures(world: CaptureWorld, seed: int, count: int = 60) -> list[str]:
    """Adds captures of ten pages in three spellings on twenty days; returns all URLs."""
    generator = random.Random(seed)
    urls = [spelling.format(page) for page in range(10) for spelling in SPELLINGS]
    for _ in range(count):
        world.add(generator.choice(urls), b"page", f"2024-02-{generator.randint(1, 20):02d}")
    return urls


def write_files(world: CaptureWorld, count: int) -> str:
    """Writes the rows to several tables and a CDXJ file in one folder."""
    rows, folder = list(world.rows), Path(TABLE).parent
    for number in range(count):
        world.rows = rows[number :: count + 1]
        world.write_table(str(folder / f"part-{number:05d}.parquet"))
    world.rows = rows[count :: count + 1]
    world.write_cdxj(str(folder / "more.cdxj"))
    return str(world.top / folder)


@pytest.mark.parametrize("seed", range(4))
def test_parts_choose_the_same_captures_as_the_whole_index(world: CaptureWorld, seed: int) -> None:
    urls = add_captures(world, seed)
    index, cluster = write_files(world, 8), Cluster()
    for wanted in (set(urls), set(urls[::2])):
        whole = list(find_captures(index, wanted, "2024-02-15", SerialExecutor()))
        assert whole
        assert list(find_captures(index, wanted, "2024-02-15", cluster)) == whole
    # Nine files for two workers with three parts each: two files are one part.
    assert [len(part) for part in cluster.parts] == [2, 2, 2, 2, 1]


def test_parts_of_an_index_on_a_server_are_the_same(world: CaptureWorld) -> None:
    urls, cluster = set(add_captures(world, 1)), Cluster()
    folder = Path(write_files(world, 4)).relative_to(world.top)
    names = sorted(path.name for path in (world.top / folder).iterdir())
    (world.top / "index.paths").write_text("".join(f"{folder}/{name}\n" for name in names))
    with serving_files(world.top) as served:
        index = f"{served.url}/index.paths"
        assert list(find_captures(index, urls, "", cluster)) == list(find_captures(index, urls, "", SerialExecutor()))
    assert len(cluster.parts) == 5


def test_without_a_cluster_an_index_is_one_part(world: CaptureWorld) -> None:
    class Local(Cluster):
        is_cluster = False

    executor = Local()
    urls = set(add_captures(world, 2))
    index = write_files(world, 3)
    assert list(find_captures(index, urls, "", executor)) == list(find_captures(index, urls, "", SerialExecutor()))
    # Three tables and a file of lines.
    assert [len(part) for part in executor.parts] == [4]


@pytest.mark.parametrize("column", ["content_mime_detected", "fetch_status", "fetch_time", "warc_record_offset"])
def test_a_column_may_be_missing_in_some_files_but_not_in_all(world: CaptureWorld, column: str) -> None:
    urls = set(add_captures(world, 3, 12))
    folder = Path(TABLE).parent
    others = [name for name in COLUMNS if name != column]
    world.write_table(str(folder / "a.parquet"), columns=others)
    with pytest.raises(BuildError, match=rf"a\.parquet: lacks the column {column}; --common-crawl needs"):
        find_captures(str(world.top / folder), urls, "", Cluster())
    # Older rows in a file that has the column.
    world.rows = world.rows[:6]
    world.write_table(str(folder / "b.parquet"))
    whole = list(find_captures(str(world.top / folder), urls, "", SerialExecutor()))
    assert whole
    assert list(find_captures(str(world.top / folder), urls, "", Cluster())) == whole
