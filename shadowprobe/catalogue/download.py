"""The ShadowLink release, fetched once into the user's cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from shadowprobe import formats
from shadowprobe.base.files import make_directory
from shadowprobe.base.secrets import shorten_url
from shadowprobe.dataset.dataset import CARD
from shadowprobe.errors import DownloadError, InputError, shorten
from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.decompression import IDENTITY
from shadowprobe.net.failures import BrokenResponseError, ConnectionFailedError, NoResponseError
from shadowprobe.net.limits import MEGABYTE, Limits
from shadowprobe.net.urls import check_url

if TYPE_CHECKING:
    from shadowprobe.net.client import Client

COMMIT = "e26f857c8fab9472c8d68eb571a4729e3f8a30fa"
SOURCES = (
    f"https://raw.githubusercontent.com/vera-pro/ICE_experiments/{COMMIT}/ShadowLink",
    "https://huggingface.co/datasets/vera-pro/ShadowLink/resolve/main",
)
SHA256 = {
    "Top.json": "7e1d58fc4835b4a4b517af955b2a62321df74aceadcccb4a03a30260bf674233",
    "Shadow.json": "0f8194042033caaf5620329d7db61113e6fa68275bd7d2bb128cbf3b9becacab",
    "Tail.json": "91549279c48dea8129348ea83e478c366d3a66cc80f4470f2f29b35462a2a026",
    "Neutral.json": "f808cd90ff86373f8004a695015c48426d6b859ba08b810bcd9cc5127b2064c8",
}
# Another number makes every user's cache be read anew; to be raised when the reader's output changes.
READER = 1
# A file is a few megabytes; a slow connection may take its time, but not stop.
LIMITS = Limits(max_bytes=256 * MEGABYTE, seconds=1800.0, idle_seconds=20.0)
TRIES = 3


class Watcher(Protocol):
    """Gets the progress and the warnings of a download."""

    def progress(self, name: str, done: int, total: int | None) -> None:
        """So many bytes of a file have arrived."""

    def warn(self, sentence: str) -> None:
        """Something the user should know, though it stops nothing."""


class Silent:
    """A watcher that does nothing."""

    def progress(self, name: str, done: int, total: int | None) -> None:
        """Does nothing."""

    def warn(self, sentence: str) -> None:
        """Does nothing."""


def sources() -> tuple[str, ...]:
    """The addresses to try, in order; `SHADOWPROBE_SHADOWLINK_URL` names another one."""
    configured = os.environ.get("SHADOWPROBE_SHADOWLINK_URL")
    return (configured.rstrip("/"),) if configured else SOURCES


def dataset_directory(cache: Path) -> Path:
    """Where the converted dataset stands in a cache."""
    return cache / "datasets" / f"shadowlink-{READER}"


def shadowlink_directory(cache: Path, watcher: Watcher | None = None) -> Path:
    """The directory of the ShadowLink dataset; downloads and converts it where that is not done yet."""
    dataset = dataset_directory(cache)
    if (dataset / CARD).exists():
        return dataset
    release = cache / "downloads" / "shadowlink"
    make_directory(release)
    with _alone(release):
        if not (dataset / CARD).exists():
            _make(dataset, release, watcher or Silent())
    return dataset


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Waits while another shadowprobe downloads into the directory, as the second of two started at once must."""
    with (directory / ".lock").open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass  # Windows has no flock, nor have some network file systems.
        yield


def _make(dataset: Path, release: Path, watcher: Watcher) -> None:
    for name in SHA256:
        _fetch(name, release / name, watcher)
    try:
        # Without its card a dataset is one that a kill left half written.
        formats.read("shadowlink", [release]).write(dataset, force=True)
    except InputError:
        # What arrived is no ShadowLink release: the next try must fetch it again.
        for name in SHA256:
            (release / name).unlink(missing_ok=True)
        raise


def _fetch(name: str, path: Path, watcher: Watcher) -> None:
    """Fetches one file from the first source that has it, unless it is there already."""
    if not path.exists():
        problems = []
        for source in sources():
            try:
                _download(f"{source}/{name}", path, watcher)
                break
            except DownloadError as error:
                problems.append(str(error))
        else:
            raise DownloadError(
                f"the ShadowLink release could not be downloaded ({'; '.join(problems)}). With a copy of its four"
                " files at hand: shadowprobe import shadowlink DIR --out OUT, then --dataset OUT"
            )
    digest = _sha256(path)
    if digest != SHA256[name]:
        watcher.warn(f"{name} has SHA-256 {digest}, the release has {SHA256[name]}: it is used, but figures may differ")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _download(url: str, path: Path, watcher: Watcher) -> None:
    """Downloads a file, continuing where an earlier try broke off; it gets its name only when it is whole."""
    part = path.with_name(path.name + ".part")
    problem = ""
    with closing(BlockingClient()) as client:
        for _ in range(TRIES):
            try:
                resumed = client.run(partial(_receive, url, part, path.name, watcher))
            except NoResponseError as error:
                if not error.passing or isinstance(error, ConnectionFailedError):
                    raise DownloadError(f"{shorten_url(url)}: {error.message}") from error
                problem = error.message
                continue
            except OSError as error:
                raise DownloadError(f"cannot write {part} ({error.strerror})") from error
            if resumed and _sha256(part) != SHA256[path.name]:
                # Its two halves may be of two files: the first can be from another source, or older.
                part.unlink()
                problem = "the rest does not fit what came before"
                continue
            part.replace(path)
            return
    raise DownloadError(f"{shorten_url(url)}: broke off {TRIES} times ({problem})")


async def _receive(url: str, part: Path, name: str, watcher: Watcher, client: Client) -> bool:
    """Adds to a part what is still missing, or writes it whole; True where it was added to."""
    import httpx

    have = part.stat().st_size if part.exists() else 0
    # Not compressed: offsets in the file are then offsets in the response, and its length is known beforehand.
    headers = {"Accept-Encoding": IDENTITY} | ({"Range": f"bytes={have}-"} if have else {})
    request = httpx.Request("GET", str(check_url(url, allow_password=True)), headers=headers)
    async with client.stream(request, LIMITS) as incoming:
        if incoming.status == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            part.unlink(missing_ok=True)
            raise BrokenResponseError(f"has no bytes after the first {have}", passing=True)
        if not httpx.codes.is_success(incoming.status):
            raise DownloadError(f"{shorten_url(url)}: {incoming.status} {shorten(incoming.reason)}")
        resumed = incoming.status == httpx.codes.PARTIAL_CONTENT
        done = have if resumed else 0
        length = incoming.headers.get("Content-Length")
        total = done + int(length) if length else None
        with part.open("ab" if resumed else "wb") as file:
            async for chunk in incoming.chunks():
                file.write(chunk)
                done += len(chunk)
                watcher.progress(name, done, total)
    return resumed
