"""The file of facts: what of Wikidata is needed, in an SQLite database, so that memory holds none of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from shadowprobe.dataset import make_directory
from shadowprobe.errors import BuildError
from shadowprobe.retrieval.wikidata.entities import INSTANCE_OF, SUBCLASS_OF, Item

# Raised where the tables or the reading change, so that a file of an older version is made anew.
VERSION = 1
# Rows that wait in memory before they are written.
BATCH = 10_000
# Entities by the number of their QID; lists of names and forms as JSON. Rows are only added, and indexed at the end:
# a key from the start would have the file searched for the place of every row.
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
    """What a file of facts was made of."""

    source: list[str]
    language: str
    properties: list[str]
    counts: dict[str, int] = {}
    version: int = VERSION


def number_of(qid: str) -> int:
    """The number in a QID."""
    return int(qid[1:])


class Writer:
    """Puts entities into a new file of facts, many rows at a time."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._encode = msgspec.json.Encoder().encode

    def add(self, item: Item) -> None:
        """Adds all that is known of an item."""
        qid = number_of(item.qid)
        self.name(item.qid, item.names)
        if item.title is not None:
            self._add("title", qid, item.title)
        for name in item.items(INSTANCE_OF):
            self._add("kind", qid, number_of(name))
        self.classify(item.qid, item.items(SUBCLASS_OF))
        for number, values in item.claims.items():
            if number in {INSTANCE_OF, SUBCLASS_OF}:
                continue
            for value in values:
                other = number_of(value.item) if value.item is not None else None
                self._add("claim", qid, number, other, self._encode(value.forms).decode())

    def name(self, qid: str, names: Sequence[str]) -> None:
        """Adds the names of an item, if it has any."""
        if names:
            self._add("label", number_of(qid), self._encode(names).decode())

    def classify(self, qid: str, parents: Iterable[str]) -> None:
        """Adds the classes that a class is below."""
        for parent in parents:
            self._add("subclass", number_of(qid), number_of(parent))

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
        """Writes what is left, makes the indexes, and says what the file was made of."""
        for table in list(self._rows):
            self._write(table)
        self._connection.executescript(_INDEXES)
        self._connection.execute("INSERT INTO said VALUES (?)", [msgspec.json.encode(contents).decode()])
        self._connection.commit()


@contextmanager
def writing(path: Path, contents: Contents) -> Iterator[Writer]:
    """A new file of facts, which gets its name only when it is whole."""
    make_directory(path.parent)
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    try:
        with _readable_errors(part), closing(sqlite3.connect(part)) as connection:
            # Nothing is to be saved of a file that breaks off: it is made anew.
            connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
            writer = Writer(connection)
            yield writer
            writer.finish(contents)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A file of facts, which is not changed; tables of the day stand in temporary files."""
    with (
        _readable_errors(path),
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        connection.execute("PRAGMA temp_store = FILE")
        yield connection


def read_contents(path: Path) -> Contents | None:
    """What a file of facts was made of; None where there is none, or one that cannot be used."""
    if not path.exists():
        return None
    try:
        with reading(path) as connection:
            ((said,),) = connection.execute("SELECT contents FROM said").fetchall()
        return msgspec.json.decode(said, type=Contents)
    except (BuildError, ValueError):
        return None


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BuildError(f"{path}: the file of facts cannot be used ({error}); remove it and try again") from None
