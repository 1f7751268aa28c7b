"""What the index of an archive says of a response without reading it."""

from __future__ import annotations

import pytest

from shadowprobe.build.archive_index import Entry, content_type, key_of, make_entry
from shadowprobe.build.warc_record import Stored

URL = "http://example.org/"


def entry(status: int = 200, failed: str = "", captured: str = "", **headers: str) -> Entry:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return make_entry(f"GET {URL}", 5, 7, Stored(URL, status, named, b"", failed, captured))


def test_a_record_ends_behind_its_last_byte() -> None:
    assert (entry().offset, entry().length, entry().end) == (5, 7, 12)


def test_a_redirect_has_its_target_and_no_other_response_has_one() -> None:
    assert entry(301, location="/new").location == "/new"
    assert entry(200, location="/new").location == entry(404, location="/new").location == ""
    # What a redirect says of its content does not matter.
    assert entry(302, location="/new", content_type="text/plain").kind == "text/html"
    assert entry(302, content_type="text/plain").kind == "text/plain"


@pytest.mark.parametrize(
    ("field", "kind"),
    [("Text/HTML; charset=utf-8", "text/html"), (" image/PNG ;x", "image/png"), ("", ""), ("text/html", "text/html")],
)
def test_a_type_has_no_parameters_and_small_letters(field: str, kind: str) -> None:
    assert entry(content_type=field).kind == content_type({"content-type": field}) == kind
    assert content_type({}) == ""


def test_why_a_request_failed_and_when_a_page_was_captured_are_in_the_index() -> None:
    assert (entry(0, failed="404").failed, entry(0, failed="404").status) == ("404", 0)
    assert entry(captured="2020-01-01T00:00:00Z").captured == "2020-01-01T00:00:00Z"


def test_requests_with_another_body_have_another_key() -> None:
    assert key_of("GET", URL) == key_of("GET", URL, b"") == f"GET {URL}"
    assert key_of("POST", URL, b"a=1") == key_of("POST", URL, "a=1") != key_of("POST", URL, b"a=2")
    # The SHA-256 of nothing else than the body, as `sha256sum` prints it for `abc`.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert key_of("POST", URL, b"abc") == f"POST {URL} {digest}"
