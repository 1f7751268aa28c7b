"""An archive in several files is one archive, and the pages of a host are in one file."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from build_world import made, small
from crawling import crawl, manners, references, short_pauses
from web_pages import html, web

from shadowprobe.build import shards
from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.shards import PageArchive, ShardPlace, Shards, open_pages
from shadowprobe.build.storage import list_names
from shadowprobe.build.warc_record import Stored
from shadowprobe.errors import InputError

__all__ = ["short_pauses"]
URLS = [f"http://host{host}.example/{page}" for host in range(12) for page in range(3)]


def opened(path: Path, *, pages: int = 0, read_only: bool = False) -> PageArchive:
    return open_pages(path / "web.warc.gz", software="tests", pages=pages, read_only=read_only)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with closing(Shards(ShardPlace(str(tmp_path / "web.warc.gz"), 4, "tests"))) as archive:
        for url in URLS:
            archive.put(key_of("GET", url), Stored(url, 200, {"Content-Type": "text/html"}, f"page {url}".encode()))
        archive.put_failure("GET http://gone.example/", "http://gone.example/", "404")
    return tmp_path


def test_what_was_stored_is_found_in_any_of_the_files(filled: Path) -> None:
    with closing(opened(filled, read_only=True)) as archive:
        assert isinstance(archive, Shards)
        assert sorted(archive.keys()) == sorted([*(key_of("GET", url) for url in URLS), "GET http://gone.example/"])
        for url in URLS:
            stored, entry = archive.get(key_of("GET", url)), archive.find(key_of("GET", url))
            assert stored is not None
            assert entry is not None
            assert (stored.body.decode(), entry.status) == (f"page {url}", 200)
        assert archive.failure("GET http://gone.example/") == "404"
        assert archive.find("GET http://host1.example/unknown") is None


def test_all_pages_of_a_host_are_in_one_file_and_the_hosts_in_several(filled: Path) -> None:
    files = {path.name for path in filled.glob("*.warc.gz")}
    assert files == {f"web-{number}-of-4.warc.gz" for number in range(4)}
    with closing(opened(filled, read_only=True)) as archive:
        places = {url: Path(archive.locate(key_of("GET", url)).path).name for url in URLS}
    by_host = [{places[url] for url in URLS[first : first + 3]} for first in range(0, len(URLS), 3)]
    assert all(len(of_host) == 1 for of_host in by_host)
    assert len(set().union(*by_host)) > 1


def test_an_archive_keeps_its_number_of_files(filled: Path, tmp_path: Path) -> None:
    for pages in (0, 10 * shards.PAGES_PER_SHARD):
        with closing(opened(filled, pages=pages)) as archive:
            assert len(list(archive.keys())) == len(URLS) + 1


@pytest.mark.parametrize(
    ("pages", "files"),
    [(0, 1), (200_000, 1), (200_001, 2), (1_000_000, 5), (1_000_000_000, 64)],
)
def test_a_new_archive_has_a_file_for_so_many_pages(tmp_path: Path, pages: int, files: int) -> None:
    with closing(opened(tmp_path, pages=pages)):
        names = sorted(path.name for path in tmp_path.glob("*.warc.gz"))
    assert len(names) == files
    assert files > 1 or names == ["web.warc.gz"]


def opened_remote(tmp_path: Path, *, read_only: bool = False, fewest: int = 1) -> Shards:
    """Opens an archive on a storage that is not a file system."""
    path = f"memory://{tmp_path.name}/web.warc.gz"
    archive = open_pages(path, software="tests", read_only=read_only, fewest=fewest)
    assert isinstance(archive, Shards)
    return archive


def test_a_remote_archive_is_a_folder_for_each_of_its_parts_and_keeps_their_number(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"web\.warc\.gz: no such archive: a build without --from-archive makes it"):
        opened_remote(tmp_path, read_only=True)
    with closing(opened_remote(tmp_path, fewest=3)) as archive:
        for url in URLS:
            archive.put(key_of("GET", url), Stored(url, 200, {}, b"page"))
    assert set(list_names(f"memory://{tmp_path.name}")) == {f"web-{number}-of-3" for number in range(3)}
    for read_only in (True, False):
        with closing(opened_remote(tmp_path, read_only=read_only)) as again:
            assert (again.place.count, len(again), again.read_only) == (3, len(URLS), read_only)


def test_what_waits_in_memory_is_seen_by_others_when_it_is_flushed_or_released(tmp_path: Path) -> None:
    with closing(opened_remote(tmp_path)) as archive, closing(opened_remote(tmp_path)) as other:
        for url, hand_over in zip(URLS, (archive.flush, archive.release), strict=False):
            archive.put(key_of("GET", url), Stored(url, 200, {}, b"page"))
            other.refresh()
            assert other.find(key_of("GET", url)) is None
            hand_over()
            other.refresh()
            assert other.find(key_of("GET", url)) is not None


def test_a_worker_notes_that_it_writes_until_it_is_done(tmp_path: Path) -> None:
    place = opened_remote(tmp_path, fewest=2).place
    folders = [f"memory://{tmp_path.name}/web-{number}-of-2" for number in range(2)]
    with closing(Shards(place)):
        assert [list_names(folder) for folder in folders] == [[], []]
    with closing(Shards(place, only=[1])):
        assert [list_names(folder) for folder in folders] == [[], ["begun"]]
    assert [list_names(folder) for folder in folders] == [[], []]


def test_an_archive_of_one_file_stays_one(tmp_path: Path) -> None:
    with closing(Archive(tmp_path / "web.warc.gz", software="tests")) as archive:
        archive.put("GET http://a.example/", Stored("http://a.example/", 200, {}, b"old"))
    with closing(opened(tmp_path, pages=10 * shards.PAGES_PER_SHARD)) as again:
        stored = again.get("GET http://a.example/")
    assert stored is not None
    assert stored.body == b"old"
    assert [path.name for path in tmp_path.glob("*.warc.gz")] == ["web.warc.gz"]


def test_a_lost_file_is_refused_by_a_reader_and_made_again_by_a_build(filled: Path) -> None:
    for path in filled.glob("web-1-of-4.warc.gz*"):
        path.unlink()
    with pytest.raises(
        InputError, match=r"web-1-of-4\.warc\.gz: no such archive: a build without --from-archive makes"
    ):
        opened(filled, read_only=True)
    with closing(opened(filled)) as archive:
        assert 0 < len(list(archive.keys())) < len(URLS)


def test_a_crawl_into_several_files_continues_without_a_request(tmp_path: Path) -> None:
    with web({f"/{number}": html("<p>A page.</p>") for number in range(4)}, hosts=3) as served:
        urls = [served.url(f"/{number}", host) for number in range(4) for host in (1, 2, 3)]
        with closing(Shards(ShardPlace(str(tmp_path / "web.warc.gz"), 3, "tests"))) as archive:
            first = list(crawl(references(*urls), archive, manners()))
        asked = len(served.asked)
        with closing(opened(tmp_path)) as archive:
            assert list(crawl(references(*urls), archive, manners())) == first
        assert len(served.asked) == asked
    assert [found.failed for found in first] == [""] * len(urls)


def test_a_large_build_has_several_files_and_the_same_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small() as world:
        world.build(tmp_path / "one")
        monkeypatch.setattr(shards, "PAGES_PER_SHARD", 3)
        world.build(tmp_path / "several")
        again = tmp_path / "several"
        # 14 references need five files of three pages.
        assert len(list((again / "build" / "archive").glob("web-*-of-*.warc.gz"))) > 1
        assert made(again) == made(tmp_path / "one")
        world.build(again, from_archive=True)
        assert made(again) == made(tmp_path / "one")
