"""One record of a foreign WARC file: where it ends, whose it is, and how large its page may be."""

from __future__ import annotations

import gzip
import logging

import pytest

from shadowprobe.build.captures.capture_choice import Capture
from shadowprobe.build.captures.captured_page import UnusableError, read_page
from shadowprobe.build.warc_record import Stored

PAGE = "https://example.org/page"
# 86,400,000,000 microseconds are a day.
CAPTURE = Capture(PAGE, "org,example)/page", 86_400_000_000, "x.warc.gz", 0, 0)
HTML = b"<html>A page.</html>"


def make_record(body: bytes = HTML, *, target: str = PAGE, length: str | None = None, fields: str = "") -> bytes:
    """A record that is not compressed, without the two line ends that follow it in a file."""
    content = f"HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\n{fields}\r\n".encode() + body
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {target}\r\n"
    said = "" if length == "" else f"Content-Length: {length or len(content)}\r\n"
    return f"{head}{said}\r\n".encode() + content


def read(content: bytes, max_bytes: int = 1000) -> Stored:
    return read_page(content, CAPTURE, max_bytes)


def refuse(content: bytes, max_bytes: int = 1000) -> str:
    with pytest.raises(UnusableError) as refused:
        read(content, max_bytes)
    return str(refused.value)


def test_a_record_is_whole_up_to_its_last_byte() -> None:
    record = make_record()
    page = read(record)
    assert (page.url, page.status, page.reason, page.body) == (PAGE, 200, "Fine", HTML)
    assert page.captured == "1970-01-02T00:00:00Z"
    assert refuse(record[:-1]) == "the record is cut short"
    assert read(record + b"\r\n\r\n").body == HTML


def test_a_record_without_a_length_is_not_known_to_be_whole() -> None:
    assert refuse(make_record(length="")) == "the record is cut short"
    assert [refuse(make_record(length=length)) for length in ("many", "-1")] == ["no record at this place"] * 2


def test_a_compressed_record_that_ends_too_early_is_cut_short_and_no_large_page() -> None:
    packed = gzip.compress(make_record(b"x" * 900, length=None))
    assert read(packed).body == b"x" * 900
    assert refuse(packed[:-9]) == "the record is cut short"
    assert refuse(gzip.compress(make_record(b"x" * 300_000))) == "too large"


@pytest.mark.parametrize("target", ["http://www.example.org/page/", "<https://example.org/page>"])
def test_another_spelling_of_the_address_is_the_same_page(target: str) -> None:
    assert read(make_record(target=target)).body == HTML


@pytest.mark.parametrize("target", ["https://example.org/other", "http://[broken"])
def test_another_address_is_another_page(target: str) -> None:
    assert refuse(make_record(target=target)) == "a record of another page"


def test_a_compressed_page_may_be_as_large_as_allowed_and_no_byte_larger() -> None:
    packed = "Content-Encoding: gzip\r\n"
    record = make_record(gzip.compress(b"x" * 5000), fields=packed)
    assert len(read(record, 5000).body) == 5000
    assert refuse(record, 4999) == "too large"
    assert refuse(make_record(gzip.compress(b"x" * 50)[:-9], fields=packed)) == "the record is cut short"


def test_a_record_that_its_crawler_has_cut_is_not_used() -> None:
    cut = make_record().replace(b"WARC-Type: response\r\n", b"WARC-Type: response\r\nWARC-Truncated: length\r\n")
    assert refuse(cut) == "the record is cut short"


def test_of_a_field_that_comes_twice_the_first_counts() -> None:
    page = read(make_record(fields="X-One: a\r\nx-one: b\r\nContent-Type: image/png\r\n"))
    assert (page.headers["x-one"], page.headers["content-type"]) == ("a", "text/html")


def test_an_address_with_a_space_writes_nothing_to_the_screen(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("warcio.recordloader")
    level = logger.level
    try:
        logger.setLevel(logging.NOTSET)
        assert refuse(make_record(target="https://example.org/a page")) == "a record of another page"
        assert caplog.records == []
    finally:
        logger.setLevel(level)
