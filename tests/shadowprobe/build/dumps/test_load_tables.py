"""What the database gets of the dumps of tables, in the forms that they have had over the years."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dump_world import DISAMBIGUATION, LINKS, PAGES, Schema, write, write_tables

from shadowprobe.build.dumps.load_dumps import load_dumps
from shadowprobe.build.dumps.store import Wanted, connect
from shadowprobe.build.machine import Machine
from shadowprobe.errors import InputError

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")

ONE = Machine(workers=1)


def load(dumps: Path, *queries: str) -> list[list[Any]]:
    """Loads the dumps; returns the sorted rows of each query."""
    database = dumps.with_name("db")
    load_dumps(dumps, database, Wanted(categories=("Names", "Rivers")), machine=ONE)
    with connect(database, ONE) as connection:
        return [sorted(connection.execute(query).fetchall()) for query in queries]


@pytest.mark.parametrize("schema", ["old", "new", "both"])
def test_links_of_articles_to_articles_are_the_same_in_every_form(tmp_path: Path, schema: Schema) -> None:
    key = "target.title FROM edge JOIN target ON target.id = edge.key" if schema == "new" else "key FROM edge"
    links, pages, disambiguation, highest = load(
        write_tables(tmp_path / "dumps", schema),
        f"SELECT source, {key}",
        "FROM page",
        "FROM disambiguation",
        "SELECT max(id) FROM highest",
    )
    # Page 14 is a talk page.
    assert links == sorted((page, title) for page, titles in LINKS.items() if page != 14 for title in titles)
    assert pages == [(number, title, redirect) for number, _, title, redirect in PAGES if number != 14]
    assert disambiguation == [(number,) for number in DISAMBIGUATION]
    assert highest == [(19,)]


def test_links_without_the_namespace_of_their_page_are_all_kept(tmp_path: Path) -> None:
    dumps = write_tables(tmp_path / "dumps", "old")
    write(dumps, "pagelinks", "*pl_from *pl_namespace pl_title", [(14, 0, "Venus"), (2, 0, "Venus"), (2, 4, "Mars")])
    assert load(dumps, "FROM edge") == [[(2, "Venus"), (14, "Venus")]]


@pytest.mark.parametrize("by_number", [False, True])
def test_only_pages_of_the_wanted_categories_are_kept(tmp_path: Path, by_number: bool) -> None:
    dumps = write_tables(tmp_path / "dumps", "old")
    # Page, category, key of sorting and kind of member.
    rows = [
        (1, "Names", b"A", "page"),
        (2, "Rivers", b"B", "page"),
        (3, "Films", b"C", "page"),
        (4, "Names", b"", "file"),
    ]
    if by_number:
        numbers = {"Names": 1, "Rivers": 2, "Films": 3}
        write(
            dumps,
            "linktarget",
            "*lt_id *lt_namespace lt_title",
            # An article of the same name as a category.
            [(9, 0, "Names"), *((number, 14, name) for name, number in numbers.items())],
        )
        numbered = [(page, key, kind, numbers[name]) for page, name, key, kind in rows]
        write(dumps, "categorylinks", "*cl_from cl_sortkey cl_type *cl_target_id", [*numbered, (8, b"", "page", 9)])
    else:
        write(dumps, "categorylinks", "*cl_from cl_to cl_sortkey cl_type", list(rows))
    # The keys of sorting are hexadecimal digits.
    assert load(dumps, "FROM category") == [[(1, "Names", "41"), (2, "Rivers", "42")]]


@pytest.mark.parametrize("table", ["pagelinks", "categorylinks"])
def test_numbers_without_their_titles_are_refused(tmp_path: Path, table: str) -> None:
    dumps = write_tables(tmp_path / "dumps", "new" if table == "pagelinks" else "old")
    write(dumps, "categorylinks", "*cl_from cl_sortkey cl_type *cl_target_id", [(1, b"", "page", 9)])
    for targets in dumps.glob("*-linktarget.sql.gz"):
        targets.unlink()
    with pytest.raises(InputError, match=rf"lacks \*-linktarget\.sql\.gz, without which {table} has no titles"):
        load(dumps)
