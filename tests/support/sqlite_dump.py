"""Dumps of a MediaWiki that keeps its pages in SQLite, in the form that the dumps of Wikipedia have."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

TABLES = ("page", "redirect", "page_props", "linktarget", "pagelinks", "categorylinks")
ROWS = 200
Value = int | float | str | bytes | None
_ESCAPES = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}


def literal(value: Value) -> bytes:
    """A value as mysqldump writes it."""
    if value is None:
        return b"NULL"
    if isinstance(value, int | float):
        return str(value).encode()
    raw = value.encode() if isinstance(value, str) else value
    return b"'" + b"".join(_ESCAPES.get(byte, bytes([byte])) for byte in raw) + b"'"


def table_dump(table: str, columns: dict[str, str], rows: Iterable[Sequence[Value]]) -> bytes:
    """The dump of a table whose columns have these types."""
    lines = ",\n".join(f"  `{name}` {kind}" for name, kind in columns.items())
    text = [
        f"-- MySQL dump 10.19\n\nDROP TABLE IF EXISTS `{table}`;\n"
        f"CREATE TABLE `{table}` (\n{lines},\n  PRIMARY KEY (`{next(iter(columns))}`)\n) ENGINE=InnoDB;\n\n"
        f"/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\n".encode()
    ]
    tuples = [b"(" + b",".join(map(literal, row)) + b")" for row in rows]
    for first in range(0, len(tuples), ROWS):
        text.append(f"INSERT INTO `{table}` VALUES ".encode() + b",".join(tuples[first : first + ROWS]) + b";\n")
    text.append(f"/*!40000 ALTER TABLE `{table}` ENABLE KEYS */;\n\n-- Dump completed\n".encode())
    return b"".join(text)


def dump_sqlite(database: Path, directory: Path, prefix: str = "testwiki-20260101") -> list[Path]:
    """Writes the tables that the first stages of a build need, as far as the wiki has them."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        # What is text and what is bytes differs from table to table and from row to row.
        connection.text_factory = bytes
        for table in TABLES:
            columns = {
                name.decode(): "int unsigned" if b"INT" in kind else "double" if kind == b"REAL" else "varbinary(255)"
                for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")
            }
            if columns:
                rows = connection.execute(f"SELECT * FROM {table} ORDER BY rowid")
                path = directory / f"{prefix}-{table}.sql.gz"
                path.write_bytes(gzip.compress(table_dump(table, columns, rows)))
                written.append(path)
    return written
