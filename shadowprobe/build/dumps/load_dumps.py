"""Loads the dumps of a wiki into a database, which is made once and holds only what the first stages need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from shadowprobe.build.dumps import load_articles, load_tables
from shadowprobe.build.dumps.dump_files import DumpFiles, find_dump_files
from shadowprobe.build.dumps.loading import Loader
from shadowprobe.build.dumps.store import DumpContents, Wanted, connect, count, read_contents
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.build.machine import ALL, Machine
from shadowprobe.errors import InputError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Increased when the tables change, so that an older database is made again.
VERSION = 2
# Titles have underscores, as in the tables of a wiki. Only articles and their redirects are pages here.
SCHEMA = """
CREATE TABLE page (id BIGINT, title VARCHAR, redirect BOOLEAN);
CREATE TABLE redirect (source BIGINT, title VARCHAR);
CREATE TABLE disambiguation (page BIGINT);
CREATE TABLE item (page BIGINT, qid VARCHAR);
CREATE TABLE category (page BIGINT, name VARCHAR, sortkey VARCHAR);
CREATE TABLE created (page BIGINT, moment VARCHAR);
CREATE TABLE highest (id BIGINT);
CREATE TABLE said (contents VARCHAR);
"""


def load_dumps(
    directory: Path, database: Path, wanted: Wanted, progress: Progress = ignore_progress, machine: Machine = ALL
) -> None:
    """Makes the database of the dumps in a directory, unless it exists already."""
    files = find_dump_files(directory)
    used = [*files.tables.values(), *files.articles, *(files.history if wanted.created else ())]
    contents = DumpContents(VERSION, [_make_stamp(path) for path in used], wanted, [])
    if _is_current(database, contents):
        return
    if wanted.created and not files.history:
        raise InputError(
            directory,
            "--created-before needs *-stub-meta-history*.xml.gz, because the other dumps do not say when a page"
            " was first written",
        )
    # Only a complete database gets its final name.
    part = database.with_name(f"{database.name}.part")
    for old in (part, part.with_name(f"{part.name}.wal")):
        old.unlink(missing_ok=True)
    database.parent.mkdir(parents=True, exist_ok=True)
    with connect(part, machine, read_only=False) as connection:
        connection.execute(SCHEMA)
        contents.notes += _load(connection, files, wanted, progress, machine)
        connection.execute("INSERT INTO said VALUES (?)", [msgspec.json.encode(contents).decode()])
    part.replace(database)


def _load(
    connection: DuckDBPyConnection, files: DumpFiles, wanted: Wanted, progress: Progress, machine: Machine
) -> list[str]:
    """Loads all dumps; returns notes on what is missing."""
    has_tables = _has_tables(files)
    plan = load_tables.TablePlan([], {})
    if has_tables:
        plan = load_tables.plan_tables(connection, files, wanted)
    else:
        load_tables.plan_properties(files, plan)
    articles = load_articles.plan_articles(connection, files, wanted, with_links=not has_tables)
    history = load_articles.plan_history(files) if wanted.created else []
    statements = {**plan.statements, **load_articles.STATEMENTS}
    Loader(connection, statements, progress, machine).load([*plan.parts, *articles, *history])
    if not has_tables:
        load_articles.mark_disambiguation(connection)
        return [load_articles.NOTE]
    if "categorylinks" in files.tables:
        categories = load_tables.plan_categories(files)
        Loader(connection, categories.statements, progress, machine).load(categories.parts)
        return []
    if wanted.category or not count(connection, "disambiguation"):
        raise InputError(
            files.directory,
            "lacks *-categorylinks.sql.gz, which is needed to find disambiguation pages without the page property",
        )
    return [load_tables.NOTE]


def _has_tables(files: DumpFiles) -> bool:
    """True if all needed tables exist; otherwise there must be articles."""
    missing = [table for table in ("page", "redirect", "pagelinks") if table not in files.tables]
    if missing and not files.articles:
        raise InputError(
            files.directory,
            f"lacks {' and '.join(f'*-{table}.sql.gz' for table in missing)}, and has no *-pages-articles.xml.bz2"
            " instead",
        )
    return not missing


def _make_stamp(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return path.name, status.st_size, status.st_mtime_ns


def has_current_version(database: Path) -> bool:
    """True if the database is there and has the tables of this version."""
    return database.exists() and read_contents(database).version == VERSION


def _is_current(database: Path, wanted: DumpContents) -> bool:
    return database.exists() and replace(read_contents(database), notes=[]) == wanted
