"""Pages, redirects, properties and links from the dumps of a wiki's tables into the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shadowprobe.build.dumps.files import DumpFiles
from shadowprobe.build.dumps.sql import Batch, Kind, TableDump
from shadowprobe.build.dumps.store import Wanted, Watch, count, insert
from shadowprobe.build.dumps.wikitext import ARTICLE, CATEGORY
from shadowprobe.errors import InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

NOTE = (
    "disambiguation pages are known by their property alone: those that only a category tells would take"
    " *-categorylinks.sql.gz"
)


def load_tables(connection: DuckDBPyConnection, files: DumpFiles, wanted: Wanted, watch: Watch) -> list[str]:
    """Takes all that the tables tell, and says what they do not."""
    _load_pages(connection, files, watch)
    _load_redirects(connection, files, watch)
    load_properties(connection, files, watch)
    _load_links(connection, files, watch)
    if "categorylinks" in files.tables:
        _load_categories(connection, files, wanted, watch)
    elif wanted.category or not count(connection, "disambiguation"):
        raise InputError(
            files.directory,
            "lacks *-categorylinks.sql.gz, by which disambiguation pages are told where no property tells them",
        )
    else:
        return [NOTE]
    return []


def _load_pages(connection: DuckDBPyConnection, files: DumpFiles, watch: Watch) -> None:
    columns: dict[str, Kind] = {"page_id": "number", "page_namespace": "number", "page_is_redirect": "number"}
    for batch in _batches(files.tables["page"], "page", {**columns, "page_title": "text"}, watch):
        rows = batch["page_namespace"] == ARTICLE
        titles, redirect = _some(batch["page_title"], rows), batch["page_is_redirect"][rows] == 1
        insert(connection, "page", {"id": batch["page_id"][rows], "title": titles, "redirect": redirect})


def _load_redirects(connection: DuckDBPyConnection, files: DumpFiles, watch: Watch) -> None:
    columns: dict[str, Kind] = {"rd_from": "number", "rd_namespace": "number", "rd_title": "text"}
    for batch in _batches(files.tables["redirect"], "redirect", {**columns, "rd_interwiki": "text"}, watch):
        # A redirect may lead to another wiki, whose titles are not ours.
        here = np.array([not wiki for wiki in batch["rd_interwiki"]], dtype=bool)
        rows = (batch["rd_namespace"] == ARTICLE) & here
        insert(connection, "redirect", {"source": batch["rd_from"][rows], "title": _some(batch["rd_title"], rows)})


def load_properties(connection: DuckDBPyConnection, files: DumpFiles, watch: Watch) -> None:
    """Takes which pages are disambiguation pages and which item of Wikidata a page has, where the dump is there."""
    if "page_props" not in files.tables:
        return
    columns: dict[str, Kind] = {"pp_page": "number", "pp_propname": "text", "pp_value": "text"}
    for batch in _batches(files.tables["page_props"], "page_props", columns, watch):
        names = np.array(batch["pp_propname"], dtype=object)
        rows = names == "disambiguation"
        insert(connection, "disambiguation", {"page": batch["pp_page"][rows]})
        rows = names == "wikibase_item"
        insert(connection, "item", {"page": batch["pp_page"][rows], "qid": _some(batch["pp_value"], rows)})


def _load_links(connection: DuckDBPyConnection, files: DumpFiles, watch: Watch) -> None:
    """Takes links with their titles as dumps before 2024 have them, or with the numbers of their titles."""
    path = files.tables["pagelinks"]
    known = TableDump(path, "pagelinks").columns
    columns: dict[str, Kind] = {"pl_from": "number"}
    if "pl_from_namespace" in known:
        columns["pl_from_namespace"] = "number"
    # For a year the table had both, and the numbers were not yet filled in everywhere.
    if "pl_title" in known:
        columns |= {"pl_namespace": "number", "pl_title": "text"}
        connection.execute("CREATE TABLE link (source BIGINT, title VARCHAR)")
    else:
        columns["pl_target_id"] = "number"
        _load_targets(connection, files, watch)
        connection.execute("CREATE TABLE numbered (source BIGINT, target BIGINT)")
        connection.execute(
            "CREATE VIEW link AS SELECT source, title FROM numbered JOIN target ON target.id = numbered.target"
        )
    for batch in _batches(path, "pagelinks", columns, watch):
        rows = batch.get("pl_from_namespace", np.zeros_like(batch["pl_from"])) == ARTICLE
        if "pl_title" in batch:
            rows &= batch["pl_namespace"] == ARTICLE
            insert(connection, "link", {"source": batch["pl_from"][rows], "title": _some(batch["pl_title"], rows)})
        else:
            insert(connection, "numbered", {"source": batch["pl_from"][rows], "target": batch["pl_target_id"][rows]})


def _load_targets(connection: DuckDBPyConnection, files: DumpFiles, watch: Watch) -> None:
    connection.execute("CREATE TABLE target (id BIGINT, title VARCHAR)")
    for batch in _targets(files, "pagelinks", watch):
        rows = batch["lt_namespace"] == ARTICLE
        insert(connection, "target", {"id": batch["lt_id"][rows], "title": _some(batch["lt_title"], rows)})


def _targets(files: DumpFiles, needed_by: str, watch: Watch) -> Iterator[Batch]:
    if "linktarget" not in files.tables:
        raise InputError(files.directory, f"lacks *-linktarget.sql.gz, without which {needed_by} has no titles")
    columns: dict[str, Kind] = {"lt_id": "number", "lt_namespace": "number", "lt_title": "text"}
    return _batches(files.tables["linktarget"], "linktarget", columns, watch)


def _load_categories(connection: DuckDBPyConnection, files: DumpFiles, wanted: Wanted, watch: Watch) -> None:
    """Takes the members of the categories that are asked for, whether they are named or numbered."""
    path = files.tables["categorylinks"]
    names: dict[Any, str] = {name: name for name in wanted.categories}
    columns: dict[str, Kind] = {"cl_from": "number", "cl_to": "text", "cl_sortkey": "bytes", "cl_type": "text"}
    if "cl_to" not in TableDump(path, "categorylinks").columns:
        columns = {"cl_target_id" if name == "cl_to" else name: kind for name, kind in columns.items()}
        columns["cl_target_id"] = "number"
        names = {}
        for batch in _targets(files, "categorylinks", watch):
            for row in np.flatnonzero(batch["lt_namespace"] == CATEGORY):
                if batch["lt_title"][row] in wanted.categories:
                    names[int(batch["lt_id"][row])] = batch["lt_title"][row]
    for batch in _batches(path, "categorylinks", columns, watch):
        of = batch["cl_to"] if "cl_to" in batch else batch["cl_target_id"].tolist()
        rows = np.array([name in names and kind == "page" for name, kind in zip(of, batch["cl_type"], strict=True)])
        insert(
            connection,
            "category",
            {
                "page": batch["cl_from"][rows],
                "name": [names[of[row]] for row in np.flatnonzero(rows)],
                "sortkey": _some(batch["cl_sortkey"], rows),
            },
        )


def _batches(path: Path, table: str, columns: dict[str, Kind], watch: Watch) -> Iterator[Batch]:
    done = 0
    for batch in TableDump(path, table).batches(columns):
        yield batch
        done += len(next(iter(batch.values())))
        watch(path.name, done, None)


def _some(values: list[Any], rows: Any) -> Any:
    return np.array(values, dtype=object)[rows]
