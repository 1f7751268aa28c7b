"""A build on several workers makes the same bytes as one on a single worker, and continues after its last part."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any, TypeVar

import pytest
from build_world import Small, made, small

from shadowprobe.build import gather
from shadowprobe.compute.executor import SerialExecutor, make_executor
from shadowprobe.compute.process_pool import ProcessExecutor
from shadowprobe.errors import InputError

A = TypeVar("A")
B = TypeVar("B")


@pytest.fixture(scope="module")
def world() -> Iterator[Small]:
    with pytest.MonkeyPatch.context() as patch, small() as running:
        # Seven pages are seven parts.
        patch.setattr(gather, "FEWEST_PAGES", 1)
        yield running


@pytest.fixture(scope="module")
def whole(world: Small, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes | None]:
    out = tmp_path_factory.mktemp("whole")
    world.build(out)
    return made(out)


class Counting(SerialExecutor):
    """Counts the parts that are done."""

    def __init__(self) -> None:
        self.parts: list[Any] = []

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        def note(part: A) -> A:
            self.parts.append(part)
            return part

        return super().map(function, map(note, parts))


@pytest.mark.parametrize("workers", [2, 7])
def test_any_number_of_workers_makes_the_same_bytes(
    world: Small, whole: dict[str, bytes | None], tmp_path: Path, workers: int
) -> None:
    with make_executor(workers=workers) as executor:
        world.build(tmp_path / "out", executor=executor)
    assert made(tmp_path / "out") == whole


def test_workers_that_are_killed_change_nothing(world: Small, whole: dict[str, bytes | None], tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(stage: str, done: int, _: int | None) -> None:
        if stage == "snippets" and done in {1, 3, 5}:
            # One of our own workers, not a helper of multiprocessing.
            pools = [child.pid for child in active_children() if "ForkServerProcess" in type(child).__name__]
            if pools and pools[0] is not None:
                os.kill(pools[0], signal.SIGKILL)
                killed.append(pools[0])

    with ProcessExecutor(2) as executor:
        world.build(tmp_path / "out", executor=executor, progress=kill)
    assert killed
    assert made(tmp_path / "out") == whole


class CutOffError(Exception):
    """Somebody pulled the plug."""


def cut_off(stage: str, done: int, _: int | None) -> None:
    if stage == "snippets" and done == 4:
        raise CutOffError


def test_a_build_continues_after_its_last_part(world: Small, whole: dict[str, bytes | None], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(CutOffError):
        world.build(out, progress=cut_off)
    executor = Counting()
    world.build(out, executor=executor)
    # Four of the seven parts were finished; one more is that of the tail.
    assert len(executor.parts) == 3 + 1
    assert made(out) == whole


@pytest.mark.parametrize("damage", ["torn manifest", "no part", "empty part", "other content"])
def test_parts_that_are_not_whole_are_made_again(
    world: Small, whole: dict[str, bytes | None], tmp_path: Path, damage: str
) -> None:
    out = tmp_path / "out"
    with pytest.raises(CutOffError):
        world.build(out, progress=cut_off)
    parts = out / "build" / "snippets-parts"
    manifest = parts / "manifest.jsonl"
    if damage == "torn manifest":
        manifest.write_bytes(manifest.read_bytes()[:-20])
    elif damage == "no part":
        (parts / "000001.json").unlink()
    elif damage == "empty part":
        (parts / "000002.json").write_bytes(b"")
    else:
        manifest.write_text(manifest.read_text().replace('"digest":"', '"digest":"0'))
    executor = Counting()
    world.build(out, executor=executor)
    # The last of the four parts again; the second and all after it; the third and all after it; all.
    again = {"torn manifest": 4, "no part": 6, "empty part": 5, "other content": 7}[damage]
    assert len(executor.parts) == again + 1
    assert made(out) == whole


def test_a_page_that_the_archive_lacks_is_an_error_that_says_what_to_do(world: Small, tmp_path: Path) -> None:
    out = tmp_path / "out"
    world.build(out)
    crawled = out / "build" / "crawled.jsonl"
    crawled.write_text(crawled.read_text().replace('"page":"GET http', '"page":"GET no', 1))
    with pytest.raises(InputError, match=r"web\.warc\.gz: lacks `GET no.*`: `shadowprobe build crawl` requests it"):
        world.build(out, "snippets")
