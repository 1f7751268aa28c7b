"""The archive: what was stored is found again, also after a kill in the middle of a write."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.warc_record import Stored, make_response, read_response
from shadowprobe.errors import InputError, UsageError

URL = "http://example.org/"
KEY = key_of("GET", URL)


def opened(tmp_path: Path, *, read_only: bool = False) -> Archive:
    return Archive(tmp_path / "archive.warc.gz", software="tests", read_only=read_only)


def stored_in(tmp_path: Path, count: int = 1) -> None:
    archive = opened(tmp_path)
    for number in range(count):
        url = f"{URL}{number}"
        archive.put(key_of("GET", url), Stored(url, 200, {"Content-Type": "text/html"}, f"page {number}".encode()))
    archive.close()


def test_an_answer_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    archive.put(KEY, Stored(URL, 200, {"Content-Type": "text/html", "X-Kept": "yes"}, "Köln 🦆".encode(), reason="OK"))
    stored = archive.get(KEY)
    archive.close()
    assert stored is not None
    assert (stored.url, stored.status, stored.failed) == (URL, 200, "")
    assert stored.headers["content-type"] == "text/html"
    assert stored.headers["x-kept"] == "yes"
    assert stored.body.decode() == "Köln 🦆"


def test_an_archive_opened_again_knows_everything(tmp_path: Path) -> None:
    stored_in(tmp_path, 3)
    archive = opened(tmp_path)
    assert list(archive.keys()) == [f"GET {URL}{number}" for number in range(3)]
    assert len(archive) == 3
    stored = archive.get(f"GET {URL}1")
    archive.close()
    assert stored is not None
    assert stored.body == b"page 1"


def test_what_was_never_asked_is_none_and_no_failure(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    assert archive.get(KEY) is None
    assert archive.find(KEY) is None
    assert archive.failure(KEY) == ""
    assert KEY not in archive
    archive.close()


def test_a_failure_is_kept_with_its_reason(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    archive.put_failure(KEY, URL, "no such host")
    assert archive.get(KEY) == Stored(URL, 0, {}, b"", "no such host")
    archive.close()
    archive = opened(tmp_path, read_only=True)
    stored = archive.get(KEY)
    assert archive.failure(KEY) == "no such host"
    archive.close()
    assert stored is not None
    assert (stored.url, stored.failed, stored.body) == (URL, "no such host", b"")


WHAT_A_CRAWL_ASKS = {
    "http://example.org/moved": (302, {"Location": "/köln"}, (302, "/k%C3%B6ln", "text/html", "")),
    "http://example.org/page": (200, {"content-type": "Text/HTML; charset=utf-8"}, (200, "", "text/html", "")),
    "http://example.org/plan": (200, {"Content-Type": "application/pdf"}, (200, "", "application/pdf", "")),
    "http://example.org/none": (200, {}, (200, "", "", "")),
}


@pytest.mark.parametrize("index", ["kept", "lost", "without status"])
def test_what_a_crawl_asks_is_known_without_reading_the_responses(tmp_path: Path, index: str) -> None:
    archive = opened(tmp_path)
    for url, (status, headers, _) in WHAT_A_CRAWL_ASKS.items():
        archive.put(key_of("GET", url), Stored(url, status, headers, b"content"))
    archive.close()
    path = tmp_path / "archive.warc.gz.index"
    if index == "lost":
        path.unlink()
    elif index == "without status":
        # An index of an earlier version.
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text(
            "".join(json.dumps({name: line[name] for name in ("key", "offset", "length")}) + "\n" for line in lines)
        )
    archive = opened(tmp_path, read_only=True)
    for url, (_, _, expected) in WHAT_A_CRAWL_ASKS.items():
        entry = archive.find(key_of("GET", url))
        assert entry is not None
        assert (entry.status, entry.location, entry.kind, entry.failed) == expected
        if index == "kept":
            # Nothing is left to be read.
            (tmp_path / "archive.warc.gz").write_bytes(b"")
    archive.close()


def test_another_process_can_read_a_response_at_its_place(tmp_path: Path) -> None:
    stored_in(tmp_path, 2)
    archive = opened(tmp_path, read_only=True)
    place = archive.locate(f"GET {URL}1")
    archive.close()
    assert read_response(place).body == b"page 1"
    with pytest.raises(InputError, match=r"archive\.warc\.gz: the record at byte 1 is damaged"):
        read_response(place._replace(offset=1))


def test_packing_and_cookies_are_not_stored(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    archive.put(
        KEY, Stored(URL, 200, {"Content-Encoding": "gzip", "Set-Cookie": "id=1", "Content-Length": "999"}, b"four")
    )
    stored = archive.get(KEY)
    archive.close()
    assert stored is not None
    assert stored.headers == {"content-length": "4"}


def test_other_programs_can_read_the_file_and_its_digests_are_right(tmp_path: Path) -> None:
    stored_in(tmp_path, 2)
    checked = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(tmp_path / "archive.warc.gz")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
    # The record that says who made the file, and the two pages.
    assert checked.stdout.count("digest pass") == 3


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_torn_record_is_cut_off_wherever_it_was_torn(tmp_path: Path, share: float) -> None:
    warc, index = tmp_path / "archive.warc.gz", tmp_path / "archive.warc.gz.index"
    stored_in(tmp_path, 1)
    whole, lines = warc.read_bytes(), index.read_bytes()
    archive = opened(tmp_path)
    archive.put(KEY, Stored(URL, 200, {}, b"the page whose record is torn"))
    archive.close()
    torn = warc.read_bytes()[len(whole) :]
    # The index is written last, so that a kill in the middle of a record leaves it as it was.
    warc.write_bytes(whole + torn[: round(len(torn) * share)])
    index.write_bytes(lines)
    archive = opened(tmp_path)
    assert KEY not in archive
    assert warc.read_bytes() == whole
    archive.put(KEY, Stored(URL, 200, {}, b"the page again"))
    stored, first = archive.get(KEY), archive.get(f"GET {URL}0")
    archive.close()
    assert stored is not None
    assert first is not None
    assert (stored.body, first.body) == (b"the page again", b"page 0")


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("lines", [0, 1, 2, 3])
def test_what_the_index_has_lost_is_read_from_the_records(tmp_path: Path, lines: int, read_only: bool) -> None:
    post, long = key_of("POST", URL, "a=1"), key_of("GET", f"{URL}{'x' * 20_000}")
    stored_in(tmp_path, 1)
    archive = opened(tmp_path)
    archive.put(post, Stored(URL, 200, {}, b"the answer to a form"))
    archive.put_failure(long, long.removeprefix("GET "), "no answer in 30 s")
    archive.close()
    warc, index = tmp_path / "archive.warc.gz", tmp_path / "archive.warc.gz.index"
    whole, told = warc.read_bytes(), index.read_bytes()
    # The last line that is left is torn as well.
    index.write_bytes(b"".join(told.splitlines(keepends=True)[: lines + 1])[:-5])
    if not lines:
        index.unlink()
    archive = opened(tmp_path, read_only=read_only)
    assert list(archive.keys()) == [f"GET {URL}0", post, long]
    assert archive.failure(long) == "no answer in 30 s"
    page, form = archive.get(f"GET {URL}0"), archive.get(post)
    archive.close()
    assert page is not None
    assert form is not None
    assert (page.body, form.body) == (b"page 0", b"the answer to a form")
    assert warc.read_bytes() == whole
    if not read_only:
        assert index.read_bytes() == told


def test_without_an_index_only_half_a_record_at_the_end_is_cut_off(tmp_path: Path) -> None:
    stored_in(tmp_path, 2)
    warc, index = tmp_path / "archive.warc.gz", tmp_path / "archive.warc.gz.index"
    whole = warc.read_bytes()
    warc.write_bytes(whole + whole[:100])
    index.unlink()
    archive = opened(tmp_path)
    assert list(archive.keys()) == [f"GET {URL}0", f"GET {URL}1"]
    archive.close()
    assert warc.read_bytes() == whole


def test_a_file_that_is_no_archive_is_never_cut(tmp_path: Path) -> None:
    warc = tmp_path / "archive.warc.gz"
    for foreign in (b"somebody's notes " * 500, gzip.compress(hashlib.sha256().digest() * 500, 0)):
        warc.write_bytes(foreign)
        with pytest.raises(InputError, match="has no record that can be read: move it away"):
            opened(tmp_path)
        assert warc.read_bytes() == foreign


def test_a_reader_leaves_a_torn_end_alone(tmp_path: Path) -> None:
    stored_in(tmp_path, 1)
    warc = tmp_path / "archive.warc.gz"
    warc.write_bytes(warc.read_bytes() + b"half a record")
    before = warc.read_bytes()
    archive = opened(tmp_path, read_only=True)
    assert len(archive) == 1
    archive.close()
    assert warc.read_bytes() == before


def test_a_file_shorter_than_its_index_is_refused_by_a_reader_and_mended_by_a_build(tmp_path: Path) -> None:
    stored_in(tmp_path, 3)
    warc, index = tmp_path / "archive.warc.gz", tmp_path / "archive.warc.gz.index"
    lines = index.read_text().splitlines()
    warc.write_bytes(warc.read_bytes()[:-1])
    with pytest.raises(InputError, match="it is cut short; a build without --from-archive asks again"):
        opened(tmp_path, read_only=True)
    for _ in range(2):
        archive = opened(tmp_path)
        assert list(archive.keys()) == [f"GET {URL}0", f"GET {URL}1"]
        archive.close()
        # Who made the file, and the two pages that are left.
        assert index.read_text().splitlines() == lines[:3]
    stored_in(tmp_path, 3)
    archive = opened(tmp_path, read_only=True)
    assert len(archive) == 3
    archive.close()


def record_of(tmp_path: Path, key: str) -> tuple[int, int]:
    """Where a record begins and ends."""
    for line in (tmp_path / "archive.warc.gz.index").read_text().splitlines():
        entry = json.loads(line)
        if entry["key"] == key:
            return entry["offset"], entry["offset"] + entry["length"]
    raise KeyError(key)


def test_a_record_with_a_changed_bit_is_read_as_it_was_or_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stored_in(tmp_path, 3)
    warc, key = tmp_path / "archive.warc.gz", f"GET {URL}1"
    whole = warc.read_bytes()
    begin, end = record_of(tmp_path, key)
    archive = opened(tmp_path, read_only=True)
    right = archive.get(key)
    unseen, said = 0, set()
    for place in range(begin, end):
        content = bytearray(whole)
        content[place] ^= 1 << place % 8
        warc.write_bytes(content)
        try:
            assert archive.get(key) == right
            unseen += 1
        except InputError as error:
            said.add(str(error))
        assert archive.get(f"GET {URL}2") is not None
    archive.close()
    # Nobody reads the time and the system in gzip's head, nor what fills the last byte before its checksum: of these
    # and the flags at most 8 bytes change nothing.
    assert unseen <= 8
    (message,) = said
    assert f"the record at byte {begin} is damaged: remove archive.warc.gz.index" in message
    assert capfd.readouterr() == ("", "")


def test_a_build_without_its_index_keeps_what_is_whole_beside_a_damaged_record(tmp_path: Path) -> None:
    stored_in(tmp_path, 3)
    warc, index = tmp_path / "archive.warc.gz", tmp_path / "archive.warc.gz.index"
    begin, end = record_of(tmp_path, f"GET {URL}1")
    content = bytearray(warc.read_bytes())
    content[(begin + end) // 2] ^= 1
    warc.write_bytes(content)
    index.unlink()
    with pytest.raises(InputError, match=f"the record at byte {begin} is damaged"):
        opened(tmp_path, read_only=True)
    archive = opened(tmp_path)
    assert list(archive.keys()) == [f"GET {URL}0", f"GET {URL}2"]
    archive.close()
    assert warc.read_bytes() == content


def test_a_body_that_does_not_fit_its_digest_is_damaged(tmp_path: Path) -> None:
    stored_in(tmp_path, 1)
    warc = tmp_path / "archive.warc.gz"
    begin, _ = record_of(tmp_path, f"GET {URL}0")
    content = warc.read_bytes()
    other = gzip.compress(gzip.decompress(content[begin:]).replace(b"page 0", b"page 1"))
    warc.write_bytes(content[:begin] + other)
    (tmp_path / "archive.warc.gz.index").unlink()
    archive = opened(tmp_path)
    with pytest.raises(InputError, match=f"the record at byte {begin} is damaged"):
        archive.get(f"GET {URL}0")
    archive.close()


def test_an_index_that_leads_to_the_answer_of_another_question_is_seen(tmp_path: Path) -> None:
    stored_in(tmp_path, 2)
    index = tmp_path / "archive.warc.gz.index"
    index.write_text(index.read_text().replace(f"{URL}0", f"{URL}new"))
    archive = opened(tmp_path, read_only=True)
    with pytest.raises(InputError, match=r"is damaged: remove archive\.warc\.gz\.index"):
        archive.get(f"GET {URL}new")
    archive.close()


def test_what_a_server_says_beyond_ascii_is_stored(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    archive.put(KEY, Stored(URL, 302, {"Location": "http://example.org/köln?a=ä b"}, b"", reason="Déplacé"))
    stored = archive.get(KEY)
    archive.close()
    assert stored is not None
    assert (stored.status, stored.headers["location"]) == (302, "http://example.org/k%C3%B6ln?a=%C3%A4 b")


def test_the_later_answer_to_a_question_counts(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    archive.put_failure(KEY, URL, "503")
    archive.put(KEY, Stored(URL, 200, {}, b"a page"))
    archive.close()
    for index in (True, False):
        if not index:
            (tmp_path / "archive.warc.gz.index").unlink()
        archive = opened(tmp_path, read_only=True)
        stored = archive.get(KEY)
        archive.close()
        assert stored is not None
        assert (stored.failed, stored.body) == ("", b"a page")


def test_an_archive_that_is_only_read_takes_nothing(tmp_path: Path) -> None:
    stored_in(tmp_path)
    archive = opened(tmp_path, read_only=True)
    with pytest.raises(UsageError, match="is only read here"):
        archive.put_failure(KEY, URL, "404")
    archive.close()


def test_an_archive_to_read_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such archive"):
        opened(tmp_path, read_only=True)
    (tmp_path / "archive.warc.gz.index").touch()
    with pytest.raises(InputError, match="cannot be opened"):
        opened(tmp_path, read_only=True)


def test_two_builds_do_not_write_to_one_archive(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    with pytest.raises(UsageError, match="another shadowprobe"):
        opened(tmp_path)
    archive.close()


FULL = """
import resource, sys
from pathlib import Path
from shadowprobe.build.archive import Archive
from shadowprobe.build.warc_record import Stored
from shadowprobe.errors import UsageError
archive = Archive(Path(sys.argv[1]), software="tests")
archive.put("GET http://example.org/0", Stored("http://example.org/0", 200, {}, b"page 0"))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    archive.put("GET http://example.org/1", Stored("http://example.org/1", 200, {}, bytes.fromhex(sys.argv[2])))
except UsageError as error:
    print(error)
