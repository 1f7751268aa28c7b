"""Records by their keys."""

from __future__ import annotations

import pytest

from shadowprobe.build.record_file import RecordList
from shadowprobe.build.record_index import KeyIndex, RecordIndex, RecordTable, digest
from shadowprobe.build.records import Crawled

PAGES = [Crawled("a", "one"), Crawled("b", "two"), Crawled("c", "one"), Crawled("a", "three")]


def test_the_numbers_of_a_key_keep_the_order_of_the_entries() -> None:
    index = KeyIndex([(7, 3), (2**64 - 1, 1), (7, 2), (0, 9), (7, 4)])
    assert list(index.find(7)) == [3, 2, 4]
    assert (list(index.find(2**64 - 1)), list(index.find(0))) == ([1], [9])
    assert list(index.find(8)) == []
    assert len(index) == 5


def test_an_index_may_be_empty() -> None:
    assert list(KeyIndex(()).find(7)) == []


def test_a_record_is_found_by_each_of_its_keys() -> None:
    index = RecordIndex(RecordList(PAGES), lambda page: [digest(page.url), digest("page", page.page or "")])
    assert list(index.find(digest("a"))) == [PAGES[0], PAGES[3]]
    assert list(index.find(digest("page", "one"))) == [PAGES[0], PAGES[2]]
    assert (index.count(digest("a")), index.count(digest("one"))) == (2, 0)


def test_keys_of_several_parts_are_not_joined() -> None:
    assert digest("ab", "c") != digest("a", "bc")


def test_the_first_record_of_a_name_counts_file_by_file() -> None:
    table = RecordTable([RecordList(PAGES[:2]), RecordList(PAGES[2:])], lambda page: page.url)
    assert (table["a"], table["c"]) == (PAGES[0], PAGES[2])
    assert "b" in table
    assert "d" not in table
    assert 3 not in table
    with pytest.raises(KeyError):
        table["d"]
