"""A dump that is split where pages or streams begin, and read part by part."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from shadowprobe.build.dumps import xml_parts
from shadowprobe.build.dumps.xml_parts import WHOLE, Span, open_span, split_file

# A head of ten bytes and pages of twenty.
HEAD = b"<mediawik>"
PAGES = [b"<page>%07d</page>" % number for number in range(6)]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_parts, "PART", 30)
    monkeypatch.setattr(xml_parts, "CHUNK", 7)


def read(path: Path, span: Span) -> bytes:
    with open_span(path, span) as file:
        return file.read()


def test_a_part_begins_with_the_first_page_behind_its_size(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(HEAD + b"".join(PAGES))
    # Pages begin at 10, 30, 50, 70, 90 and 110: those at 30, 70 and 110 are the first behind 30, 60 and 100.
    spans = split_file(path)
    assert spans == [Span(0, 30), Span(30, 70), Span(70, 110), Span(110, None)]
    assert [read(path, span) for span in spans] == [
        HEAD + PAGES[0],
        PAGES[1] + PAGES[2],
        PAGES[3] + PAGES[4],
        PAGES[5],
    ]


def test_a_file_without_another_page_near_is_not_split_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_parts, "LONGEST", 14)
    path = tmp_path / "dump.xml"
    # From byte 30 on, twenty bytes are no page; only fourteen of them are looked at.
    path.write_bytes(HEAD + PAGES[0] + b"." * 20 + PAGES[1])
    assert split_file(path) == [WHOLE]
    # Eight bytes are few enough: the page begins within the fourteen.
    path.write_bytes(HEAD + PAGES[0] + b"." * 8 + PAGES[1])
    assert split_file(path) == [Span(0, 38), Span(38, None)]


def test_a_multistream_file_is_split_at_its_streams_and_decompressed(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    streams = [bz2.compress(content) for content in (HEAD, PAGES[0], PAGES[1] + PAGES[2])]
    path.write_bytes(b"".join(streams))
    first, second = len(streams[0]), len(streams[0]) + len(streams[1])
    spans = split_file(path)
    assert spans == [Span(0, first), Span(first, second), Span(second, None)]
    assert [read(path, span) for span in spans] == [HEAD, PAGES[0], PAGES[1] + PAGES[2]]
    assert read(path, WHOLE) == HEAD + b"".join(PAGES[:3])


def test_a_file_of_one_gzip_stream_is_not_split(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.gz"
    path.write_bytes(gzip.compress(HEAD + b"".join(PAGES), 0))
    assert split_file(path) == [WHOLE]
    assert read(path, WHOLE) == HEAD + b"".join(PAGES)
