"""Pages of an existing crawl in the archive of a build, as if they had been requested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import crawling
import pytest
from capture_world import CaptureWorld
from crawling import manners

from shadowprobe.build.archive import Archive
from shadowprobe.build.captures.fill_archive import count_captures, fill_archive
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.records import WebReference
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.warc_record import Stored
from shadowprobe.compute.executor import SerialExecutor

archive = crawling.archive
PAGE, OTHER, LOST = "https://example.org/page", "http://www.example.org/page", "https://example.org/lost"


@pytest.fixture
def world(tmp_path: Path) -> CaptureWorld:
    return CaptureWorld(tmp_path / "crawl")


def fill(world: CaptureWorld, archive: Archive, *urls: str, **options: Any) -> list[tuple[int, int]]:
    """Fills the archive from the index; returns the progress."""
    settings = BuildSettings(wiki="", name="", common_crawl=world.write_cdxj(), **options)
    references = [WebReference("Entity", url) for url in urls]
    steps: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        steps.append((done, total))

    fill_archive(references, archive, settings, manners(), progress, SerialExecutor())
    return steps


def test_a_page_is_stored_under_the_url_of_its_capture_and_the_cited_one_leads_there(
    world: CaptureWorld, archive: Archive
) -> None:
    world.add(PAGE, b"A page.")
    assert fill(world, archive, PAGE, OTHER) == [(0, 2), (1, 2), (2, 2)]
    page, lead = archive.get(f"GET {PAGE}"), archive.get(f"GET {OTHER}")
    assert page is not None
    assert lead is not None
    assert (page.url, page.status, page.body) == (PAGE, 200, b"A page.")
    assert (lead.url, lead.status, lead.headers["location"]) == (OTHER, 301, PAGE)
    entries = [archive.find(f"GET {url}") for url in (PAGE, OTHER)]
    assert [entry and entry.captured[:10] for entry in entries] == ["2024-02-21", "2024-02-21"]
    assert len(archive) == 2


def test_what_the_archive_knows_is_not_looked_up_again(world: CaptureWorld, archive: Archive) -> None:
    world.add(PAGE, b"captured")
    archive.put(f"GET {PAGE}", Stored(PAGE, 200, {"content-type": "text/html"}, b"requested"))
    assert fill(world, archive, PAGE) == []
    stored = archive.get(f"GET {PAGE}")
    assert stored is not None
    assert stored.body == b"requested"
    # A page that was requested is not the target of a capture, which keeps its own URL.
    assert fill(world, archive, OTHER) == [(0, 1), (1, 1)]
    own = archive.get(f"GET {OTHER}")
    assert own is not None
    assert (own.status, own.body) == (200, b"captured")


def test_a_capture_that_cannot_be_read_has_its_reason_and_its_page_may_be_requested(
    world: CaptureWorld, archive: Archive
) -> None:
    row = world.add(PAGE, b"A page.")
    row["warc_filename"] = "none.warc.gz"
    fill(world, archive, PAGE)
    assert archive.find(f"GET {PAGE}") is None
    assert archive.failure(f"CAPTURE {PAGE}") == "the WARC file is missing"
    # The next build does not try it again.
    assert fill(world, archive, PAGE) == []


def test_without_the_web_every_page_has_an_outcome(world: CaptureWorld, archive: Archive) -> None:
    world.add(PAGE, b"A page.")
    row = world.add("https://example.org/broken", b"x")
    row["warc_filename"] = "none.warc.gz"
    urls = (PAGE, LOST, "https://example.org/broken")
    fill(world, archive, *urls, captures_only=True)
    reasons = [archive.failure(f"GET {url}") for url in urls]
    assert reasons == ["", "no capture in the index", "the WARC file is missing"]


def test_captures_are_counted_once_for_each_followed_page(world: CaptureWorld, archive: Archive) -> None:
    world.add(PAGE, b"A page.")
    fill(world, archive, PAGE)
    urls = [PAGE, PAGE, LOST, "ftp://example.org/x"]
    references = [*(WebReference("Entity", url) for url in urls), WebReference("Entity", OTHER, is_followed=False)]
    assert count_captures(references, archive) == Funnel("captures", 2, 1, {"no capture in the index": 1})


def test_an_archive_that_is_only_read_is_not_filled(world: CaptureWorld, archive: Archive, tmp_path: Path) -> None:
    world.add(PAGE, b"A page.")
    archive.close()
    read = Archive(archive.path, software="tests", read_only=True)
    assert fill(world, read, PAGE) == []
    read.close()
