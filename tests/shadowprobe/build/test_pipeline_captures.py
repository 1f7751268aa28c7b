"""A build that takes pages from an existing crawl, and requests only what this crawl does not have."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from build_world import FUNNELS, SAID, Small, made, page, small
from capture_world import WARC, CaptureWorld, serving_files
from warcio.archiveiterator import ArchiveIterator

from shadowprobe.build.funnel import Funnel
from shadowprobe.build.status import read_funnels
from shadowprobe.compute.executor import make_executor
from shadowprobe.errors import BuildError, UsageError

# Days of the captures; /gone is dead on the web, and the crawl has it from before.
DAYS = {"/bridge": "2023-05-01", "/gone": "2023-06-01", "/mount": "2024-02-21", "/tarn": "2024-02-22"}
NOT_FOUND = "no capture in the index"


@pytest.fixture(scope="module")
def world() -> Iterator[Small]:
    with small() as running:
        yield running


@pytest.fixture
def captured(world: Small, tmp_path: Path) -> CaptureWorld:
    """A crawl that has four pages, one of them as HTML of an old charset."""
    world.forget()
    crawl = CaptureWorld(tmp_path / "crawl")
    for path, day in DAYS.items():
        body = page(*SAID.get(path, ["Nobody is named here, and nothing that has a name."])).partition(b"\r\n\r\n")[2]
        crawl.add(world.web.url(path), body, day)
    return crawl


def requested(world: Small) -> set[str]:
    return set(world.web.paths())


def test_only_pages_that_the_crawl_lacks_are_requested(world: Small, captured: CaptureWorld, tmp_path: Path) -> None:
    world.build(tmp_path / "plain")
    world.forget()
    dataset = world.build(tmp_path / "out", common_crawl=captured.write_table())
    assert requested(world) == {"/hall", "/railway", "/ship", "/orrin", "/pell"}
    plain, out = made(tmp_path / "plain"), made(tmp_path / "out")
    for name in ("top.jsonl", "shadow.jsonl", "tail.jsonl", "entities.jsonl", "build/cuts.jsonl"):
        assert out[name] == plain[name]
    assert dataset is not None


def test_the_card_says_what_came_from_where_and_when(world: Small, captured: CaptureWorld, tmp_path: Path) -> None:
    out = tmp_path / "out"
    world.build(out, common_crawl=captured.write_table())
    card: dict[str, Any] = json.loads((out / "dataset.json").read_text())
    # Snippets are from /bridge, /mount and /tarn, and from /hall, /railway and /ship.
    assert card["build"]["pages"] == {
        "captured": {
            "pages": 3,
            "first": "2023-05-01",
            "last": "2024-02-22",
            "months": {"2023-05": 1, "2024-02": 2},
        },
        "requested": {"pages": 3},
    }
    assert card["build"]["settings"]["common_crawl"] == "cc-index"
    # Eight pages without that of the tail; /gone is a page again.
    captures = Funnel("captures", 8, 3, {NOT_FOUND: 5})
    assert read_funnels(out)[3:5] == [captures, Funnel("crawl", 8, 8)]
    assert [each["stage"] for each in card["build"]["funnel"]][2:5] == ["references", "captures", "crawl"]


def test_the_archive_has_the_page_with_the_date_of_its_capture(
    world: Small, captured: CaptureWorld, tmp_path: Path
) -> None:
    world.build(tmp_path / "out", "spaces", common_crawl=captured.write_table())
    for stage in ("commonness", "references", "crawl"):
        world.build(tmp_path / "out", stage, common_crawl=captured.write_table())
    with (tmp_path / "out/build/archive/web.warc.gz").open("rb") as file:
        dates = {
            record.rec_headers.get_header("WARC-Target-URI"): record.rec_headers.get_header("WARC-Date")
            for record in ArchiveIterator(file, check_digests="raise")
            if record.rec_type == "response"
        }
    assert dates[world.web.url("/bridge")] == "2023-05-01T12:30:00Z"
    assert dates[world.web.url("/hall")] > "2024"


def test_the_archive_is_enough_to_repeat_the_build_though_its_index_is_lost(
    world: Small, captured: CaptureWorld, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    settings: dict[str, Any] = {"common_crawl": captured.write_table(), "captured_before": "2024-02-22"}
    world.build(out, **settings)
    before = made(out)
    shutil.rmtree(captured.top)
    # The captures are known from the records alone.
    (out / "build/archive/web.warc.gz.index").unlink()
    world.forget()
    with make_executor(workers=2) as executor:
        world.build(out, from_archive=True, executor=executor, **settings)
    assert made(out) == before
    assert world.asked == 0


class CutOffError(Exception):
    """Somebody pulled the plug."""


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_build_that_is_killed_among_captures_goes_on_to_the_same_bytes(
    world: Small, captured: CaptureWorld, tmp_path: Path, after: int
) -> None:
    index = captured.write_table()

    def stop(work: str, done: int, _: int | None) -> None:
        if work == "captures" and done == after:
            raise CutOffError

    with pytest.raises(CutOffError):
        world.build(tmp_path / "out", common_crawl=index, progress=stop)
    assert requested(world) == set()
    world.build(tmp_path / "out", common_crawl=index)
    world.build(tmp_path / "whole", common_crawl=index)
    assert made(tmp_path / "out") == made(tmp_path / "whole")


def test_a_capture_that_cannot_be_read_is_counted_and_its_page_is_requested(
    world: Small, captured: CaptureWorld, tmp_path: Path
) -> None:
    bridge, _, mount, _ = captured.rows
    bridge["warc_record_offset"] += 1
    mount["warc_filename"] = "../elsewhere.warc.gz"
    index = captured.write_table()
    for _ in range(2):
        world.build(tmp_path / "out", common_crawl=index)
        counts = {"no record at this place": 1, "a WARC file outside of its folder": 1, NOT_FOUND: 5}
        assert read_funnels(tmp_path / "out")[3] == Funnel("captures", 8, 1, dict(sorted(counts.items())))
        assert {"/bridge", "/mount"} <= requested(world)
        # The second build reads the reasons from the archive.
        shutil.copytree(tmp_path / "out/build/archive", tmp_path / "kept")
        shutil.rmtree(tmp_path / "out")
        shutil.move(tmp_path / "kept", tmp_path / "out/build/archive")


def test_pages_that_the_crawl_lacks_can_be_left_out(world: Small, captured: CaptureWorld, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no name has snippets"):
        world.build(
            tmp_path / "out", common_crawl=captured.write_table(), captures_only=True, captured_before="2023-06-02"
        )
    assert world.web.asked == []
    assert read_funnels(tmp_path / "out")[3:5] == [
        Funnel("captures", 8, 2, {NOT_FOUND: 6}),
        Funnel("crawl", 8, 2, {NOT_FOUND: 6}),
    ]


def test_warc_files_of_a_server_and_another_spelling_of_the_url(
    world: Small, captured: CaptureWorld, tmp_path: Path
) -> None:
    captured.rows.clear()
    body = page(*SAID["/bridge"]).partition(b"\r\n\r\n")[2]
    spelling = world.web.url("/Bridge/")
    captured.add(spelling, body)
    lines = captured.write_cdxj()
    with serving_files(captured.top) as served:
        world.build(tmp_path / "out", common_crawl=lines, warc_base=served.url)
        assert [asked.path for asked in served.requests] == [f"/{WARC}"]
    assert not {"/bridge", "/Bridge/"} & requested(world)
    crawled = [json.loads(line) for line in (tmp_path / "out/build/crawled.jsonl").read_text().splitlines()]
    assert crawled[0] == {
        "url": world.web.url("/bridge"),
        "page": f"GET {spelling}",
        "captured": "2024-02-21T12:30:00Z",
    }


def test_an_index_that_does_not_exist_is_refused_before_the_wiki_is_asked(world: Small, tmp_path: Path) -> None:
    world.forget()
    with pytest.raises(UsageError, match="--common-crawl"):
        world.build(tmp_path / "out", common_crawl=str(tmp_path / "none"))
    assert world.asked == 0


def test_a_build_without_a_crawl_has_the_same_counts_as_before(world: Small, tmp_path: Path) -> None:
    world.build(tmp_path / "out")
    assert read_funnels(tmp_path / "out") == FUNNELS
    assert "pages" not in json.loads((tmp_path / "out/dataset.json").read_text())["build"]