archive.close()
"""


def test_a_full_disk_is_said_in_one_line_and_loses_nothing_else(tmp_path: Path) -> None:
    # Not to be packed into the 4,096 bytes that the file may have.
    large = b"".join(hashlib.sha256(bytes([number])).digest() for number in range(256)).hex()
    command = [sys.executable, "-c", FULL, str(tmp_path / "archive.warc.gz"), large]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "archive.warc.gz: cannot be written (File too large)" in done.stdout
    archive = opened(tmp_path)
    assert list(archive.keys()) == [f"GET {URL}0"]
    archive.close()


def test_questions_with_different_bodies_are_different() -> None:
    assert key_of("GET", URL) == f"GET {URL}"
    assert key_of("POST", URL, "a=1") != key_of("POST", URL, "a=2")
    assert key_of("POST", URL, "a=1") == key_of("POST", URL, b"a=1")


def test_other_processes_write_between_release_and_refresh(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    archive.put(KEY, Stored(URL, 200, {}, b"old"))
    archive.release()
    other = opened(tmp_path)
    other.put(key_of("GET", f"{URL}more"), Stored(f"{URL}more", 200, {}, b"more"))
    other.put(KEY, Stored(URL, 200, {}, b"new"))
    other.close()
    # A worker that was killed has written a record without its line, and half of another record.
    path = tmp_path / "archive.warc.gz"
    record = make_response("GET http://example.org/last", Stored("http://example.org/last", 200, {}, b"last"))
    with path.open("ab") as file:
        file.write(record + record[:20])
    archive.refresh()
    found = {key: archive.get(key) for key in archive.keys()}  # noqa: SIM118
    expected = {KEY: b"new", f"{KEY}more": b"more", "GET http://example.org/last": b"last"}
    assert {key: stored.body for key, stored in found.items() if stored is not None} == expected
    archive.put(KEY, Stored(URL, 200, {}, b"newest"))
    archive.close()
    again = opened(tmp_path)
    stored = again.get(KEY)
    assert stored is not None
    assert (stored.body, len(again)) == (b"newest", 3)
    again.close()


def test_an_archive_that_became_shorter_is_read_again_as_a_whole(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    for number in range(3):
        archive.put(f"{KEY}{number}", Stored(f"{URL}{number}", 200, {}, b"page"))
    place = archive.locate(f"{KEY}1")
    archive.release()
    path = tmp_path / "archive.warc.gz"
    with path.open("ab") as file:
        file.truncate(place.offset)
    archive.refresh()
    assert list(archive.keys()) == [f"{KEY}0"]
    archive.close()


def test_a_patient_process_waits_for_the_lock(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    with pytest.raises(UsageError, match="another shadowprobe is building into"):
        opened(tmp_path)
    timer = threading.Timer(0.5, archive.close)
    timer.start()
    Archive(tmp_path / "archive.warc.gz", software="tests", patience=30).close()
    timer.join()


def test_a_file_as_short_as_a_first_record_is_begun_again_and_a_longer_one_is_not_ours(tmp_path: Path) -> None:
    warc = tmp_path / "archive.warc.gz"
    warc.write_bytes(b"x" * 4096)
    opened(tmp_path).close()
    assert warc.read_bytes().startswith(b"\x1f\x8b")
    for path in tmp_path.iterdir():
        path.unlink()
    warc.write_bytes(b"x" * 4097)
    with pytest.raises(InputError, match="move it away"):
        opened(tmp_path)
    assert warc.read_bytes() == b"x" * 4097
