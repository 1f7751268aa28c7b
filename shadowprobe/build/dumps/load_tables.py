"""Loads pages, redirects, properties and links from the dumps of a wiki's tables into the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shadowprobe.build.dumps.dump_files import DumpFiles
from shadowprobe.build.dumps.sql import Kind, TableDump
from shadowprobe.build.dumps.store import Wanted, count, insert
from shadowprobe.build.dumps.wikitext import ARTICLE, CATEGORY
from shadowprobe.build.funnel import Progress
from shadowprobe.errors import InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOTE = (
    "disambiguation pages are known by their property alone: those that only a category tells would take"
    " *-categorylinks.sql.gz"
)
# Statements that move the wanted rows of a batch to their table.
_PAGES = (
    f"INSERT INTO page SELECT page_id, page_title, page_is_redirect = 1 FROM batch WHERE page_namespace = {ARTICLE}"
)
# A redirect may lead to another wiki, which has other titles. The column has no type if all its values are NULL.
_REDIRECTS = f"""INSERT INTO redirect SELECT rd_from, rd_title FROM batch
    WHERE rd_namespace = {ARTICLE} AND coalesce(rd_interwiki::VARCHAR, '') = ''"""
_DISAMBIGUATION = "INSERT INTO disambiguation SELECT pp_page FROM batch WHERE pp_propname = 'disambiguation'"
_ITEMS = "INSERT INTO item SELECT pp_page, pp_value FROM batch WHERE pp_propname = 'wikibase_item'"
_ARTICLE_TARGETS = f"INSERT INTO target SELECT lt_id, lt_title FROM batch WHERE lt_namespace = {ARTICLE}"
_CATEGORY_TARGETS = f"""INSERT INTO wanted_number SELECT lt_id, lt_title FROM batch
    WHERE lt_namespace = {CATEGORY} AND lt_title IN (FROM wanted_name)"""
_TARGET_COLUMNS: dict[str, Kind] = {"lt_id": "number", "lt_namespace": "number", "lt_title": "text"}


def load_tables(connection: DuckDBPyConnection, files: DumpFiles, wanted: Wanted, progress: Progress) -> list[str]:
    """Loads all tables; returns notes on what is missing."""
    tables = _Tables(connection, files, progress)
    columns: dict[str, Kind] = {"page_id": "number", "page_namespace": "number", "page_is_redirect": "number"}
    tables.load("page", {**columns, "page_title": "text"}, _PAGES)
    columns = {"rd_from": "number", "rd_namespace": "number", "rd_title": "text", "rd_interwiki": "text"}
    tables.load("redirect", columns, _REDIRECTS)
    load_properties(connection, files, progress)
    tables.load_links()
    if "categorylinks" in files.tables:
        tables.load_categories(wanted)
    elif wanted.category or not count(connection, "disambiguation"):
        raise InputError(
            files.directory,
            "lacks *-categorylinks.sql.gz, which is needed to find disambiguation pages without the page property",
        )
    else:
        return [NOTE]
    return []


def load_properties(connection: DuckDBPyConnection, files: DumpFiles, progress: Progress) -> None:
    """Loads which pages are disambiguation pages, and the Wikidata items of pages, if the dump exists."""
    if "page_props" in files.tables:
        columns: dict[str, Kind] = {"pp_page": "number", "pp_propname": "text", "pp_value": "text"}
        _Tables(connection, files, progress).load("page_props", columns, _DISAMBIGUATION, _ITEMS)


class _Tables:
    """The dumps of tables, and the database that gets their rows."""

    def __init__(self, connection: DuckDBPyConnection, files: DumpFiles, progress: Progress) -> None:
        self._connection, self._files, self._progress = connection, files, progress

    def load(self, table: str, columns: dict[str, Kind], *statements: str) -> None:
        """Reads columns of a dump, and inserts rows by each of the statements."""
        path, done = self._files.tables[table], 0
        for batch in TableDump(path, table).read_batches(columns):
            insert(self._connection, batch, *statements)
            done += len(next(iter(batch.values())))
            self._progress(path.name, done, None)

    def load_links(self) -> None:
        """Loads links with their titles, as in dumps before 2024, or with the numbers of their titles."""
        known = self._list_columns("pagelinks")
        columns: dict[str, Kind] = {"pl_from": "number"}
        # For a year the table had both columns, and some numbers were not yet filled in.
        if "pl_title" in known:
            columns |= {"pl_namespace": "number", "pl_title": "text"}
            self._connection.execute("CREATE TABLE link (source BIGINT, title VARCHAR)")
            rows = f"INSERT INTO link SELECT pl_from, pl_title FROM batch WHERE pl_namespace = {ARTICLE}"
        else:
            columns["pl_target_id"] = "number"
            self._connection.execute(
                """CREATE TABLE target (id BIGINT, title VARCHAR); CREATE TABLE numbered (source BIGINT, target BIGINT);
                CREATE VIEW link AS SELECT source, title FROM numbered JOIN target ON target.id = numbered.target"""
            )
            self._load_targets("pagelinks", _ARTICLE_TARGETS)
            rows = "INSERT INTO numbered SELECT pl_from, pl_target_id FROM batch WHERE TRUE"
        if "pl_from_namespace" in known:
            columns["pl_from_namespace"] = "number"
            rows += f" AND pl_from_namespace = {ARTICLE}"
        self.load("pagelinks", columns, rows)

    def load_categories(self, wanted: Wanted) -> None:
        """Loads the members of the wanted categories, which the dump gives by name or by number."""
        columns: dict[str, Kind] = {"cl_from": "number", "cl_sortkey": "bytes", "cl_type": "text"}
        self._connection.execute(
            "CREATE TEMP TABLE wanted_name AS SELECT unnest($names) AS name", {"names": wanted.categories}
        )
        if "cl_to" in self._list_columns("categorylinks"):
            columns["cl_to"] = "text"
            members = "SELECT cl_from, cl_to, cl_sortkey FROM batch WHERE cl_to IN (FROM wanted_name)"
        else:
            columns["cl_target_id"] = "number"
            self._connection.execute("CREATE TEMP TABLE wanted_number (id BIGINT, name VARCHAR)")
            self._load_targets("categorylinks", _CATEGORY_TARGETS)
            members = "SELECT cl_from, name, cl_sortkey FROM batch JOIN wanted_number ON id = cl_target_id WHERE TRUE"
        self.load("categorylinks", columns, f"INSERT INTO category {members} AND cl_type = 'page'")

    def _load_targets(self, needed_by: str, statement: str) -> None:
        if "linktarget" not in self._files.tables:
            raise InputError(
                self._files.directory, f"lacks *-linktarget.sql.gz, without which {needed_by} has no titles"
            )
        self.load("linktarget", _TARGET_COLUMNS, statement)

    def _list_columns(self, table: str) -> tuple[str, ...]:
        return TableDump(self._files.tables[table], table).columns
