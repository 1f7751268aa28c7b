"""A database of dumps that a test fills by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from shadowprobe.build.dumps.load_dumps import SCHEMA
from shadowprobe.build.dumps.load_tables import LINKS_BY_NUMBER, LINKS_BY_TITLE
from shadowprobe.build.dumps.store import connect
from shadowprobe.build.machine import ALL

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@contextmanager
def new_database(path: Path, *, by_number: bool = False) -> Iterator[DuckDBPyConnection]:
    """Makes the tables, whose links have numbers or titles."""
    with connect(path, ALL, read_only=False) as connection:
        connection.execute(f"{SCHEMA}; {LINKS_BY_NUMBER if by_number else LINKS_BY_TITLE}")
        yield connection
