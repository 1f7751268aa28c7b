"""Reads pages, redirects, links and references from the text of a wiki's pages, as rows for the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from shadowprobe.build.dumps.dump_files import DumpFiles
from shadowprobe.build.dumps.load_tables import LINKS_BY_TITLE
from shadowprobe.build.dumps.parallel import Rows
from shadowprobe.build.dumps.store import Wanted, count
from shadowprobe.build.dumps.wikitext import ARTICLE, TEMPLATE, parse_title, read_links
from shadowprobe.build.dumps.wikitext_references import list_references
from shadowprobe.build.dumps.xml import Site, WikiPage, read_history, read_pages
from shadowprobe.build.dumps.xml_parts import Span, split_file

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The number of rows, or of bytes of texts, that are collected before they are passed on.
BATCH, BATCH_BYTES = 10_000, 2 << 20
NOTE = (
    "links come from the text of the pages alone: those that templates make are missing, and a disambiguation page is"
    " known by its template (pagelinks, page and redirect dumps have them all)"
)
# The table of each kind of rows, and their columns.
_TABLES = {
    "text_page": ("page", "id", "title", "redirect"),
    "text_redirect": ("redirect", "source", "title"),
    "text_link": ("edge", "page", "names"),
    "text_use": ("uses", "page", "names"),
    "text_category": ("category (page, name)", "page", "names"),
    "text_reference": ("reference", "page", "items"),
    "marked": ("marked", "page"),
    "mark": ("mark", "name"),
    "renamed": ("renamed", "name", "target"),
    "call": ("calls", "name", "names"),
    "created": ("created", "page", "moment"),
    "number": ("highest", "number"),
}
# Names of one page are passed on as one text, in lines: the database is faster in splitting it.
_CHANGED = {"names": "unnest(string_split(names, chr(10)))", "number": "max(number)"}
STATEMENTS = {
    kind: (f"INSERT INTO {table} SELECT {', '.join(_CHANGED.get(name, name) for name in columns)} FROM batch",)
    for kind, (table, *columns) in _TABLES.items()
}
# Templates that mark disambiguation pages: those with the mark, those that call one of these, and their redirects.
_MARKED_PAGES = """
CREATE TEMP TABLE known AS SELECT DISTINCT name FROM mark;
INSERT INTO known SELECT name FROM renamed WHERE target IN (SELECT name FROM known);
INSERT INTO known SELECT name FROM calls WHERE called IN (SELECT name FROM known);
INSERT INTO known SELECT name FROM renamed WHERE target IN (SELECT name FROM known);
INSERT INTO disambiguation
    SELECT page FROM marked UNION SELECT page FROM uses WHERE name IN (SELECT name FROM known);
"""


def plan_articles(
    connection: DuckDBPyConnection, files: DumpFiles, wanted: Wanted, *, with_links: bool
) -> list[ArticlesPart]:
    """Plans to read the texts of the pages: their references, and their links if no table has them."""
    if files.articles:
        connection.execute("CREATE TABLE reference (page BIGINT, items VARCHAR)")
    if with_links:
        connection.execute(
            f"""{LINKS_BY_TITLE}; CREATE TEMP TABLE marked (page BIGINT); CREATE TEMP TABLE mark (name VARCHAR);
            CREATE TEMP TABLE renamed (name VARCHAR, target VARCHAR);
            CREATE TEMP TABLE calls (name VARCHAR, called VARCHAR);
            CREATE TEMP TABLE uses (page BIGINT, name VARCHAR)"""
        )
    return [
        ArticlesPart(path, span, wanted.categories, wanted.headings, with_links)
        for path in files.articles
        for span in split_file(path)
    ]


def plan_history(files: DumpFiles) -> list[HistoryPart]:
    """Plans to read the creation times of articles."""
    return [HistoryPart(path) for path in files.history]


def mark_disambiguation(connection: DuckDBPyConnection) -> None:
    """Finds disambiguation pages by their templates, if no property says which they are."""
    if not count(connection, "disambiguation"):
        connection.execute(_MARKED_PAGES)


class ArticlesPart(Struct, frozen=True):
    """A part of a file with the texts of pages."""

    path: Path
    span: Span
    categories: tuple[str, ...]
    headings: tuple[str, ...]
    with_links: bool

    def read(self) -> Iterator[Rows]:
        """Yields the rows of the pages."""
        rows, site = _Batches(), Site()
        headings = frozenset(self.headings)
        for page in read_pages(self.path, site, self.span):
            is_article = page.namespace == ARTICLE and page.redirect is None
            if is_article and (items := list_references(page.text, headings)):
                rows.add("text_reference", page.page_id, items)
            if self.with_links:
                rows.add("number", page.page_id)
                if page.namespace == ARTICLE:
                    self._add_article(rows, page, site)
                elif page.namespace == TEMPLATE:
                    _add_template(rows, page, site)
            yield from rows.take_full()
        yield from rows.take_all()

    def _add_article(self, rows: _Batches, page: WikiPage, site: Site) -> None:
        rows.add("text_page", page.page_id, page.title, page.redirect is not None)
        if page.redirect is not None:
            target = parse_title(page.redirect, site)
            if target and target.namespace == ARTICLE:
                rows.add("text_redirect", page.page_id, target.title)
            return
        links = read_links(page.text, site)
        # A wiki keeps no link of a page to itself.
        links.articles.discard(page.title)
        rows.add_names("text_link", page.page_id, links.articles)
        rows.add_names("text_use", page.page_id, links.templates)
        rows.add_names("text_category", page.page_id, links.categories.intersection(self.categories))
        if links.marked:
            rows.add("marked", page.page_id)


def _add_template(rows: _Batches, page: WikiPage, site: Site) -> None:
    name = parse_title(page.title, site)
    if name is None:
        return
    if page.redirect is not None:
        if target := parse_title(page.redirect, site):
            rows.add("renamed", name.title, target.title)
        return
    links = read_links(page.text, site, of_template=True)
    if links.marked:
        rows.add("mark", name.title)
    rows.add_names("call", name.title, links.templates)


class HistoryPart(Struct, frozen=True):
    """A file with all revisions of pages, without their texts."""

    path: Path

    def read(self) -> Iterator[Rows]:
        """Yields the creation times of articles."""
        rows = _Batches()
        for page in read_history(self.path):
            if page.namespace == ARTICLE:
                rows.add("created", page.page_id, page.created)
            yield from rows.take_full()
        yield from rows.take_all()


class _Batches:
    """Collects rows of several kinds."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._count = self._bytes = 0

    def add(self, kind: str, *row: Any) -> None:
        """Adds a row."""
        self._rows.setdefault(kind, []).append(row)
        self._count += 1
        if isinstance(row[-1], str):
            self._bytes += len(row[-1])

    def add_names(self, kind: str, page: int | str, names: set[str]) -> None:
        """Adds the names that a page has, if there are any."""
        if names:
            self.add(kind, page, "\n".join(names))

    def take_full(self) -> Iterator[Rows]:
        """Yields the rows if there are many."""
        if self._count >= BATCH or self._bytes >= BATCH_BYTES:
            yield from self.take_all()

    def take_all(self) -> Iterator[Rows]:
        """Yields all rows."""
        for kind, rows in self._rows.items():
            columns = zip(_TABLES[kind][1:], zip(*rows, strict=True), strict=True)
            yield Rows(kind, {name: list(column) for name, column in columns})
        self._rows, self._count, self._bytes = {}, 0, 0
