"""Loads pages, redirects and links from the text of a wiki's pages into the database, if its tables are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadowprobe.build.dumps.dump_files import DumpFiles
from shadowprobe.build.dumps.load_tables import load_properties
from shadowprobe.build.dumps.store import Wanted, count, insert
from shadowprobe.build.dumps.wikitext import ARTICLE, TEMPLATE, parse_title, read_links
from shadowprobe.build.dumps.xml import Site, WikiPage, read_pages
from shadowprobe.build.funnel import Progress

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The number of rows that are collected before they are written to the database.
BATCH = 100_000
NOTE = (
    "links come from the text of the pages alone: those that templates make are missing, and a disambiguation page is"
    " known by its template (pagelinks, page and redirect dumps have them all)"
)
# Templates that mark disambiguation pages: those with the mark, those that call one of these, and their redirects.
_MARKED_PAGES = """
CREATE TEMP TABLE known AS SELECT DISTINCT name FROM marks;
INSERT INTO known SELECT name FROM renamed WHERE target IN (SELECT name FROM known);
INSERT INTO known SELECT name FROM calls WHERE called IN (SELECT name FROM known);
INSERT INTO known SELECT name FROM renamed WHERE target IN (SELECT name FROM known);
INSERT INTO disambiguation
    SELECT page FROM marked UNION SELECT page FROM uses WHERE name IN (SELECT name FROM known);
"""


def load_articles(connection: DuckDBPyConnection, files: DumpFiles, wanted: Wanted, progress: Progress) -> list[str]:
    """Loads pages, redirects and links from the text of the pages; returns notes on what is missing."""
    connection.execute(
        """CREATE TABLE link (source BIGINT, title VARCHAR); CREATE TEMP TABLE marked (page BIGINT);
        CREATE TEMP TABLE marks (name VARCHAR); CREATE TEMP TABLE renamed (name VARCHAR, target VARCHAR);
        CREATE TEMP TABLE calls (name VARCHAR, called VARCHAR); CREATE TEMP TABLE uses (page BIGINT, name VARCHAR)"""
    )
    rows = _Rows(connection)
    for page, site in _read_files(files.articles, progress):
        if page.namespace == ARTICLE:
            _add_article(rows, page, site, wanted)
        elif page.namespace == TEMPLATE:
            _add_template(rows, page, site)
    rows.flush()
    load_properties(connection, files, progress)
    if not count(connection, "disambiguation"):
        connection.execute(_MARKED_PAGES)
    return [NOTE]


def _add_article(rows: _Rows, page: WikiPage, site: Site, wanted: Wanted) -> None:
    rows.add("page", page.page_id, page.title, page.redirect is not None)
    if page.redirect is not None:
        target = parse_title(page.redirect, site)
        if target and target.namespace == ARTICLE:
            rows.add("redirect", page.page_id, target.title)
        return
    links = read_links(page.text, site)
    # A wiki keeps no link of a page to itself.
    for title in sorted(links.articles - {page.title}):
        rows.add("link", page.page_id, title)
    for name in sorted(links.templates):
        rows.add("uses", page.page_id, name)
    if links.marked:
        rows.add("marked", page.page_id)
    for name in sorted(links.categories.intersection(wanted.categories)):
        rows.add("category", page.page_id, name, "")


def _add_template(rows: _Rows, page: WikiPage, site: Site) -> None:
    name = parse_title(page.title, site)
    target = parse_title(page.redirect, site) if page.redirect is not None else None
    if name is None or page.redirect is not None:
        if name and target:
            rows.add("renamed", name.title, target.title)
        return
    links = read_links(page.text, site, of_template=True)
    if links.marked:
        rows.add("marks", name.title)
    for called in sorted(links.templates):
        rows.add("calls", name.title, called)


def load_history(connection: DuckDBPyConnection, files: DumpFiles, progress: Progress) -> None:
    """Loads the creation times of articles."""
    rows = _Rows(connection)
    for page, _ in _read_files(files.history, progress):
        if page.namespace == ARTICLE:
            rows.add("created", page.page_id, page.created)
    rows.flush()


class _Rows:
    """Collects rows for several tables, and writes many at a time to the database."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._rows: dict[str, list[tuple[Any, ...]]] = {}

    def add(self, table: str, *row: Any) -> None:
        """Adds a row."""
        rows = self._rows.setdefault(table, [])
        rows.append(row)
        if len(rows) >= BATCH:
            self._write(table)

    def flush(self) -> None:
        """Writes the remaining rows."""
        for table in list(self._rows):
            self._write(table)

    def _write(self, table: str) -> None:
        columns = zip(*self._rows.pop(table), strict=True)
        batch = {f"column{place}": column for place, column in enumerate(columns)}
        insert(self._connection, batch, f"INSERT INTO {table} FROM batch")


def _read_files(paths: tuple[Path, ...], progress: Progress) -> Iterator[tuple[WikiPage, Site]]:
    for path in paths:
        site = Site()
        for done, page in enumerate(read_pages(path, site), start=1):
            yield page, site
            if done % 1000 == 0:
                progress(path.name, done, None)
