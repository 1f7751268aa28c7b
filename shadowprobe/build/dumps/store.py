"""The database file for the dumps of a wiki: opens, fills and describes it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

from shadowprobe.build.machine import ALL, Machine
from shadowprobe.errors import BuildError

if TYPE_CHECKING:
    import duckdb
    from duckdb import DuckDBPyConnection

# What DuckDB says if its temporary files do not fit on the disk, which it also calls a lack of memory.
_FULL_DISK = ("max_temp_directory_size", "No space left")


class Wanted(Struct, frozen=True):
    """The parts of the dumps that are needed in addition to the articles and their links."""

    # Disambiguation pages are found by this category only, instead of by their property.
    category: str = ""
    categories: tuple[str, ...] = ()
    created: bool = False
    # The headings of sections with references, in small letters.
    headings: tuple[str, ...] = ()


class DumpContents(Struct):
    """The sources of a database."""

    version: int
    files: list[tuple[str, int, int]]
    wanted: Wanted
    notes: list[str]


def read_contents(database: Path) -> DumpContents:
    """Reads the sources of a database."""
    with connect(database, ALL) as connection:
        ((contents,),) = connection.execute("SELECT contents FROM said").fetchall()
    return msgspec.json.decode(contents, type=DumpContents)


def read_notes(database: Path) -> list[str]:
    """Reads the notes on the dumps that a reader of the dataset should know."""
    return read_contents(database).notes


@contextmanager
def connect(database: Path, machine: Machine, *, read_only: bool = True) -> Iterator[DuckDBPyConnection]:
    """Opens the database with a memory limit; temporary files are written beside it."""
    try:
        import duckdb
    except ImportError:
        raise BuildError("--dumps needs its extra: pip install 'shadowprobe[dumps]'") from None

    overflow = database.with_name(f"{database.name}.overflow")
    memory = machine.find_memory()
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory}B",
        "threads": machine.count_workers(),
        "temp_directory": str(overflow),
        "preserve_insertion_order": False,
        # DuckDB would download extensions.
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    try:
        with duckdb.connect(database, read_only=read_only, config=settings) as connection:
            yield connection
    except duckdb.Error as error:
        raise BuildError(f"{database}: {_explain(error, memory, overflow)}") from None
    finally:
        shutil.rmtree(overflow, ignore_errors=True)


def _explain(error: duckdb.Error, memory: int, overflow: Path) -> str:
    """Says what went wrong, and what to do about it."""
    import duckdb

    reason = str(error).partition("\n")[0]
    if any(words in str(error) for words in _FULL_DISK):
        return f"the disk has no room for the temporary files in {overflow} ({reason}); free some, and try again"
    if isinstance(error, duckdb.OutOfMemoryException):
        return (
            f"the {memory / 1e9:.1f} GB of memory that the database may use are not enough ({reason});"
            " give it more with --memory, and try again"
        )
    return f"the database of the dumps cannot be used ({reason}); remove it and try again"


def insert(connection: DuckDBPyConnection, columns: Mapping[str, Any], *statements: str) -> None:
    """Adds many rows at once, by statements that select them from `batch`, the table of these columns."""
    arrays = {
        name: values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
        for name, values in columns.items()
    }
    # A column of objects has no type before it has a value.
    if len(next(iter(arrays.values()))):
        connection.register("batch", arrays)
        for statement in statements:
            connection.execute(statement)
        connection.unregister("batch")


def count(connection: DuckDBPyConnection, table: str) -> int:
    """Counts the rows of a table."""
    ((count,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(count)


def has_table(connection: DuckDBPyConnection, table: str) -> bool:
    """True if the database has a table of this name."""
    query = "SELECT count(*) FROM duckdb_tables() WHERE table_name = $table"
    ((count,),) = connection.execute(query, {"table": table}).fetchall()
    return bool(count)
