"""The file of the database: what is beside it while it is open, and what its contents say."""

from __future__ import annotations

from pathlib import Path

import pytest
from dump_database import new_database

from shadowprobe.build.dumps.store import connect, count, has_table, insert
from shadowprobe.build.machine import ALL
from shadowprobe.errors import BuildError

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install 'shadowprobe[dumps]'")


def test_temporary_files_are_beside_the_database_and_removed_with_the_connection(tmp_path: Path) -> None:
    overflow = tmp_path / "db.overflow"
    with new_database(tmp_path / "db"):
        overflow.mkdir(exist_ok=True)
        (overflow / "left").touch()
    assert [path.name for path in tmp_path.iterdir()] == ["db"]


def test_rows_are_inserted_by_every_statement_and_no_rows_by_none(tmp_path: Path) -> None:
    with new_database(tmp_path / "db") as connection:
        statements = ("INSERT INTO disambiguation FROM batch", "INSERT INTO highest SELECT max(page) FROM batch")
        insert(connection, {"page": [3, 5]}, *statements)
        insert(connection, {"page": []}, *statements)
        assert (count(connection, "disambiguation"), count(connection, "highest")) == (2, 1)
        # The rows do not stay in memory.
        assert not connection.execute("FROM duckdb_views() WHERE view_name = 'batch'").fetchall()
    with connect(tmp_path / "db", ALL) as connection:
        assert (has_table(connection, "edge"), has_table(connection, "target")) == (True, False)


def test_who_only_reads_cannot_write(tmp_path: Path) -> None:
    with new_database(tmp_path / "db"):
        pass
    with pytest.raises(BuildError, match="read-only"), connect(tmp_path / "db", ALL) as connection:
        connection.execute("INSERT INTO disambiguation VALUES (1)")
