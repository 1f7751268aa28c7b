"""The captures of wanted pages in Parquet files with the columns of Common Crawl's index, through DuckDB."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from shadowprobe.build.captures.capture_choice import Capture, WantedPages
from shadowprobe.build.web.fetch import HTML
from shadowprobe.errors import BuildError
from shadowprobe.net.blocking import BlockingClient

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY, ROWS = "1GB", 10_000
# The columns, and their types in a file that lacks them.
COLUMNS = {
    **dict.fromkeys(("url_surtkey", "url"), "VARCHAR"),
    "fetch_time": "TIMESTAMP",
    "fetch_status": "INTEGER",
    **dict.fromkeys(("content_mime_type", "content_mime_detected", "warc_filename"), "VARCHAR"),
    **dict.fromkeys(("warc_record_offset", "warc_record_length"), "BIGINT"),
}
# A time is read as a number: Python would need another package for a time with a zone.
_QUERY = """
SELECT url::VARCHAR, url_surtkey::VARCHAR, epoch_us(fetch_time), warc_filename::VARCHAR,
    warc_record_offset::BIGINT, warc_record_length::BIGINT
FROM (SELECT *{} FROM read_parquet($files, union_by_name = true, hive_partitioning = false))
WHERE fetch_status = 200
    AND coalesce(content_mime_detected, content_mime_type) IN (SELECT unnest($types))
    AND epoch_us(fetch_time) >= 0 AND epoch_us(fetch_time) < $before
    AND (url_surtkey IN (SELECT key FROM wanted_key) OR url IN (SELECT url FROM wanted_url))
"""
# An error of our own file system, which DuckDB shows with the places where it happened.
_OWN_ERROR = re.compile(r"OSError: (.+)")
# Only newer crawls have this column.
_TRUNCATED = "content_truncated"


def read_table(
    files: Sequence[str],
    wanted: WantedPages,
    before: int,
    client: BlockingClient | None,
    lacking: set[str],
) -> Iterator[Capture]:
    """Yields the captures of wanted pages with status 200, HTML and a moment before this one.

    With a client the files are on a server. A column that no file has is added to `lacking`.
    """
    with _connect(files) as connection:
        if client is not None:
            files = _register(connection, client, files)
        columns = _list_columns(connection, files)
        missing = [column for column in COLUMNS if column not in columns]
        lacking.update(missing)
        for name, values in (("key", list(wanted.keys)), ("url", list(wanted.urls))):
            connection.register("batch", {name: np.array(values, dtype=object)})
            connection.execute(f"CREATE TEMP TABLE wanted_{name} AS SELECT * FROM batch")
            connection.unregister("batch")
        query = _QUERY.format("".join(f", NULL::{COLUMNS[column]} AS {column}" for column in missing))
        query += f" AND {_TRUNCATED} IS NULL" if _TRUNCATED in columns else ""
        rows = connection.execute(query, {"files": list(files), "types": sorted(HTML), "before": before})
        for batch in iter(lambda: rows.fetchmany(ROWS), []):
            yield from (Capture(*row) for row in batch if None not in row)


def _register(connection: DuckDBPyConnection, client: BlockingClient, urls: Sequence[str]) -> list[str]:
    """Lets DuckDB read files of a server through the client; returns their names for it."""
    try:
        from shadowprobe.build.captures.remote_tables import SCHEME, RemoteTables
    except ImportError:
        raise _make_missing_error() from None
    connection.register_filesystem(RemoteTables(client))
    return [f"{SCHEME}://{url}" for url in urls]


def _make_missing_error() -> BuildError:
    return BuildError("--common-crawl needs its extra: pip install 'shadowprobe[dumps]'")


def _list_columns(connection: DuckDBPyConnection, files: Sequence[str]) -> set[str]:
    query = "DESCRIBE SELECT * FROM read_parquet($files, union_by_name = true, hive_partitioning = false)"
    return {str(row[0]) for row in connection.execute(query, {"files": list(files)}).fetchall()}


def check_columns(file: str, missing: Sequence[str]) -> None:
    """Refuses tables in which a column is missing."""
    if missing:
        raise BuildError(f"{file}: lacks the column {missing[0]}; --common-crawl needs {', '.join(COLUMNS)}")


@contextmanager
def _connect(files: Sequence[str]) -> Iterator[DuckDBPyConnection]:
    """Opens DuckDB without a database; temporary files are written where the system has them."""
    duckdb = import_duckdb()
    with tempfile.TemporaryDirectory(prefix="shadowprobe-") as overflow:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "temp_directory": overflow,
            "preserve_insertion_order": False,
            # DuckDB would download extensions.
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        try:
            with duckdb.connect(config=settings) as connection:
                yield connection
        except duckdb.Error as error:
            own = _OWN_ERROR.search(str(error))
            reason = own[1] if own else str(error).partition("\n")[0]
            raise BuildError(f"{files[0]}: the index cannot be read ({reason}); give another --common-crawl") from None


def import_duckdb() -> Any:
    """Imports DuckDB; says how to install it if it is missing."""
    try:
        import duckdb
    except ImportError:
        raise _make_missing_error() from None
    return duckdb
