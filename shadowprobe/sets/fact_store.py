"""The file of facts: the needed part of Wikidata in an SQLite database, because it does not fit into memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from shadowprobe.base.files import make_directory
from shadowprobe.errors import BuildError
from shadowprobe.sets.wikidata_entities import INSTANCE_OF, SUBCLASS_OF, WikidataItem

# Increased when the tables or their meaning change, so that an older file is made again.
VERSION = 1
# The number of rows that are collected in memory before they are written.
BATCH = 10_000
# Entities have the number of their QID; lists of names and forms are JSON. Rows are only added, and indexed at the
# end: with a key from the start, each insertion would search the file.
_TABLES = """
CREATE TABLE label (qid INTEGER, forms TEXT);
CREATE TABLE title (qid INTEGER, title TEXT);
CREATE TABLE kind (qid INTEGER, class INTEGER);
CREATE TABLE subclass (class INTEGER, parent INTEGER);
CREATE TABLE claim (qid INTEGER, property TEXT, item INTEGER, forms TEXT);
CREATE TABLE said (contents TEXT);
"""
_INDEXES = """
CREATE INDEX label_qid ON label (qid);
CREATE INDEX title_qid ON title (qid);
CREATE INDEX subclass_parent ON subclass (parent);
CREATE INDEX claim_qid ON claim (qid);
"""


class Contents(Struct):
    """The sources of a file of facts."""

    source: list[str]
    language: str
    properties: list[str]
    version: int = VERSION


def parse_qid(qid: str) -> int:
    """Returns the number in a QID."""
    return int(qid[1:])


class Writer:
    """Writes entities into a new file of facts, many rows at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._encode = msgspec.json.Encoder().encode

    def add(self, item: WikidataItem) -> None:
        """Adds everything that is known of an item."""
        qid = parse_qid(item.qid)
        self.add_names(item.qid, item.names)
        if item.title is not None:
            self._add("title", qid, item.title)
        for name in item.items(INSTANCE_OF):
            self._add("kind", qid, parse_qid(name))
        self.add_parents(item.qid, item.items(SUBCLASS_OF))
        for number, values in item.claims.items():
            if number in {INSTANCE_OF, SUBCLASS_OF}:
                continue
            for value in values:
                other = parse_qid(value.item) if value.item is not None else None
                self._add("claim", qid, number, other, self._encode(value.forms).decode())

    def add_names(self, qid: str, names: Sequence[str]) -> None:
        """Adds the names of an item, if it has any."""
        if names:
            self._add("label", parse_qid(qid), self._encode(names).decode())

    def add_parents(self, qid: str, parents: Iterable[str]) -> None:
        """Adds the parent classes of a class."""
        for parent in parents:
            self._add("subclass", parse_qid(qid), parse_qid(parent))

    def _add(self, table: str, *row: Any) -> None:
        rows = self._rows.setdefault(table, [])
        rows.append(row)
        if len(rows) >= BATCH:
            self._write(table)

    def _write(self, table: str) -> None:
        rows = self._rows.pop(table)
        places = ", ".join("?" * len(rows[0]))
        self._connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def finish(self, contents: Contents) -> None:
        """Writes the remaining rows, the indexes, and the sources of the file."""
        for table in list(self._rows):
            self._write(table)
        self._connection.executescript(_INDEXES)
        self._connection.execute("INSERT INTO said VALUES (?)", [msgspec.json.encode(contents).decode()])
        self._connection.commit()


@contextmanager
def open_new_store(path: Path, contents: Contents) -> Iterator[Writer]:
    """Opens a new file of facts, which gets its final name only when it is complete."""
    make_directory(path.parent)
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with _readable_errors(part), closing(sqlite3.connect(part)) as connection:
            # An incomplete file is made again from the start, so no journal is needed.
            connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
            writer = Writer(connection)
            yield writer
            writer.finish(contents)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def open_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Opens a file of facts for reading; temporary tables are kept in temporary files."""
    with (
        _readable_errors(path),
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        connection.execute("PRAGMA temp_store = FILE")
        yield connection


def read_contents(path: Path) -> Contents | None:
    """Reads the sources of a file of facts; None if there is no usable file."""
    if not path.exists():
        return None
    try:
        with open_store(path) as connection:
            ((contents,),) = connection.execute("SELECT contents FROM said").fetchall()
        return msgspec.json.decode(contents, type=Contents)
    except (BuildError, ValueError):
        return None


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BuildError(f"{path}: the file of facts cannot be used ({error}); remove it and try again") from None
