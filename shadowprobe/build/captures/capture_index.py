"""The files of an index: Parquet tables such as Common Crawl's, or CDX and CDXJ files."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from shadowprobe.base.files import open_for_reading
from shadowprobe.base.secrets import shorten_url
from shadowprobe.build.captures.capture_choice import Capture, WantedPages
from shadowprobe.build.captures.cdx import read_cdx
from shadowprobe.build.captures.index_table import COLUMNS, check_columns, import_duckdb, read_table
from shadowprobe.build.wiki.wiki_api import batches
from shadowprobe.compute.executor import Executor
from shadowprobe.errors import InputError, UsageError
from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.parts_of_files import open_remote_file

# A cluster gets so many parts for each worker, so that a slow one holds up no other.
PARTS_PER_WORKER = 3
_TABLE, _GZIP = b"PAR1", b"\x1f\x8b"
_ENDINGS = (".parquet", ".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")
_LIST = ".paths"
# Common Crawl's other subsets: pages without success, and robots.txt files.
_SUBSET, _PAGES = "subset=", "subset=warc"
# Where the names of the WARC files begin in Common Crawl's layout.
_LAYOUT = ("cc-index", "crawl-data")
# The end of the year 9999 in microseconds: no time after it can be written.
NEVER = 253_402_300_800_000_000


def check_index(index: str) -> None:
    """Refuses an index that has no files, and a table without DuckDB, before any work is done."""
    with _Index(index) as opened:
        if any(opened.is_table(file) for file in opened.files):
            import_duckdb()
        with opened.open_file(opened.files[0]):
            pass


class LookUp(Struct, frozen=True):
    """What is looked up: pages that an index has captured before a moment."""

    index: str
    urls: frozenset[str]
    before: int


class FoundCaptures(Struct, frozen=True):
    """The best capture of each page in some files of an index; `lacking` has the columns that none of its tables has.

    Without any table, `lacking` is None.
    """

    captures: list[tuple[str, Capture]]
    lacking: set[str] | None


def find_captures(
    index: str, urls: set[str], captured_before: str, executor: Executor
) -> Iterator[tuple[str, Capture]]:
    """Yields the pages that an index has before a day with the capture of each, in the order of the WARC files.

    A cluster reads several files of the index at the same time.
    """
    with _Index(index) as opened:
        files = opened.files
    # On one machine, DuckDB reads many files at once by itself.
    count = executor.workers * PARTS_PER_WORKER if executor.is_cluster else 1
    parts = batches(files, -(-len(files) // count))
    work = LookUp(index, frozenset(urls), _parse_day(captured_before))
    every = list(executor.map(partial(look_up_files, work), parts))
    tables = [found.lacking for found in every if found.lacking is not None]
    lacking = set.intersection(*tables) if tables else set()
    check_columns(files[0], [column for column in COLUMNS if column in lacking])
    return iter(every[0].captures) if len(every) == 1 else _choose_best(every)


def _choose_best(every: Iterable[FoundCaptures]) -> Iterator[tuple[str, Capture]]:
    """Yields the best capture of each page that several parts of an index have."""
    best = WantedPages(())
    for found in every:
        for url, capture in found.captures:
            best.keep(url, capture)
    return best.choose()


def look_up_files(work: LookUp, files: list[str]) -> FoundCaptures:
    """Looks up pages in some files of an index."""
    wanted = WantedPages(work.urls)
    with _Index(work.index, files) as opened:
        lacking = opened.look_up(wanted, work.before)
    return FoundCaptures(list(wanted.choose()), lacking)


def is_url(place: str) -> bool:
    """True for a URL, false for a path."""
    return place.startswith(("http://", "https://"))


def find_base(index: str) -> str:
    """Returns what the names of WARC files are relative to: the top of Common Crawl's layout, or the index's folder."""
    scheme, separator, rest = index.rpartition("://")
    path = Path(rest)
    places = [place for place, part in enumerate(path.parts) if part in _LAYOUT]
    if places:
        return f"{scheme}{separator}{Path(*path.parts[: places[0]])}"
    fixed = Path(*path.parts[: _count_fixed(path)])
    return f"{scheme}{separator}{fixed if fixed.is_dir() else fixed.parent}"


def _count_fixed(path: Path) -> int:
    """Counts the parts of a path before the first pattern."""
    return next((place for place, part in enumerate(path.parts) if has_magic(part)), len(path.parts))


class _Index:
    """The files of an index, or some of them, on this machine or on a server."""

    def __init__(self, index: str, files: list[str] | None = None) -> None:
        self.client = BlockingClient() if is_url(index) else None
        self._open = ExitStack()
        if self.client is not None:
            self._open.callback(self.client.close)
        with self._open:
            self.files = files or (_list_files(index) if self.client is None else self._list_urls(index))
            if not self.files:
                endings = ", ".join(_ENDINGS)
                raise UsageError(f"--common-crawl {index}: no such file, and no folder or pattern with {endings}")
            self._open = self._open.pop_all()

    def __enter__(self) -> _Index:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def look_up(self, wanted: WantedPages, before: int) -> set[str] | None:
        """Offers the captures of wanted pages; returns the columns that all tables lack, None without tables."""
        tables, lacking = [file for file in self.files if self.is_table(file)], set[str]()
        if tables:
            wanted.offer(read_table(tables, wanted, before, self.client, lacking))
        for file in self.files:
            if file not in tables:
                wanted.offer(read_cdx(self.read_lines(file), wanted, before))
        return lacking if tables else None

    def _list_urls(self, index: str) -> list[str]:
        """Returns the URL itself, or the URLs in a list of paths such as `cc-index-table.paths.gz`."""
        if not index.endswith((_LIST, f"{_LIST}.gz")):
            return [index]
        lines = (line.decode("utf-8", "replace").strip() for line in self.read_lines(index))
        files = [f"{find_base(index)}/{quote(line, safe='/=')}" for line in lines if line and ".." not in line]
        return [file for file in files if not _is_other_subset(Path(file))]

    def is_table(self, file: str) -> bool:
        """True for a Parquet file, by its name on a server and by its first bytes here."""
        if self.client is not None:
            return file.endswith(_ENDINGS[0])
        with open_for_reading(Path(file)) as opened:
            return bool(opened.read(len(_TABLE)) == _TABLE)

    def read_lines(self, file: str) -> Iterator[bytes]:
        """Yields the lines of a file, which may be compressed."""
        with self.open_file(file) as opened:
            is_compressed = opened.read(len(_GZIP)) == _GZIP
            opened.seek(0)
            yield from gzip.GzipFile(fileobj=opened) if is_compressed else opened

    @contextmanager
    def open_file(self, file: str) -> Iterator[Any]:
        """Opens a file; whatever cannot be read of it is one line for the user."""
        try:
            with open_for_reading(Path(file)) if self.client is None else open_remote_file(self.client, file) as opened:
                yield opened
        except (EOFError, OSError, zlib.error) as error:
            shown = shorten_url(file) if self.client is not None else file
            raise InputError(shown, f"cannot be read ({error}); give another --common-crawl") from None


def _list_files(index: str) -> list[str]:
    path = Path(index)
    if path.is_dir():
        found = [each for each in path.rglob("*") if each.name.endswith(_ENDINGS)]
    elif path.is_file():
        found = [path]
    else:
        fixed = _count_fixed(path)
        pattern = str(Path(*path.parts[fixed:]))
        found = list(Path(*path.parts[:fixed]).glob(pattern)) if fixed < len(path.parts) else []
    return sorted(str(each) for each in found if each.is_file() and not _is_other_subset(each))


def _is_other_subset(path: Path) -> bool:
    return any(part.startswith(_SUBSET) and part != _PAGES for part in path.parts)


def _parse_day(day: str) -> int:
    """Returns the beginning of a day in microseconds since 1970; a distant future without a day."""
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) * 1_000_000 if day else NEVER
