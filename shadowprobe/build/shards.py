"""The archive of a large crawl: several WARC files, and all pages of a host are in one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from zlib import crc32

from msgspec import Struct

from shadowprobe.build.archive import Archive, Entry
from shadowprobe.build.segments import Segments
from shadowprobe.build.storage import is_remote, list_names
from shadowprobe.build.warc_record import RecordPlace, Stored
from shadowprobe.build.web.politeness import host_of
from shadowprobe.errors import InputError

# A file has about so many pages: some gigabytes.
PAGES_PER_SHARD, MOST_SHARDS = 200_000, 64
# The seconds in which a worker that is about to end may give the lock of its file back.
PATIENCE = 30
_SUFFIX = ".warc.gz"
_NUMBERED = re.compile(r"-\d+-of-(\d+)$")


class ShardPlace(Struct, frozen=True):
    """Where the files of an archive are: the path or URL that it would have as one file, and how many there are."""

    path: str
    count: int
    software: str

    def open_shard(self, number: int, *, read_only: bool = False, is_worker: bool = False) -> Archive | Segments:
        """Opens one of the files; waits for a worker that is about to end."""
        path = Path(self.path)
        name = f"{path.name.removesuffix(_SUFFIX)}-{number:0{len(str(self.count))}d}-of-{self.count}"
        if not is_remote(self.path):
            file = path.with_name(f"{name}{_SUFFIX}")
            return Archive(file, software=self.software, read_only=read_only, patience=PATIENCE)
        folder = f"{self.path.rpartition('/')[0]}/{name}"
        shard = Segments(folder, software=self.software, read_only=read_only)
        if is_worker:
            shard.claim()
        return shard

    def choose(self, url: str) -> int:
        """Returns the number of the file in which the pages of a URL's host are."""
        return self.choose_for_host(host_of(url))

    def choose_for_host(self, host: str) -> int:
        """Returns the number of the file in which the pages of a host are."""
        return crc32(host.encode()) % self.count


def open_pages(
    path: Path | str, *, software: str, read_only: bool = False, pages: int = 0, fewest: int = 1
) -> Archive | Shards:
    """Opens the archive of a crawl with its number of files.

    A new one gets as many files as this number of pages needs, and at least `fewest`; on a remote storage it always has
    several files or folders.
    """
    folder, name = str(path).rpartition("/")[0], re.escape(Path(path).name.removesuffix(_SUFFIX))
    names = list_names(folder) if is_remote(folder) else [each.name for each in Path(path).parent.glob("*")]
    numbers = [_NUMBERED.search(each.removesuffix(_SUFFIX)) for each in names if re.match(f"{name}-", each)]
    count = max((int(number[1]) for number in numbers if number), default=0)
    if read_only and is_remote(folder) and not count:
        raise InputError(path, "no such archive: a build without --from-archive makes it")
    count = count or min(max(-(-pages // PAGES_PER_SHARD), fewest), MOST_SHARDS)
    if is_remote(folder) or (count > 1 and not Path(path).exists()):
        return Shards(ShardPlace(str(path), count, software), read_only=read_only)
    return Archive(Path(path), software=software, read_only=read_only)


class Shards:
    """Several archives that are used as one: a host decides in which of them its pages are.

    A worker opens only some of them, and knows nothing of the pages of other hosts.
    """

    def __init__(self, place: ShardPlace, *, read_only: bool = False, only: Iterable[int] | None = None) -> None:
        self.place, self.read_only = place, read_only
        is_worker, numbers = only is not None, range(place.count) if only is None else only
        self._shards: dict[int, Archive | Segments] = {}
        with ExitStack() as stack:
            for number in numbers:
                shard = place.open_shard(number, read_only=read_only, is_worker=is_worker)
                stack.callback(shard.close)
                self._shards[number] = shard
            self._open = stack.pop_all()

    @property
    def path(self) -> Path | str:
        """The path or URL that it would have as one file."""
        return self.place.path if is_remote(self.place.path) else Path(self.place.path)

    def _choose(self, key: str) -> Archive | Segments:
        return self._shards[self.place.choose(key.split(" ")[1])]

    def __len__(self) -> int:
        return sum(map(len, self._shards.values()))

    def is_own(self, url: str) -> bool:
        """True for a URL whose file is open here."""
        return self.place.choose(url) in self._shards

    def keys(self) -> Iterator[str]:
        """The requests with a response or a failure, file by file."""
        for shard in self._shards.values():
            yield from shard.keys()

    def find(self, key: str) -> Entry | None:
        """What is known of the response to a request without reading it, or None if it was never sent."""
        shard = self._shards.get(self.place.choose(key.split(" ")[1]))
        return None if shard is None else shard.find(key)

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

    def flush(self) -> None:
        """Writes what waits in memory, so that other processes can read it."""
        self._for_each(lambda shard: shard.flush())

    def release(self) -> None:
        """Lets other processes write, until `refresh`."""
        self._for_each(lambda shard: shard.release())

    def refresh(self) -> None:
        """Reads what other processes have written."""
        self._for_each(lambda shard: shard.refresh())

    def _for_each(self, work: Callable[[Archive | Segments], None]) -> None:
        for shard in self._shards.values():
            work(shard)

    def close(self) -> None:
        """Closes the files."""
        self._open.close()


# What a crawl and the cutting read and write.
PageArchive = Archive | Shards
