"""The lines of CDX and CDXJ files: which of them are captures of wanted pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shadowprobe.build.captures.capture_choice import Capture, WantedPages
from shadowprobe.build.captures.cdx import read_cdx

PAGE = "https://example.org/page"
KEY = "org,example)/page"
# 2024-02-21 12:30:00 in Greenwich.
MOMENT = 1_708_518_600_000_000
FIELDS = {"url": PAGE, "mime": "text/html", "status": "200", "length": "77", "offset": "5", "filename": "a.warc.gz"}
FOUND = Capture(PAGE, KEY, MOMENT, "a.warc.gz", 5, 77)


def read(*lines: str, before: int = 2 * MOMENT) -> list[Capture]:
    return list(read_cdx((f"{line}\n".encode() for line in lines), WantedPages([PAGE]), before))


def make_line(key: str = KEY, moment: str = "20240221123000", **changed: Any) -> str:
    fields = {name: value for name, value in (FIELDS | changed).items() if value is not None}
    return f"{key} {moment} {json.dumps(fields)}"


def test_a_line_has_key_time_and_fields() -> None:
    assert read(make_line()) == [FOUND]
    # Digits after the seconds are left out.
    assert read(make_line(moment="20240221123000123")) == [FOUND]


def test_a_capture_at_the_limit_itself_is_too_new() -> None:
    assert read(make_line(), before=MOMENT + 1) == [FOUND]
    assert read(make_line(), before=MOMENT) == []


def test_times_begin_in_1970() -> None:
    assert [capture.moment for capture in read(make_line(moment="19700101000000"))] == [0]
    assert read(make_line(moment="19691231235959")) == []


def test_the_detected_type_counts_before_the_one_that_the_server_said() -> None:
    assert read(make_line(**{"mime-detected": "application/xhtml+xml", "mime": "text/plain"})) == [FOUND]
    assert read(make_line(**{"mime-detected": "image/png"})) == []


def test_a_length_may_be_missing_but_not_an_offset() -> None:
    unknown = FOUND._replace(length=0)
    assert read(make_line(length=None)) == read(make_line(length="-")) == read(make_line(length="")) == [unknown]
    assert read(make_line(offset=None)) == []


@pytest.mark.parametrize(
    "changed", [{"status": "404"}, {"truncated": "length"}, {"url": 7}, {"filename": None}, {"offset": "x"}]
)
def test_a_line_that_is_no_page_is_skipped_and_the_next_is_read(changed: dict[str, Any]) -> None:
    assert read(make_line(**changed), make_line()) == [FOUND]


def test_in_cdxj_the_key_decides_and_in_cdx_also_the_address() -> None:
    assert read(make_line("other)/key")) == []
    line = f"other)/key 20240221123000 {PAGE} text/html 200 DIGEST - - 77 5 a.warc.gz"
    assert read(line) == [FOUND._replace(key="other)/key")]
    assert read(line.replace(PAGE, "https://example.org/other")) == []


def test_the_first_line_names_the_fields_of_the_others() -> None:
    line = f"{KEY} 20240221123000 a.warc.gz 5 200 text/html {PAGE}"
    assert read(" CDX N b g V s m a", line) == [FOUND._replace(length=0)]
    # A line with more or fewer fields is no capture.
    assert read(" CDX N b g V s m a", f"{line} more", line.removesuffix(f" {PAGE}")) == []
