"""An archive on a storage that takes whole files only: an FTP server on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from ftp_storage import Ftp, serving_ftp

from shadowprobe.build import segments, storage
from shadowprobe.build.archive import key_of
from shadowprobe.build.segments import Segments
from shadowprobe.build.shards import Shards, open_pages
from shadowprobe.build.warc_record import Stored, read_response
from shadowprobe.errors import BuildError, InputError, UsageError

URLS = [f"http://host{number}.example/" for number in range(9)]


@pytest.fixture(scope="module")
def ftp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ftp]:
    with serving_ftp(tmp_path_factory.mktemp("ftp")) as served:
        yield served


@pytest.fixture
def place(ftp: Ftp, tmp_path: Path) -> str:
    """A folder of the storage for this test."""
    return f"{ftp.url}/{tmp_path.name}"


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(segments, "PATIENCE", 0.0)


def page(url: str, text: str = "a page") -> Stored:
    return Stored(url, 200, {"content-type": "text/html"}, f"{text} of {url}".encode())


def put(archive: Segments | Shards, *urls: str, text: str = "a page") -> None:
    for url in urls:
        archive.put(key_of("GET", url), page(url, text))


def bodies(archive: Segments | Shards) -> dict[str, str]:
    found = {key.split(" ")[1]: archive.get(key) for key in archive.keys()}  # noqa: SIM118
    return {url: stored.body.decode() for url, stored in found.items() if stored is not None}


def opened(place: str, *, read_only: bool = False) -> Segments:
    return Segments(f"{place}/web-0-of-1", software="tests", read_only=read_only)


def test_what_one_process_has_stored_another_one_reads(place: str) -> None:
    with closing(opened(place)) as archive:
        put(archive, *URLS[:2])
        archive.put_failure("GET http://gone.example/", "http://gone.example/", "404")
        # It is read before it is written to the storage too.
        assert bodies(archive) == {**{url: f"a page of {url}" for url in URLS[:2]}, "http://gone.example/": ""}
    with closing(opened(place, read_only=True)) as again:
        assert bodies(again) == {**{url: f"a page of {url}" for url in URLS[:2]}, "http://gone.example/": ""}
        assert again.failure("GET http://gone.example/") == "404"
        stored = read_response(again.locate(key_of("GET", URLS[1])))
        assert stored.body.decode() == f"a page of {URLS[1]}"
        with pytest.raises(UsageError, match="is only read here"):
            put(again, URLS[2])
        with pytest.raises(InputError, match="lacks `GET http://never"):
            again.locate("GET http://never.example/")


def test_files_are_written_when_they_are_full_and_are_never_changed(
    ftp: Ftp, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MOST_RECORDS", 4)
    before = len(ftp.files)
    with closing(opened(place)) as archive:
        put(archive, *URLS)
        # Each file has a record that says who made it, and four pages.
        assert len(ftp.files) - before == 2 * 2
        with closing(opened(place)) as other:
            assert sorted(bodies(other)) == URLS[:8]
    names = ftp.files[before:]
    # First the records, then their index; the last page is in a third file.
    assert [name.endswith(".index") for name in names] == [False, True] * 3
    assert len(set(names)) == 6
    assert [Path(name).name[:6] for name in names[::2]] == ["000000", "000001", "000002"]


@pytest.mark.parametrize(("limit", "value"), [("MOST_BYTES", 10), ("MOST_SECONDS", -1.0)])
def test_large_and_old_records_are_written_at_once(
    ftp: Ftp, place: str, monkeypatch: pytest.MonkeyPatch, limit: str, value: float
) -> None:
    monkeypatch.setattr(segments, limit, value)
    archive, before = opened(place), len(ftp.files)
    put(archive, URLS[0])
    assert len(ftp.files) - before == 2


def test_a_process_that_dies_loses_only_what_was_not_written(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "MOST_RECORDS", 2)
    dead = opened(place)
    put(dead, *URLS[:3])
    with closing(opened(place)) as archive:
        assert sorted(bodies(archive)) == URLS[:2]
        put(archive, URLS[2])
    with closing(opened(place)) as archive:
        assert sorted(bodies(archive)) == URLS[:3]


def test_a_file_without_its_index_does_not_count_and_a_cut_index_only_as_far_as_it_goes(ftp: Ftp, place: str) -> None:
    with closing(opened(place)) as archive:
        put(archive, *URLS[:3])
    (index,) = (ftp.folder / place.rpartition("/")[2] / "web-0-of-1").glob("*.index")
    index.write_bytes(index.read_bytes()[:-10])
    with closing(opened(place)) as archive:
        assert sorted(bodies(archive)) == URLS[:2]
    index.write_bytes(b"{}\n")
    with pytest.raises(InputError, match=r"\.index: .*remove this file and its records"):
        opened(place)
    index.unlink()
    with closing(opened(place)) as archive:
        assert bodies(archive) == {}


def test_a_damaged_record_is_an_error_that_names_its_file(ftp: Ftp, place: str) -> None:
    with closing(opened(place)) as archive:
        put(archive, *URLS[:2])
    (file,) = (ftp.folder / place.rpartition("/")[2] / "web-0-of-1").glob("*.warc.gz")
    content = file.read_bytes()
    file.write_bytes(content[:-20] + b"x" * 20)
    with (
        closing(opened(place)) as archive,
        pytest.raises(InputError, match=r"000000-\w+\.warc\.gz: the record at byte"),
    ):
        archive.get(key_of("GET", URLS[1]))


def test_an_archive_sees_what_others_write_only_after_a_refresh(place: str) -> None:
    with closing(opened(place)) as driver:
        put(driver, URLS[0])
        driver.release()
        with closing(opened(place)) as worker:
            put(worker, URLS[1])
            put(worker, URLS[0], text="a newer page")
        assert sorted(bodies(driver)) == URLS[:1]
        driver.refresh()
        assert bodies(driver) == {URLS[0]: f"a newer page of {URLS[0]}", URLS[1]: f"a page of {URLS[1]}"}
        put(driver, URLS[2])
    with closing(opened(place)) as again:
        assert sorted(bodies(again)) == URLS[:3]


def test_a_worker_waits_if_another_one_did_not_say_that_it_is_done(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("shadowprobe.build.segments.time.sleep", pauses.append)
    first = opened(place)
    first.claim()
    first.close()
    second = opened(place)
    second.claim()
    assert pauses == []
    opened(place).claim()
    assert pauses == [segments.PATIENCE]


def test_shards_on_a_storage_keep_their_number_and_all_pages_of_a_host_are_in_one(ftp: Ftp, place: str) -> None:
    with closing(open_pages(f"{place}/web.warc.gz", software="tests", fewest=3)) as archive:
        assert isinstance(archive, Shards)
        put(archive, *URLS)
        archive.flush()
        assert {archive.locate(key_of("GET", url)).path for url in URLS[:1]} <= {
            f"{place}/{Path(name).parent.name}/{Path(name).name}" for name in ftp.files
        }
    with closing(open_pages(f"{place}/web.warc.gz", software="tests", fewest=7, read_only=True)) as again:
        assert isinstance(again, Shards)
        assert again.place.count == 3
        assert again.path == f"{place}/web.warc.gz"
        assert sorted(bodies(again)) == URLS


def test_a_reader_refuses_a_storage_without_an_archive(place: str) -> None:
    with pytest.raises(InputError, match="no such archive: a build without --from-archive makes it"):
        open_pages(f"{place}/web.warc.gz", software="tests", read_only=True)


def test_a_storage_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    with serving_ftp(tmp_path) as served:
        archive = Segments(f"{served.url}/web-0-of-1", software="tests")
        put(archive, URLS[0])
    with pytest.raises(
        BuildError, match=r"^--storage ftp://127\.0\.0\.1:\d+/.*; once it works, the same command conti"
    ):
        archive.flush()


def test_a_connection_that_the_server_has_closed_is_made_again(tmp_path: Path) -> None:
    with serving_ftp(tmp_path) as served:
        storage.write_file(f"{served.url}/a/b", b"content")
        storage._connect(served.url).ftp.sock.close()
        assert storage.read_file(f"{served.url}/a/b", 2, 5) == b"nte"
        assert storage.list_names(f"{served.url}/a") == ["b"]
        assert storage.list_names(f"{served.url}/none") == []
