"""Finds the files of a directory that are public dumps of a wiki."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from shadowprobe.errors import InputError

TABLES = ("page", "redirect", "page_props", "linktarget", "pagelinks", "categorylinks")
_PACKED = r"(?:\.gz|\.bz2)?"
_SQL = re.compile(rf"(?P<dump>.+)-(?P<table>{'|'.join(TABLES)})\.sql{_PACKED}")
_XML = re.compile(
    r"(?P<dump>.+)-(?P<kind>pages-articles|pages-articles-multistream|stub-meta-history)"
    rf"(?P<part>\d*)\.xml(?:-p(?P<first>\d+)p\d+)?{_PACKED}"
)


class DumpFiles(Struct, frozen=True):
    """The dumps in a directory: one file per table, and the XML files in the order of their parts."""

    directory: Path
    tables: dict[str, Path]
    articles: tuple[Path, ...] = ()
    history: tuple[Path, ...] = ()


def find_dump_files(directory: Path) -> DumpFiles:
    """Finds the dumps in a directory, which must all be of one wiki and one day."""
    if not directory.is_dir():
        raise InputError(directory, "no such directory")
    tables: dict[str, Path] = {}
    parts: dict[str, list[tuple[int, int, Path]]] = {}
    dumps = set()
    for path in sorted(directory.iterdir()):
        if match := _SQL.fullmatch(path.name):
            if match["table"] in tables:
                raise InputError(path, f"is the second file of its table beside {tables[match['table']].name}")
            tables[match["table"]] = path
        elif match := _XML.fullmatch(path.name):
            kind = match["kind"] + ("-parts" if match["part"] or match["first"] else "")
            parts.setdefault(kind, []).append((int(match["part"] or 0), int(match["first"] or 0), path))
        else:
            continue
        dumps.add(match["dump"])
    if len(dumps) > 1:
        raise InputError(directory, f"holds dumps of more than one wiki or day ({', '.join(sorted(dumps))}): keep one")
    if not dumps:
        raise InputError(directory, "holds no dumps such as enwiki-20240101-page.sql.gz")
    articles = _choose_files(parts, "pages-articles", "pages-articles-multistream")
    return DumpFiles(directory, tables, articles, _choose_files(parts, "stub-meta-history"))


def _choose_files(parts: dict[str, list[tuple[int, int, Path]]], *kinds: str) -> tuple[Path, ...]:
    """Returns the files of the first kind that exists, whole or in parts: the same pages must not be read twice."""
    forms = (f"{kind}{suffix}" for kind in kinds for suffix in ("", "-parts"))
    files = next((parts[form] for form in forms if form in parts), [])
    return tuple(path for _, _, path in sorted(files))
