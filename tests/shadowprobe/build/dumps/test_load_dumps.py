"""When the database of dumps is made, and when it is made again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from dump_world import PREFIX, write, write_tables
from msgspec.structs import replace

from shadowprobe.build.dumps import load_articles, load_tables
from shadowprobe.build.dumps import load_dumps as module
from shadowprobe.build.dumps.load_dumps import has_current_version, load_dumps
from shadowprobe.build.dumps.store import Wanted, connect, read_contents
from shadowprobe.build.machine import Machine
from shadowprobe.errors import InputError

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")

WANTED = Wanted(categories=("X",))


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    return write_tables(tmp_path / "dumps")


def count_files(dumps: Path, database: Path, wanted: Wanted = WANTED) -> int:
    """Loads the dumps; returns the number of files that were read for it."""
    files = set()
    load_dumps(dumps, database, wanted, lambda name, done, total: files.add(name))
    return len(files)


def test_the_same_dumps_are_read_once_and_for_another_wish_again(dumps: Path, tmp_path: Path) -> None:
    database = tmp_path / "made" / "here" / "dumps.duckdb"
    assert not has_current_version(database)
    # The files of pages, redirects, properties, targets and links.
    assert count_files(dumps, database) == 5
    assert has_current_version(database)
    assert count_files(dumps, database) == 0
    assert count_files(dumps, database, replace(WANTED, headings=("notes",))) == 5
    assert read_contents(database).wanted.headings == ("notes",)


def test_a_file_that_has_changed_is_read_again(dumps: Path, tmp_path: Path) -> None:
    count_files(dumps, tmp_path / "db")
    (page,) = dumps.glob("*-page.sql.gz")
    os.utime(page, ns=(1, 1))
    assert count_files(dumps, tmp_path / "db") == 5


def test_a_database_of_another_version_is_made_again(
    dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_files(dumps, tmp_path / "db")
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    assert not has_current_version(tmp_path / "db")
    assert count_files(dumps, tmp_path / "db") == 5
    assert has_current_version(tmp_path / "db")


def test_what_an_ended_process_left_is_removed(dumps: Path, tmp_path: Path) -> None:
    for name in ("db.part", "db.part.wal"):
        (tmp_path / name).write_bytes(b"half")
    assert count_files(dumps, tmp_path / "db") == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["db", "dumps"]


def test_creation_times_need_the_history_which_is_not_read_without_them(dumps: Path, tmp_path: Path) -> None:
    created = replace(WANTED, created=True)
    with pytest.raises(InputError, match=r"--created-before needs \*-stub-meta-history\*\.xml\.gz"):
        count_files(dumps, tmp_path / "db", created)
    history = "<mediawiki><page><title>A</title><ns>0</ns><id>1</id><revision/></page></mediawiki>"
    (dumps / f"{PREFIX}-stub-meta-history.xml").write_text(history)
    assert count_files(dumps, tmp_path / "db") == 5
    assert count_files(dumps, tmp_path / "db", created) == 6
    assert count_files(dumps, tmp_path / "db", created) == 0
    os.utime(dumps / f"{PREFIX}-stub-meta-history.xml", ns=(1, 1))
    assert count_files(dumps, tmp_path / "db", created) == 6
    assert count_files(dumps, tmp_path / "db") == 5
    os.utime(dumps / f"{PREFIX}-stub-meta-history.xml", ns=(2, 2))
    assert count_files(dumps, tmp_path / "db") == 0


def read_table(database: Path, name: str) -> list[Any]:
    with connect(database, Machine(workers=1)) as connection:
        return sorted(connection.execute(f"FROM {name}").fetchall())


def test_without_tables_the_text_says_which_pages_are_for_disambiguation(tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    dumps.mkdir()
    page = "<page><title>{0}</title><ns>0</ns><id>{1}</id><revision><text>{2}</text></revision></page>"
    pages = page.format("A", 1, "__DISAMBIG__ [[B]]") + page.format("B", 2, "a text")
    (dumps / f"{PREFIX}-pages-articles.xml").write_text(f"<mediawiki>{pages}</mediawiki>")
    load_dumps(dumps, tmp_path / "db", WANTED)
    assert read_table(tmp_path / "db", "disambiguation") == [(1,)]
    assert read_table(tmp_path / "db", "item") == []
    assert read_contents(tmp_path / "db").notes == [load_articles.NOTE]
    # A property is preferred to the text.
    write(dumps, "page_props", "*pp_page pp_propname pp_value", [(2, "disambiguation", ""), (2, "wikibase_item", "Q5")])
    load_dumps(dumps, tmp_path / "db", WANTED)
    assert read_table(tmp_path / "db", "disambiguation") == [(2,)]
    assert read_table(tmp_path / "db", "item") == [(2, "Q5")]


def test_categories_are_needed_for_a_category_and_where_no_property_is_known(dumps: Path, tmp_path: Path) -> None:
    count_files(dumps, tmp_path / "db")
    assert read_contents(tmp_path / "db").notes == [load_tables.NOTE]
    with pytest.raises(InputError, match=r"lacks \*-categorylinks\.sql\.gz"):
        count_files(dumps, tmp_path / "db", replace(WANTED, category="Gods"))
    for properties in dumps.glob("*-page_props.sql.gz"):
        properties.unlink()
    with pytest.raises(InputError, match=r"lacks \*-categorylinks\.sql\.gz"):
        count_files(dumps, tmp_path / "db")
