"""Which files of a directory are dumps."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.build.dumps.dump_files import find_dump_files
from shadowprobe.errors import InputError


def make(directory: Path, *names: str) -> Path:
    for name in names:
        (directory / f"wiki-20260101-{name}").touch()
    return directory


def list_names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name.removeprefix("wiki-20260101-") for path in paths]


def test_tables_and_texts_are_found_and_other_files_left(tmp_path: Path) -> None:
    names = ("page.sql.gz", "pagelinks.sql", "redirect.sql.bz2", "pages-articles.xml.bz2", "stub-meta-history.xml.gz")
    found = find_dump_files(make(tmp_path, *names, "page.sql.gz.md5", "image.sql.gz", "notes.txt"))
    assert {table: path.suffix for table, path in found.tables.items()} == {
        "page": ".gz",
        "pagelinks": ".sql",
        "redirect": ".bz2",
    }
    assert list_names(found.articles) == ["pages-articles.xml.bz2"]
    assert list_names(found.history) == ["stub-meta-history.xml.gz"]


def test_parts_are_in_the_order_of_their_numbers_and_first_pages(tmp_path: Path) -> None:
    parts = [
        f"pages-articles{part}.xml-p{first}p{first + 9}.bz2" for part, first in ((10, 90), (2, 20), (2, 3), (1, 1))
    ]
    found = find_dump_files(make(tmp_path, *parts))
    assert list_names(found.articles) == parts[::-1]


def test_whole_files_come_before_parts_and_one_packing_is_enough(tmp_path: Path) -> None:
    make(tmp_path, "pages-articles-multistream.xml.bz2", "pages-articles1.xml-p1p9.bz2")
    assert list_names(find_dump_files(tmp_path).articles) == ["pages-articles1.xml-p1p9.bz2"]
    make(tmp_path, "pages-articles.xml.bz2")
    assert list_names(find_dump_files(tmp_path).articles) == ["pages-articles.xml.bz2"]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["wiki-20260101-page.sql", "wiki-20260101-page.sql.gz"], "is the second file of its table beside"),
        (
            ["wiki-20260101-page.sql", "wiki-20260102-redirect.sql"],
            r"dumps of more than one wiki or day \(wiki-20260101",
        ),
        (["notes.txt"], r"holds no dumps such as enwiki-20240101-page\.sql\.gz"),
    ],
)
def test_a_directory_has_the_dumps_of_one_wiki_and_one_day(tmp_path: Path, names: list[str], problem: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=problem):
        find_dump_files(tmp_path)


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none: no such directory"):
        find_dump_files(tmp_path / "none")


def test_a_whole_file_is_preferred_to_every_kind_of_parts(tmp_path: Path) -> None:
    names = ("pages-articles.xml", "pages-articles2.xml", "pages-articles.xml-p1p20", "pages-articles3.xml-p21p40")
    assert list_names(find_dump_files(make(tmp_path, *names)).articles) == ["pages-articles.xml"]
