"""Records of foreign WARC files: read by place from a folder and from a server, and refused with a reason."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from capture_world import WARC, CaptureWorld, Row, serving_files
from crawling import manners

from shadowprobe.build.captures.capture_choice import Capture
from shadowprobe.build.captures.warc_files import ReadCapture, read_captures
from shadowprobe.errors import BuildError

PAGE = "https://example.org/page"
HTML = b"<html><body>A page.</body></html>"


@pytest.fixture
def world(tmp_path: Path) -> CaptureWorld:
    return CaptureWorld(tmp_path)


def make_capture(row: Row, **changed: Any) -> Capture:
    row = row | changed
    place = row["warc_record_offset"], row["warc_record_length"]
    return Capture(row["url"], row["url_surtkey"], 0, row["warc_filename"], *place)


def read(base: str | Path, capture: Capture, **changed: Any) -> ReadCapture:
    (found,) = read_captures([(PAGE, capture)], str(base), manners(**changed))
    return found


@pytest.mark.parametrize("gzipped", [True, False])
def test_a_page_is_read_from_a_folder_and_from_a_server(world: CaptureWorld, gzipped: bool) -> None:
    world.add("https://example.org/first", b"first", gzip=gzipped)
    capture = make_capture(world.add(PAGE, HTML, gzip=gzipped))
    world.add("https://example.org/last", b"last", gzip=gzipped)
    assert read(world.top, capture).page.body == HTML  # type: ignore[union-attr]
    with serving_files(world.top) as service:
        found = read(service.url, capture)
        # Without its length a record ends where it ends.
        assert read(service.url, capture._replace(length=0)).page == found.page
        last = capture.offset + capture.length - 1
        assert service.requests[0].headers["range"] == f"bytes={capture.offset}-{last}"
        assert service.requests[0].path == f"/{WARC}"
    assert found.page is not None
    assert (found.page.status, found.page.body) == (200, HTML)
    assert found.page.headers["content-type"] == "text/html; charset=utf-8"


def test_chunked_and_compressed_bodies_are_decoded(world: CaptureWorld) -> None:
    raw = gzip.compress(HTML)
    compressed = {"Content-Encoding": "gzip"}
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(raw), raw)
    bodies = (
        (raw, compressed),
        (chunked, {**compressed, "Transfer-Encoding": "chunked"}),
        # Stored decompressed, with the header field of before.
        (HTML, compressed),
    )
    for body, headers in bodies:
        assert read(world.top, make_capture(world.add(PAGE, body, headers=headers))).page.body == HTML  # type: ignore[union-attr]


Change = Callable[[CaptureWorld, Row], Capture]


def cut_file(world: CaptureWorld, row: Row) -> Capture:
    path = world.top / row["warc_filename"]
    path.write_bytes(path.read_bytes()[:-20])
    return make_capture(row)


def break_bits(world: CaptureWorld, row: Row) -> Capture:
    path = world.top / row["warc_filename"]
    content = bytearray(path.read_bytes())
    content[-12] ^= 0xFF
    path.write_bytes(content)
    return make_capture(row)


HOSTILE: dict[str, tuple[Change, str]] = {
    "a wrong offset": (lambda _, row: make_capture(row, warc_record_offset=3), "no record at this place"),
    "an offset behind the end": (lambda _, row: make_capture(row, warc_record_offset=10**9), "the record is cut short"),
    "a short length": (lambda _, row: make_capture(row, warc_record_length=50), "the record is cut short"),
    "a file that is cut off": (cut_file, "the record is cut short"),
    "a changed bit": (break_bits, "the record is cut short"),
    "a record of another URL": (lambda world, _: make_other(world), "a record of another page"),
    "a folder above": (
        lambda _, row: make_capture(row, warc_filename="../secret"),
        "a WARC file outside of its folder",
    ),
    "a path from the root": (
        lambda _, row: make_capture(row, warc_filename="/etc/passwd"),
        "a WARC file outside of its folder",
    ),
    "another server": (
        lambda _, row: make_capture(row, warc_filename="http://127.0.0.1/x"),
        "a WARC file outside of its folder",
    ),
    "a folder": (lambda _, row: make_capture(row, warc_filename="crawl-data"), "the WARC file is missing"),
    "no such file": (lambda _, row: make_capture(row, warc_filename="none.warc.gz"), "the WARC file is missing"),
    "a huge length": (lambda _, row: make_capture(row, warc_record_length=2**31 - 1), "too large"),
    "a negative offset": (lambda _, row: make_capture(row, warc_record_offset=-5), "no place in a WARC file"),
    "a large page in few bytes": (lambda world, _: make_capture(world.add(PAGE, b" " * 5_000_000)), "too large"),
    "a status without success": (
        lambda world, _: make_capture(world.add(PAGE, HTML, status=404)),
        "a record without success",
    ),
    "another type": (
        lambda world, _: make_capture(world.add(PAGE, HTML, headers={"Content-Type": "application/pdf"})),
        "not HTML: application/pdf",
    ),
    "an unknown compression": (
        lambda world, _: make_capture(world.add(PAGE, HTML, headers={"Content-Encoding": "br"})),
        "a compression that was not requested",
    ),
}


def make_other(world: CaptureWorld) -> Capture:
    other = world.add("https://example.org/other", HTML)
    return make_capture(other, url=PAGE)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_capture_that_cannot_be_used_has_a_reason_here_and_on_a_server(world: CaptureWorld, case: str) -> None:
    (world.top.parent / "secret").write_bytes(b"secret")
    change, reason = HOSTILE[case]
    capture = change(world, world.add(PAGE, HTML))
    assert (read(world.top, capture).page, read(world.top, capture).failed) == (None, reason)
    with serving_files(world.top) as service:
        found = read(service.url, capture)
    assert (found.page, found.failed) == (None, reason)


def test_a_server_that_sends_whole_files_is_not_read_to_the_end(world: CaptureWorld) -> None:
    capture = make_capture(world.add(PAGE, HTML))
    with serving_files(world.top, parts=False) as service:
        assert read(service.url, capture).failed == "the server sends no parts of files"


def test_a_server_that_is_down_ends_the_build_instead_of_asking_all_hosts(
    world: CaptureWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shadowprobe.net.parts_of_files.FIRST_PAUSE", 0.01)
    capture = make_capture(world.add(PAGE, HTML))
    with serving_files(world.top, status=503) as service:
        with pytest.raises(BuildError, match=r"the WARC files cannot be read \(503\)"):
            read(service.url, capture)
        assert len(service.requests) == 3
        url = service.url
    with pytest.raises(BuildError, match="no connection"):
        read(url, capture)


def test_a_page_as_large_as_allowed_is_read_and_one_byte_more_is_too_large(world: CaptureWorld) -> None:
    row = world.add(PAGE, HTML)
    assert read(world.top, make_capture(row), max_bytes=len(HTML)).page is not None
    assert read(world.top, make_capture(row), max_bytes=len(HTML) - 1).failed == "too large"
    # With its length unknown, so many bytes are read that any record of an allowed page is whole.
    assert read(world.top, make_capture(row, warc_record_length=0), max_bytes=len(HTML)).page is not None


def test_a_record_may_be_as_long_as_the_page_and_200_000_bytes_of_heads(world: CaptureWorld) -> None:
    row = world.add(PAGE, HTML)
    allowed = make_capture(row, warc_record_length=200_000 + 1000)
    assert read(world.top, allowed, max_bytes=1000).page is not None
    assert read(world.top, allowed, max_bytes=999).failed == "too large"


def test_no_file_is_longer_than_the_largest(world: CaptureWorld) -> None:
    row = world.add(PAGE, HTML)
    # A file system may refuse the last place of all, but it is one.
    last = read(world.top, make_capture(row, warc_record_offset=2**62 - 1)).failed
    assert last in {"the record is cut short", "the WARC file is missing"}
    assert read(world.top, make_capture(row, warc_record_offset=2**62)).failed == "no place in a WARC file"
    assert read(world.top, make_capture(row, warc_record_length=-1)).failed == "no place in a WARC file"
    assert read(world.top, make_capture(row, warc_filename="")).failed == "no place in a WARC file"


def test_many_captures_come_in_their_order_and_only_so_many_requests_are_under_way(world: CaptureWorld) -> None:
    urls = [f"https://example.org/{number}" for number in range(11)]
    chosen = [(url, make_capture(world.add(url, url.encode()))) for url in urls]
    with serving_files(world.top) as service:
        found = list(read_captures(chosen, service.url, manners(total=2)))
        assert len(service.requests) == 11
    assert [(each.url, each.page and each.page.body) for each in found] == [(url, url.encode()) for url in urls]
