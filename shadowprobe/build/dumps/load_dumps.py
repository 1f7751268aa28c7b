"""The dumps of a wiki into a database, which is made once and holds only what the first stages ask for."""

from __future__ import annotations

from pathlib import Path

import msgspec

from shadowprobe.build.dumps.articles import load_articles, load_history
from shadowprobe.build.dumps.files import DumpFiles, find_files
from shadowprobe.build.dumps.store import Contents, Wanted, Watch, connect, read_contents
from shadowprobe.build.dumps.tables import load_tables
from shadowprobe.errors import InputError

# Raised where the tables change, so that a database of an older version is made anew.
VERSION = 1
# Titles as the tables of a wiki have them, with underscores; of pages only articles and their redirects.
_SCHEMA = """
CREATE TABLE page (id BIGINT, title VARCHAR, redirect BOOLEAN);
CREATE TABLE redirect (source BIGINT, title VARCHAR);
CREATE TABLE disambiguation (page BIGINT);
CREATE TABLE item (page BIGINT, qid VARCHAR);
CREATE TABLE category (page BIGINT, name VARCHAR, sortkey VARCHAR);
CREATE TABLE created (page BIGINT, moment VARCHAR);
CREATE TABLE said (contents VARCHAR);
"""


def load(directory: Path, database: Path, wanted: Wanted, watch: Watch | None = None) -> None:
    """Makes the database of the dumps in a directory, unless it is there already."""
    files = find_files(directory)
    used = [*files.tables.values(), *files.articles, *(files.history if wanted.created else ())]
    contents = Contents(VERSION, [_stamp(path) for path in used], wanted, [])
    if _known(database, contents):
        return
    if wanted.created and not files.history:
        raise InputError(
            directory,
            "--created-before needs *-stub-meta-history*.xml.gz beside the other dumps, which do not tell when a page"
            " was first written",
        )
    # Only a whole database gets the name under which it is looked for.
    part = database.with_name(f"{database.name}.part")
    for old in (part, part.with_name(f"{part.name}.wal")):
        old.unlink(missing_ok=True)
    database.parent.mkdir(parents=True, exist_ok=True)
    with connect(part) as connection:
        connection.execute(_SCHEMA)
        tell = watch or (lambda file, done, total: None)
        if _has_tables(files):
            contents.notes += load_tables(connection, files, wanted, tell)
        else:
            contents.notes += load_articles(connection, files, wanted, tell)
        if wanted.created:
            load_history(connection, files, tell)
        connection.execute("INSERT INTO said VALUES (?)", [msgspec.json.encode(contents).decode()])
    part.replace(database)


def _has_tables(files: DumpFiles) -> bool:
    """True where the tables suffice; where they do not, there must be articles."""
    missing = [table for table in ("page", "redirect", "pagelinks") if table not in files.tables]
    if missing and not files.articles:
        raise InputError(
            files.directory,
            f"lacks {' and '.join(f'*-{table}.sql.gz' for table in missing)}, and *-pages-articles.xml.bz2 instead",
        )
    return not missing


def _stamp(path: Path) -> tuple[str, int, int]:
    said = path.stat()
    return path.name, said.st_size, said.st_mtime_ns


def _known(database: Path, wanted: Contents) -> bool:
    if not database.exists():
        return False
    known = read_contents(database)
    return (known.version, known.files, known.wanted) == (wanted.version, wanted.files, wanted.wanted)
