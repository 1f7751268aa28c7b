"""A build that was cut off, whose wiki died, or that has only its archive ends as one that was never disturbed."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from build_world import Mortal, Small, made, small, stored
from web_pages import answer

from shadowprobe.build.status import STAGES, read_funnels
from shadowprobe.errors import BuildError, InputError, UsageError


@pytest.fixture
def world() -> Iterator[Small]:
    with small() as running:
        yield running


@pytest.fixture(autouse=True)
def no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a wiki that does not answer be tried again at once."""
    monkeypatch.setattr("time.sleep", lambda _: None)


def archive_of(out: Path, copy: Path) -> Path:
    """Another directory that has nothing but the archive of a build and its settings."""
    shutil.copytree(out / "build" / "archive", copy / "build" / "archive")
    shutil.copy(out / "build" / "settings.json", copy / "build")
    return copy


def test_from_the_archive_comes_the_same_dataset_though_wiki_and_web_are_gone(tmp_path: Path) -> None:
    with small() as world:
        world.build(tmp_path / "out")
    copy = archive_of(tmp_path / "out", tmp_path / "copy")
    stored = {path.name: path.read_bytes() for path in (copy / "build" / "archive").iterdir()}
    assert world.build(copy, from_archive=True) is not None
    assert made(copy) == made(tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (copy / "build" / "archive").iterdir()} == stored


def test_from_the_archive_a_build_that_is_done_is_made_anew(world: Small, tmp_path: Path) -> None:
    world.build(tmp_path / "out")
    before, asked = made(tmp_path / "out"), world.asked
    (tmp_path / "out" / "top.jsonl").unlink()
    world.build(tmp_path / "out", from_archive=True)
    assert made(tmp_path / "out") == before
    assert world.asked == asked


def test_from_an_archive_missing_pages_are_not_requested(world: Small, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no archive; a build without this option makes one"):
        world.build(tmp_path / "new", from_archive=True)
    assert not (tmp_path / "new").exists()
    world.build(tmp_path / "out", "spaces")
    asked = world.asked
    with pytest.raises(InputError, match=r"web\.warc\.gz: no such archive: a build without --from-archive makes it"):
        world.build(tmp_path / "out", from_archive=True)
    # What was made from the archive before is still there.
    assert [funnel.stage for funnel in read_funnels(tmp_path / "out")] == ["spaces"]
    with pytest.raises(BuildError, match=r"has no answer of .*/w/api.php to this question; build without --from-arch"):
        world.build(tmp_path / "out", "commonness", from_archive=True)
    assert world.asked == asked


def test_an_archive_that_lacks_pages_is_refused(world: Small, tmp_path: Path) -> None:
    world.build(tmp_path / "out")
    archive = tmp_path / "out" / "build" / "archive"
    for name in ("web.warc.gz", "web.warc.gz.index"):
        (archive / name).unlink()
    with pytest.raises(InputError, match="no such archive: a build without --from-archive makes it"):
        world.build(tmp_path / "out", "crawl", from_archive=True)
    for name in ("web.warc.gz", "web.warc.gz.index"):
        (archive / name).touch()
    with pytest.raises(BuildError, match=r"web\.warc\.gz lacks 8 pages: build without --from-archive first$"):
        world.build(tmp_path / "out", "crawl", from_archive=True)
    # What was not there is asked for by the next build, and is not taken for dead.
    assert world.build(tmp_path / "out") is not None
    assert read_funnels(tmp_path / "out")[3].kept == 7


def test_a_build_that_is_done_asks_nothing_again(world: Small, tmp_path: Path) -> None:
    world.build(tmp_path / "out")
    before, asked = made(tmp_path / "out"), world.asked
    steps: list[str] = []
    assert world.build(tmp_path / "out", progress=lambda stage, *_: steps.append(stage)) is not None
    assert steps == []
    for stage in STAGES:
        world.build(tmp_path / "out", stage)
    assert world.asked == asked
    assert made(tmp_path / "out") == before


def test_a_wiki_that_stops_after_every_reply_gets_no_request_twice(world: Small, tmp_path: Path) -> None:
    world.build(tmp_path / "whole")
    answers = len(world.service.requests)
    world.service.behaviour = mortal = Mortal(world.standin)
    out = tmp_path / "out"
    for _ in range(answers):
        with pytest.raises(BuildError, match=r"no connection; is the address right\?|; the same command goes on later"):
            world.build(out)
        mortal.left = 1
    # It lives for the last answer, and no more is needed.
    assert world.build(out) is not None
    assert len(mortal.answered) == len(set(mortal.answered)) == answers
    assert made(out) == made(tmp_path / "whole")


class CutOffError(Exception):
    """Somebody pulled the plug."""


def cut_off_after(steps: int) -> Callable[..., None]:
    """A watcher of progress that ends the build at a later step."""
    left = iter(range(steps))

    def watch(*_: object) -> None:
        if next(left, None) is None:
            raise CutOffError

    return watch


def test_cut_off_at_any_step_it_ends_as_one_that_was_never_cut_off(world: Small, tmp_path: Path) -> None:
    steps: list[str] = []
    world.build(tmp_path / "whole", progress=lambda stage, *_: steps.append(stage))
    # Every other one, which is all kinds of them.
    for number in range(0, len(steps), 2):
        out = tmp_path / str(number)
        world.forget()
        with pytest.raises(CutOffError):
            world.build(out, progress=cut_off_after(number))
        assert STAGES[len(read_funnels(out))] == steps[number].partition(":")[0]
        had = stored(out)
        world.build(out)
        asked = Counter(world.questions())
        assert {key for key in had if asked[key] > 1} == set()
        assert made(out) == made(tmp_path / "whole")


def test_pages_with_temporary_failures_are_requested_again_with_retry(world: Small, tmp_path: Path) -> None:
    fine = dict(world.web.pages)
    world.web.pages.update({path: answer("503 Busy") for path in fine})
    with pytest.raises(BuildError, match="no name has snippets"):
        world.build(tmp_path / "out")
    world.web.pages.update(fine)
    with pytest.raises(BuildError, match="no name has snippets"):
        world.build(tmp_path / "out")
    assert world.build(tmp_path / "out", retry=True) is not None
    assert read_funnels(tmp_path / "out")[3].kept == 7
