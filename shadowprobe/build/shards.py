"""The archive of a large crawl: several WARC files, and all pages of a host are in one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol
from zlib import crc32

from shadowprobe.build.archive import Archive, Entry
from shadowprobe.build.warc_record import RecordPlace, Stored
from shadowprobe.build.web.politeness import host_of

# A file has about so many pages: some gigabytes.
PAGES_PER_SHARD, MOST_SHARDS = 200_000, 64
_SUFFIX = ".warc.gz"
_NUMBERED = re.compile(r"-\d+-of-(\d+)$")


class PageArchive(Protocol):
    """What a crawl and the cutting need of an archive."""

    path: Path
    read_only: bool

    def keys(self) -> Iterator[str]:
        """The requests with a response or a failure."""

    def find(self, key: str) -> Entry | None:
        """What is known of the response to a request without reading it."""

    def get(self, key: str) -> Stored | None:
        """The response to a request."""

    def locate(self, key: str) -> RecordPlace:
        """Where the response to a request is."""

    def failure(self, key: str) -> str:
        """Why a request got no response."""

    def put(self, key: str, response: Stored) -> None:
        """Stores a response."""

    def put_failure(self, key: str, url: str, why: str) -> None:
        """Stores that a request got no response."""

    def close(self) -> None:
        """Closes the files."""


def open_pages(path: Path, *, software: str, read_only: bool = False, pages: int = 0) -> PageArchive:
    """Opens the archive of a crawl with its number of files; a new one gets as many as this number of pages needs."""
    name = path.name.removesuffix(_SUFFIX)
    numbers = [_NUMBERED.search(other.name.removesuffix(_SUFFIX)) for other in path.parent.glob(f"{name}-*{_SUFFIX}")]
    counts = {int(number[1]) for number in numbers if number}
    count = max(counts, default=min(-(-pages // PAGES_PER_SHARD), MOST_SHARDS))
    if path.exists() or count <= 1:
        return Archive(path, software=software, read_only=read_only)
    return Shards(path, count, software=software, read_only=read_only)


class Shards:
    """Several archives that are used as one: a host decides in which of them its pages are."""

    def __init__(self, path: Path, count: int, *, software: str, read_only: bool = False) -> None:
        self.path, self.read_only = path, read_only
        name, width = path.name.removesuffix(_SUFFIX), len(str(count))
        with ExitStack() as stack:
            self._shards = []
            for number in range(count):
                shard = path.with_name(f"{name}-{number:0{width}d}-of-{count}{_SUFFIX}")
                self._shards.append(Archive(shard, software=software, read_only=read_only))
                stack.callback(self._shards[-1].close)
            self._open = stack.pop_all()

    def _choose(self, key: str) -> Archive:
        return self._shards[crc32(host_of(key.split(" ")[1]).encode()) % len(self._shards)]

    def keys(self) -> Iterator[str]:
        """The requests with a response or a failure, file by file."""
        for shard in self._shards:
            yield from shard.keys()

    def find(self, key: str) -> Entry | None:
        """What is known of the response to a request without reading it, or None if it was never sent."""
        return self._choose(key).find(key)

    def get(self, key: str) -> Stored | None:
        """The response to a request, or None if it was never sent."""
        return self._choose(key).get(key)

    def locate(self, key: str) -> RecordPlace:
        """Where the response to a request is; another process can read it there."""
        return self._choose(key).locate(key)

    def failure(self, key: str) -> str:
        """Why a request got no response; empty if it got one or was never sent."""
        return self._choose(key).failure(key)

    def put(self, key: str, response: Stored) -> None:
        """Stores a response."""
        self._choose(key).put(key, response)

    def put_failure(self, key: str, url: str, why: str) -> None:
        """Stores that a request got no response, so that it is not sent again."""
        self._choose(key).put_failure(key, url, why)

    def close(self) -> None:
        """Closes the files."""
        self._open.close()
