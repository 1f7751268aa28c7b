"""The script that makes synthetic dumps, and the dumps of a wiki in SQLite."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from collected_spaces import collect_spaces
from dump_world import COUNTED, DISAMBIGUATION, LINKS, PAGES, REDIRECTS, SPACES
from msgspec.structs import replace
from sqlite_dump import dump_sqlite

from shadowprobe.base.languages import Language
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.source import find_spaces_in_dumps
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.records import FoundEntity, FoundSpace
from shadowprobe.build.settings import BuildSettings

ROOT = Path(__file__).resolve().parents[4]
ENGLISH = Language("en", suffixes=("disambiguation",), lists=("List of ",))
TABLES = ("linktarget", "page", "page_props", "pagelinks", "pages-articles", "redirect")


def make(directory: Path, *options: str) -> Path:
    command = [sys.executable, str(ROOT / "scripts" / "make_dump.py"), str(directory), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return directory


def stages(directory: Path, database: Path) -> tuple[list[FoundSpace], list[FoundEntity], Funnel]:
    funnel = Funnel("spaces")
    found = collect_spaces(
        find_spaces_in_dumps(database, ENGLISH, funnel, BuildSettings(wiki="", name="", dumps=str(directory)))
    )
    return found.spaces, list(count_backlinks_in_dumps(database, found.entities.values())), funnel


def test_a_synthetic_dump_tells_the_same_by_its_tables_and_by_its_text(tmp_path: Path) -> None:
    # 1290 bytes a page and 16 pages a family: 20640 bytes a family, and so 14 families.
    dump = make(tmp_path / "dump", "--size", "300KB", "--gzip")
    assert sorted(path.name.split("-", 2)[2].partition(".")[0] for path in dump.iterdir()) == sorted(TABLES)
    text = tmp_path / "text"
    text.mkdir()
    (articles,) = dump.glob("*-pages-articles.xml.gz")
    articles.rename(text / articles.name)
    spaces, entities, funnel = stages(dump, tmp_path / "tables.duckdb")
    assert (len(spaces), len(entities), funnel.seen, funnel.kept) == (14, 70, 14, 14)
    assert [len(space.entities) for space in spaces] == [5] * 14
    # The first of each family alone has a redirect to it; the one to that redirect is none.
    assert [entity.redirects for entity in entities if entity.redirects] == [(f"{space.name} old",) for space in spaces]
    assert all(entity.qid == f"Q{entity.page_id}" for entity in entities)
    by_text = stages(text, tmp_path / "text.duckdb")
    assert by_text[0] == spaces
    assert by_text[1] == [replace(entity, qid=None) for entity in entities]


def test_the_same_seed_makes_the_same_bytes(tmp_path: Path) -> None:
    def content(directory: Path) -> Sequence[bytes]:
        return [path.read_bytes() for path in sorted(directory.iterdir())]

    first, again, other = (
        make(tmp_path / name, "--size", "30KB", "--seed", seed, *packed)
        for name, seed, packed in (("a", "1", ["--gzip"]), ("b", "1", ["--gzip"]), ("c", "2", ["--gzip"]))
    )
    assert content(first) == content(again)
    assert content(first) != content(other)


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    """The hand-made wiki in the tables of MediaWiki 1.39."""
    path = tmp_path / "wiki.sqlite"
    namespaces = {number: namespace for number, namespace, _, _ in PAGES}
    with closing(sqlite3.connect(path)) as wiki, wiki:
        wiki.executescript(
            """CREATE TABLE page (page_id INTEGER PRIMARY KEY, page_namespace INTEGER, page_title BLOB,
                page_is_redirect INTEGER, page_random REAL, page_lang BLOB);
            CREATE TABLE redirect (rd_from INTEGER UNSIGNED, rd_namespace INTEGER, rd_title BLOB, rd_interwiki TEXT);
            CREATE TABLE page_props (pp_page INTEGER, pp_propname BLOB, pp_value BLOB, pp_sortkey REAL);
            CREATE TABLE pagelinks (pl_from INTEGER UNSIGNED, pl_namespace INTEGER, pl_title BLOB,
                pl_from_namespace INTEGER, PRIMARY KEY (pl_from, pl_namespace, pl_title));"""
        )
        wiki.executemany("INSERT INTO page VALUES (?, ?, ?, ?, 0.25, NULL)", PAGES)
        wiki.executemany("INSERT INTO redirect VALUES (?, ?, ?, ?)", REDIRECTS)
        properties = [(page, "disambiguation", b"") for page in DISAMBIGUATION]
        items = [(2, "wikibase_item", "Q308"), (3, "wikibase_item", b"Q925")]
        wiki.executemany("INSERT INTO page_props VALUES (?, ?, ?, NULL)", [*properties, *items])
        links = [(page, title, namespaces.get(page, 0)) for page, titles in LINKS.items() for title in titles]
        wiki.executemany("INSERT INTO pagelinks VALUES (?, 0, ?, ?)", links)
    return path


def test_a_wiki_in_sqlite_becomes_dumps(sqlite: Path, tmp_path: Path) -> None:
    written = dump_sqlite(sqlite, tmp_path / "dumps")
    assert [path.name for path in written] == [
        f"testwiki-20260101-{table}.sql.gz" for table in ("page", "redirect", "page_props", "pagelinks")
    ]
    spaces, entities, _ = stages(tmp_path / "dumps", tmp_path / "db")
    assert spaces == SPACES
    assert entities == list(COUNTED.values())
