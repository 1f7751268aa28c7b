"""The forms of titles and pages in the database of dumps."""

from __future__ import annotations

from typing import Any

from shadowprobe.base.languages import Language
from shadowprobe.build.dumps.rows import describe_page, format_title, make_key, read_rows
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.spaces import parse_article

ENGLISH = Language("en", lists=("List of ",))


def test_titles_have_underscores_in_the_tables_and_spaces_elsewhere() -> None:
    assert make_key(" Old Avon ") == "Old_Avon"
    assert format_title("Old_Avon") == "Old Avon"


def test_a_page_is_described_as_the_api_does() -> None:
    assert parse_article(describe_page("Avon", 7, False, False, "Q5"), ENGLISH) == FoundEntity("Avon", 7, qid="Q5")
    assert parse_article(describe_page("Avon", 7, False, False, None), ENGLISH) == FoundEntity("Avon", 7)
    assert parse_article(describe_page("Avon", None, False, False, None), ENGLISH) == "no such page"
    assert parse_article(describe_page("Avon", 7, True, False, None), ENGLISH) == "a redirect"
    assert parse_article(describe_page("Avon", 7, False, True, "Q5"), ENGLISH) == "a disambiguation page"
    assert describe_page("Avon", None, False, False, None)["missing"] is True


def test_all_rows_of_a_result_are_read() -> None:
    batches = [[(1,), (2,)], [(3,)], []]

    class Result:
        def fetchmany(self, most: int) -> Any:
            return batches.pop(0)

    result: Any = Result()
    assert list(read_rows(result)) == [(1,), (2,), (3,)]
