"""Which files of a directory are the public dumps of a wiki, and how to open them."""

from __future__ import annotations

import bz2
import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from msgspec import Struct

from shadowprobe.errors import InputError
from shadowprobe.jsonl import open_for_reading

TABLES = ("page", "redirect", "page_props", "linktarget", "pagelinks", "categorylinks")
_PACKED = r"(?:\.gz|\.bz2)?"
_SQL = re.compile(rf"(?P<dump>.+)-(?P<table>{'|'.join(TABLES)})\.sql{_PACKED}")
_XML = re.compile(
    r"(?P<dump>.+)-(?P<kind>pages-articles|pages-articles-multistream|stub-meta-history)"
    rf"(?P<part>\d*)\.xml(?:-p(?P<first>\d+)p\d+)?{_PACKED}"
)


class DumpFiles(Struct, frozen=True):
    """The dumps in a directory: one file a table, and the XML in the order of its parts."""

    directory: Path
    tables: dict[str, Path]
    articles: tuple[Path, ...] = ()
    history: tuple[Path, ...] = ()


def find_files(directory: Path) -> DumpFiles:
    """The dumps that a directory holds, all of one wiki and one day."""
    if not directory.is_dir():
        raise InputError(directory, "no such directory")
    tables: dict[str, Path] = {}
    parts: dict[str, list[tuple[int, int, Path]]] = {}
    dumps = set()
    for path in sorted(directory.iterdir()):
        if found := _SQL.fullmatch(path.name):
            if found["table"] in tables:
                raise InputError(path, f"is the second file of its table beside {tables[found['table']].name}")
            tables[found["table"]] = path
        elif found := _XML.fullmatch(path.name):
            kind = found["kind"] + ("-parts" if found["part"] or found["first"] else "")
            parts.setdefault(kind, []).append((int(found["part"] or 0), int(found["first"] or 0), path))
        else:
            continue
        dumps.add(found["dump"])
    if len(dumps) > 1:
        raise InputError(directory, f"holds dumps of more than one wiki or day ({', '.join(sorted(dumps))}): keep one")
    if not dumps:
        raise InputError(directory, "holds no dumps such as enwiki-20240101-page.sql.gz")
    # The same articles are published in four ways, and must not be read twice.
    articles = (
        "pages-articles",
        "pages-articles-parts",
        "pages-articles-multistream",
        "pages-articles-multistream-parts",
    )
    return DumpFiles(
        directory,
        tables,
        articles=_first(parts, *articles),
        history=_first(parts, "stub-meta-history", "stub-meta-history-parts"),
    )


def _first(parts: dict[str, list[tuple[int, int, Path]]], *kinds: str) -> tuple[Path, ...]:
    """The files of the first kind that is there."""
    found = next((parts[kind] for kind in kinds if kind in parts), [])
    return tuple(path for _, _, path in sorted(found))


@contextmanager
def open_dump(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a dump; reading them can end in an error of the packer, see `broken`."""
    with open_for_reading(path) as file:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(IO[bytes], unpacked)
        elif path.suffix == ".bz2":
            with bz2.BZ2File(file) as unpacked:
                yield unpacked
        else:
            yield file


def broken(path: Path, error: Exception) -> InputError:
    """The error of a file that cannot be unpacked."""
    if isinstance(error, EOFError):
        return cut_off(path)
    return InputError(path, f"cannot be unpacked ({error}): fetch it again")


def cut_off(path: Path, where: str = "") -> InputError:
    """The error of a file whose end is missing."""
    return InputError(path, f"is cut off{where}: fetch it again")
