"""The files of an index: Parquet tables such as Common Crawl's, or CDX and CDXJ files."""

from __future__ import annotations

import glob
import gzip
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from shadowprobe.base.files import open_for_reading
from shadowprobe.build.captures.capture_choice import Capture, WantedPages
from shadowprobe.build.captures.cdx import read_cdx
from shadowprobe.build.captures.index_table import import_duckdb, read_table
from shadowprobe.errors import InputError, UsageError

_TABLE, _GZIP = b"PAR1", b"\x1f\x8b"
_ENDINGS = (".parquet", ".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")
# Common Crawl's other subsets: pages without success, and robots.txt files.
_SUBSET, _PAGES = "subset=", "subset=warc"
# Where the names of the WARC files begin in Common Crawl's layout.
_LAYOUT = ("cc-index", "crawl-data")
NEVER = 2**62


def check_index(index: str) -> None:
    """Refuses an index that has no files, and a table without DuckDB, before any work is done."""
    if any(_is_table(path) for path in _list_files(index)):
        import_duckdb()


def find_captures(index: str, urls: set[str], captured_before: str) -> Iterator[tuple[str, Capture]]:
    """Yields the pages that an index has before a day with the capture of each, in the order of the WARC files."""
    before = _parse_day(captured_before)
    wanted = WantedPages(urls)
    files = _list_files(index)
    if tables := [str(path) for path in files if _is_table(path)]:
        wanted.offer(read_table(tables, wanted, before))
    for path in files:
        if not _is_table(path):
            wanted.offer(read_cdx(_read_lines(path), wanted, before))
    return wanted.choose()


def find_base(index: str) -> str:
    """Returns what the names of WARC files are relative to: the top of Common Crawl's layout, or the index's folder."""
    path = Path(index)
    places = [place for place, part in enumerate(path.parts) if part in _LAYOUT]
    if places:
        return str(Path(*path.parts[: places[0]]))
    fixed = Path(*(part for part in path.parts[: _count_fixed(path)]))
    return str(fixed if fixed.is_dir() else fixed.parent)


def _count_fixed(path: Path) -> int:
    """Counts the parts of a path before the first pattern."""
    return next((place for place, part in enumerate(path.parts) if glob.has_magic(part)), len(path.parts))


def _list_files(index: str) -> list[Path]:
    path = Path(index)
    if path.is_dir():
        found = [each for each in path.rglob("*") if each.name.endswith(_ENDINGS) and each.is_file()]
    elif path.is_file():
        found = [path]
    else:
        fixed = _count_fixed(path)
        pattern = str(Path(*path.parts[fixed:])) if fixed < len(path.parts) else ""
        found = [each for each in Path(*path.parts[:fixed]).glob(pattern) if each.is_file()] if pattern else []
    files = sorted(each for each in found if not _is_other_subset(each))
    if not files:
        raise UsageError(f"--common-crawl {index}: no such file, and no folder or pattern with {', '.join(_ENDINGS)}")
    return files


def _is_other_subset(path: Path) -> bool:
    return any(part.startswith(_SUBSET) and part != _PAGES for part in path.parts)


def _is_table(path: Path) -> bool:
    with open_for_reading(path) as file:
        return bool(file.read(len(_TABLE)) == _TABLE)


def _read_lines(path: Path) -> Iterator[bytes]:
    with open_for_reading(path) as file:
        is_compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        try:
            yield from gzip.GzipFile(fileobj=file) if is_compressed else file
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(path, f"cannot be read ({error}); give another --common-crawl") from None


def _parse_day(day: str) -> int:
    """Returns the beginning of a day in microseconds since 1970; a distant future without a day."""
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1_000_000 if day else NEVER
