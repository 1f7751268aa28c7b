"""One record of an archive: what is written of a response, and what is read again."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from shadowprobe.build.warc_record import (
    RecordPlace,
    Stored,
    decompress_record,
    make_failure,
    make_info,
    make_response,
    parse_any,
    parse_response,
    read_member,
    read_response,
)
from shadowprobe.errors import InputError

URL = "http://example.org/"
KEY = f"GET {URL}"
RESPONSE = Stored(URL, 200, {"Content-Type": "text/html"}, b"A page.", reason="OK")


def show(record: bytes) -> list[str]:
    """The lines of a record, decompressed."""
    return gzip.decompress(record).decode().split("\r\n")


def test_a_response_is_read_as_it_was_stored() -> None:
    stored = parse_response(decompress_record(make_response(KEY, RESPONSE)), KEY)
    headers = {"content-type": "text/html", "content-length": "7"}
    assert stored == Stored(URL, 200, headers, b"A page.")
    # It is the answer to no other request.
    assert parse_response(decompress_record(make_response(KEY, RESPONSE)), "GET http://other.example/") is None


def test_what_was_true_only_on_the_way_is_not_stored() -> None:
    fields = ("Content-Encoding", "transfer-encoding", "Content-Length", "Connection", "Set-Cookie")
    lines = show(make_response(KEY, RESPONSE._replace(headers={**dict.fromkeys(fields, "x"), "X-Own": "Zürich"})))
    begin = lines.index("HTTP/1.1 200 OK")
    assert lines[begin : begin + 5] == ["HTTP/1.1 200 OK", "X-Own: Z%C3%BCrich", "Content-Length: 7", "", "A page."]


def test_a_status_may_have_no_reason_or_one_beyond_ascii() -> None:
    assert "HTTP/1.1 204" in show(make_response(KEY, RESPONSE._replace(status=204, reason="")))
    assert "HTTP/1.1 200 Sch?n" in show(make_response(KEY, RESPONSE._replace(reason="Schön")))


def test_a_captured_page_has_the_date_of_its_capture() -> None:
    moment = "2020-01-02T03:04:05Z"
    record = make_response(KEY, RESPONSE._replace(captured=moment))
    assert show(record).count(f"WARC-Date: {moment}") == 1
    found = parse_any(decompress_record(record))
    assert found is not None
    assert (found[0], found[1].captured, found[1].status) == (KEY, moment, 200)
    assert not any(moment in line for line in show(make_response(KEY, RESPONSE)))


def test_a_failure_and_the_maker_of_a_file_are_records_too() -> None:
    assert parse_any(decompress_record(make_failure(KEY, URL, "no answer"))) == (
        KEY,
        Stored(URL, 0, {}, b"", "no answer"),
    )
    found = parse_any(decompress_record(make_info("web.warc.gz", "tests/1")))
    assert found is not None
    assert (found[0], found[1].failed) == ("warcinfo", "")
    assert "WARC-Filename: web.warc.gz" in show(make_info("web.warc.gz", "tests/1"))


@pytest.mark.parametrize("record", [make_response(KEY, RESPONSE), make_failure(KEY, URL, "no answer")])
def test_a_changed_content_is_seen_by_its_digest(record: bytes) -> None:
    content = gzip.decompress(record)
    changed = content.replace(b"A page.", b"B page.").replace(b"no answer", b"an answer")
    assert changed != content
    assert parse_response(changed, KEY) is None
    if b"an answer" in changed:
        assert parse_any(changed) is None
    assert parse_any(b"no record") is None


def test_records_are_read_one_by_one_from_their_places(tmp_path: Path) -> None:
    path = tmp_path / "web.warc.gz"
    # Larger than what is read at once, and not to be compressed.
    first = make_response(KEY, RESPONSE._replace(body=os.urandom(200_000)))
    second = make_response(KEY, RESPONSE)
    path.write_bytes(first + second)
    with path.open("rb") as file:
        assert read_member(file.fileno(), 0) == (gzip.decompress(first), len(first))
        assert read_member(file.fileno(), len(first)) == (gzip.decompress(second), len(first) + len(second))
        assert read_member(file.fileno(), 1) == (b"", 0)
        assert read_member(file.fileno(), len(first) + len(second)) == (b"", 0)
    place = RecordPlace(str(path), len(first), len(second), KEY)
    assert read_response(place).body == b"A page."
    with pytest.raises(InputError, match=rf"the record at byte {len(first)} is damaged: remove web\.warc\.gz\.index"):
        read_response(place._replace(length=len(second) - 1))
    path.write_bytes((first + second)[:-1])
    with path.open("rb") as file:
        assert read_member(file.fileno(), len(first)) == (b"", 0)
