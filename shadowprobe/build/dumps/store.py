"""The database file that holds the dumps of a wiki: how it is opened, filled and described."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct

from shadowprobe.errors import BuildError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Told a file, how many of its rows or pages are read, and how many there are, which a dump does not say.
Watch = Callable[[str, int, int | None], None]
MEMORY, THREADS = "1GB", 2


class Wanted(Struct, frozen=True):
    """What of the dumps is asked for beside the articles and their links."""

    # By the category of this name alone, in place of the property of pages.
    category: str = ""
    categories: tuple[str, ...] = ()
    created: bool = False


class Contents(Struct):
    """What a database was made of."""

    version: int
    files: list[tuple[str, int, int]]
    wanted: Wanted
    notes: list[str]


def read_contents(database: Path) -> Contents:
    """What a database was made of."""
    with connect(database, read_only=True) as connection:
        ((said,),) = connection.execute("SELECT contents FROM said").fetchall()
    return msgspec.json.decode(said, type=Contents)


def read_notes(database: Path) -> list[str]:
    """What a reader of the results should know of the dumps they come from."""
    return read_contents(database).notes


@contextmanager
def connect(database: Path, *, read_only: bool = False) -> Iterator[DuckDBPyConnection]:
    """The database within its limits of memory, with nothing written but beside it."""
    try:
        import duckdb
    except ImportError:
        raise BuildError("--dumps needs its extra: pip install 'shadowprobe[dumps]'") from None

    overflow = database.with_name(f"{database.name}.overflow")
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": MEMORY,
        "threads": THREADS,
        "temp_directory": str(overflow),
        "preserve_insertion_order": False,
        # It would fetch its extensions from the net.
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    try:
        with duckdb.connect(database, read_only=read_only, config=settings) as connection:
            yield connection
    except duckdb.Error as error:
        what = str(error).partition("\n")[0]
        raise BuildError(
            f"{database}: the database of the dumps cannot be used ({what}); remove it and try again"
        ) from None
    finally:
        shutil.rmtree(overflow, ignore_errors=True)


def insert(connection: DuckDBPyConnection, table: str, columns: Mapping[str, Any]) -> None:
    """Adds many rows at once, given by columns in the order of the table."""
    arrays = {
        name: values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
        for name, values in columns.items()
    }
    # A column of objects has no type before it has a value.
    if len(next(iter(arrays.values()))):
        connection.register("batch", arrays)
        connection.execute(f"INSERT INTO {table} SELECT * FROM batch")
        connection.unregister("batch")


def count(connection: DuckDBPyConnection, table: str) -> int:
    """How many rows a table has."""
    ((count,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(count)
