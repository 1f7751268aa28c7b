"""Records that stay in their file: read in order, or one by its place."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from shadowprobe.base.files import BOM
from shadowprobe.build.record_file import RecordFile, RecordList, TemporaryRecords
from shadowprobe.build.records import Crawled
from shadowprobe.errors import InputError

FIRST, SECOND, THIRD = (Crawled(url) for url in ("a", "bé", "c"))


def write(path: Path, content: bytes) -> RecordFile[Crawled]:
    path.write_bytes(content)
    return RecordFile(path, Crawled)


def test_records_have_the_byte_of_their_line_as_place(tmp_path: Path) -> None:
    # The first line has twelve bytes with its end, and the second fourteen: é has two.
    records = write(tmp_path / "r.jsonl", '{"url":"a"}\n{"url":"bé"}\n{"url":"c"}\n'.encode())
    assert list(records.list_places()) == [(0, FIRST), (12, SECOND), (26, THIRD)]
    assert [records.read(place) for place in (26, 0, 12)] == [THIRD, FIRST, SECOND]


def test_records_are_counted_and_read_more_than_once(tmp_path: Path) -> None:
    records = write(tmp_path / "r.jsonl", b'{"url":"a"}\n{"url":"c"}\n')
    assert len(records) == 2
    assert list(records) == list(records) == [FIRST, THIRD]


def test_blank_lines_and_a_mark_of_the_byte_order_are_no_records(tmp_path: Path) -> None:
    records = write(tmp_path / "r.jsonl", BOM + b'{"url":"a"}\n\n{"url":"c"}')
    assert len(records) == 2
    # Three bytes of the mark and twelve of the line, then one of the blank line.
    assert list(records.list_places()) == [(0, FIRST), (16, THIRD)]
    assert (records.read(0), records.read(16)) == (FIRST, THIRD)


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    records = write(tmp_path / "r.jsonl", b'{"url":"a"}\n{"url":1}\n')
    with pytest.raises(InputError, match=r"r\.jsonl:2: "):
        list(records)


def test_records_in_memory_have_their_numbers_as_places() -> None:
    records = RecordList([FIRST, SECOND])
    assert list(records.list_places()) == [(0, FIRST), (1, SECOND)]
    assert records.read(1) == SECOND


def test_temporary_records_are_read_again_and_leave_no_file(tmp_path: Path) -> None:
    with closing(TemporaryRecords(tmp_path, Crawled)) as records:
        records.add(FIRST)
        records.add(SECOND)
        assert list(records) == [FIRST, SECOND]
        assert list(records) == [FIRST, SECOND]
    assert list(tmp_path.iterdir()) == []
