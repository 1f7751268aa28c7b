"""Loads pages, redirects, properties and links from the dumps of a wiki's tables into the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from shadowprobe.build.dumps.dump_files import DumpFiles
from shadowprobe.build.dumps.parallel import Rows
from shadowprobe.build.dumps.sql import Kind, TableDump
from shadowprobe.build.dumps.store import Wanted
from shadowprobe.build.dumps.wikitext import ARTICLE, CATEGORY
from shadowprobe.errors import InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOTE = (
    "disambiguation pages are known by their property alone: those that only a category tells would take"
    " *-categorylinks.sql.gz"
)
# Links have numbers, as in dumps since 2024, or titles.
LINKS_BY_NUMBER = "CREATE TABLE edge (source BIGINT, key BIGINT); CREATE TABLE target (id BIGINT, title VARCHAR)"
LINKS_BY_TITLE = "CREATE TABLE edge (source BIGINT, key VARCHAR)"
# Statements that move the wanted rows of a batch to their table. The highest id is that of any page.
PAGES = (
    f"INSERT INTO page SELECT page_id, page_title, page_is_redirect = 1 FROM batch WHERE page_namespace = {ARTICLE}",
    "INSERT INTO highest SELECT max(page_id) FROM batch",
)
# A redirect may lead to another wiki, which has other titles. The column has no type if all its values are NULL.
_REDIRECTS = f"""INSERT INTO redirect SELECT rd_from, rd_title FROM batch
    WHERE rd_namespace = {ARTICLE} AND coalesce(rd_interwiki::VARCHAR, '') = ''"""
_PROPERTIES = (
    "INSERT INTO disambiguation SELECT pp_page FROM batch WHERE pp_propname = 'disambiguation'",
    "INSERT INTO item SELECT pp_page, pp_value FROM batch WHERE pp_propname = 'wikibase_item'",
)
_ARTICLE_TARGETS = f"INSERT INTO target SELECT lt_id, lt_title FROM batch WHERE lt_namespace = {ARTICLE}"
_CATEGORY_TARGETS = f"""INSERT INTO wanted_number SELECT lt_id, lt_title FROM batch
    WHERE lt_namespace = {CATEGORY} AND lt_title IN (FROM wanted_name)"""
_TARGETS: dict[str, Kind] = {"lt_id": "number", "lt_namespace": "number", "lt_title": "text"}
_COLUMNS: dict[str, dict[str, Kind]] = {
    "page": {"page_id": "number", "page_namespace": "number", "page_is_redirect": "number", "page_title": "text"},
    "redirect": {"rd_from": "number", "rd_namespace": "number", "rd_title": "text", "rd_interwiki": "text"},
    "page_props": {"pp_page": "number", "pp_propname": "text", "pp_value": "text"},
}


class TablePart(Struct, frozen=True):
    """The wanted columns of the dump of one table."""

    path: Path
    table: str
    columns: dict[str, Kind]

    def read(self) -> Iterator[Rows]:
        """Yields the rows."""
        for columns in TableDump(self.path, self.table).read_batches(self.columns):
            yield Rows(self.table, columns)


class TablePlan(Struct):
    """The dumps of tables to read, and the statements that insert their rows."""

    parts: list[TablePart]
    statements: dict[str, tuple[str, ...]]

    def add(self, files: DumpFiles, table: str, columns: dict[str, Kind], *statements: str) -> None:
        """Adds a table."""
        if all(part.table != table for part in self.parts):
            self.parts.append(TablePart(files.tables[table], table, columns))
        self.statements[table] = (*self.statements.get(table, ()), *statements)


def plan_tables(connection: DuckDBPyConnection, files: DumpFiles, wanted: Wanted) -> TablePlan:
    """Plans to load pages, redirects, properties and links."""
    plan = TablePlan([], {})
    # The largest file is begun first, so that it does not keep one process busy at the end.
    _plan_links(connection, files, plan)
    plan.add(files, "page", _COLUMNS["page"], *PAGES)
    plan.add(files, "redirect", _COLUMNS["redirect"], _REDIRECTS)
    plan_properties(files, plan)
    if "categorylinks" in files.tables:
        names = {"names": wanted.categories}
        connection.execute("CREATE TEMP TABLE wanted_name AS SELECT unnest($names) AS name", names)
        if "cl_to" not in _list_columns(files, "categorylinks"):
            connection.execute("CREATE TEMP TABLE wanted_number (id BIGINT, name VARCHAR)")
            _plan_targets(files, plan, "categorylinks", _CATEGORY_TARGETS)
    return plan


def plan_properties(files: DumpFiles, plan: TablePlan) -> None:
    """Plans to load which pages are disambiguation pages, and the Wikidata items of pages, if the dump exists."""
    if "page_props" in files.tables:
        plan.add(files, "page_props", _COLUMNS["page_props"], *_PROPERTIES)


def plan_categories(files: DumpFiles) -> TablePlan:
    """Plans to load the members of the wanted categories, which the dump gives by name or by number."""
    plan = TablePlan([], {})
    columns: dict[str, Kind] = {"cl_from": "number", "cl_sortkey": "bytes", "cl_type": "text"}
    if "cl_to" in _list_columns(files, "categorylinks"):
        columns["cl_to"] = "text"
        members = "SELECT cl_from, cl_to, cl_sortkey FROM batch WHERE cl_to IN (FROM wanted_name)"
    else:
        columns["cl_target_id"] = "number"
        members = "SELECT cl_from, name, cl_sortkey FROM batch JOIN wanted_number ON id = cl_target_id WHERE TRUE"
    plan.add(files, "categorylinks", columns, f"INSERT INTO category {members} AND cl_type = 'page'")
    return plan


def _plan_links(connection: DuckDBPyConnection, files: DumpFiles, plan: TablePlan) -> None:
    known = _list_columns(files, "pagelinks")
    columns: dict[str, Kind] = {"pl_from": "number"}
    # For a year the table had both columns, and some numbers were not yet filled in.
    if "pl_title" in known:
        columns |= {"pl_namespace": "number", "pl_title": "text"}
        connection.execute(LINKS_BY_TITLE)
        rows = f"INSERT INTO edge SELECT pl_from, pl_title FROM batch WHERE pl_namespace = {ARTICLE}"
    else:
        columns["pl_target_id"] = "number"
        connection.execute(LINKS_BY_NUMBER)
        rows = "INSERT INTO edge SELECT pl_from, pl_target_id FROM batch WHERE TRUE"
    if "pl_from_namespace" in known:
        columns["pl_from_namespace"] = "number"
        rows += f" AND pl_from_namespace = {ARTICLE}"
    plan.add(files, "pagelinks", columns, rows)
    if "pl_title" not in known:
        _plan_targets(files, plan, "pagelinks", _ARTICLE_TARGETS)


def _plan_targets(files: DumpFiles, plan: TablePlan, needed_by: str, statement: str) -> None:
    if "linktarget" not in files.tables:
        raise InputError(files.directory, f"lacks *-linktarget.sql.gz, without which {needed_by} has no titles")
    plan.add(files, "linktarget", _TARGETS, statement)


def _list_columns(files: DumpFiles, table: str) -> tuple[str, ...]:
    return TableDump(files.tables[table], table).columns
