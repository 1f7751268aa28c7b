"""Files that all machines of a cluster reach by a URL of fsspec, such as s3://bucket/folder."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from shadowprobe.base.files import make_directory, write_atomically
from shadowprobe.base.secrets import shorten_url
from shadowprobe.errors import BuildError, UsageError

# How long to wait before each further try.
PAUSES = (0.5, 2.0)
_LOCAL = "file://"
# The file beside the archive of the wiki that says where the pages are.
NOTE = "storage.txt"

T = TypeVar("T")


def is_remote(place: str) -> bool:
    """True for a URL of fsspec; false for a path, also as file://, which all machines see as a directory."""
    return "://" in place and not place.startswith(_LOCAL)


def parse_storage(text: str) -> str:
    """Returns a place that a user named: a URL, or the absolute path of a directory; refuses what cannot be used."""
    if not is_remote(text):
        return str(Path(text.removeprefix(_LOCAL)).resolve()) if text else ""
    parts = urlsplit(text)
    if "@" in parts.netloc:
        name = f"FSSPEC_{parts.scheme.upper()}"
        raise UsageError(
            f"--storage: the address must not hold a user or password; set {name}_USERNAME and {name}_PASSWORD, or what"
            f" else fsspec needs for {parts.scheme}"
        )
    try:
        import_fsspec().get_filesystem_class(parts.scheme)
    except (ImportError, ValueError) as error:
        raise UsageError(f"--storage {shorten_url(text)}: {error}") from None
    return text.rstrip("/")


def find_storage(folder: Path, given: str) -> str:
    """Returns where the pages of a build are: in its own folder, or at the place that was given when it began."""
    note = folder / NOTE
    known = note.read_text(encoding="utf-8").strip() if note.exists() else ""
    if given and known and given != known:
        raise UsageError(f"--storage {given}: the pages of this build are at {known}; {note} says so")
    if given and not known and any(folder.glob("web*.warc.gz")):
        raise UsageError(f"--storage {given}: the pages of this build are in {folder}; go on without --storage")
    return given or known or str(folder)


def note_storage(folder: Path, place: str) -> None:
    """Notes where the pages of a build are, because a build that forgets it would request all of them again."""
    if place != str(folder) and not (folder / NOTE).exists():
        make_directory(folder)
        write_atomically(folder / NOTE, f"{place}\n".encode())


def import_fsspec() -> Any:
    """Imports fsspec; says how to install it if it is missing."""
    try:
        import fsspec
    except ImportError:
        raise UsageError("--storage: fsspec is not installed: pip install 'shadowprobe[ray]'") from None
    return fsspec


def read_file(url: str, start: int = 0, end: int | None = None) -> bytes:
    """Reads a file, or the bytes from a place to another."""
    return _try(url, lambda files, path: bytes(files.cat_file(path, start or None, end)))


def write_file(url: str, content: bytes) -> None:
    """Writes a whole file."""

    def write(files: Any, path: str) -> None:
        files.makedirs(files._parent(path), exist_ok=True)
        files.pipe_file(path, content)

    _try(url, write)


def list_names(folder: str) -> list[str]:
    """Lists the names of the files and folders in a folder; none if there is no such folder."""

    def list_folder(files: Any, path: str) -> list[str]:
        files.invalidate_cache()
        try:
            return sorted(str(entry["name"]).rstrip("/").rpartition("/")[2] for entry in files.ls(path, detail=True))
        except FileNotFoundError:
            return []

    return _try(folder, list_folder)


def remove_file(url: str) -> None:
    """Removes a file."""
    _try(url, lambda files, path: files.rm_file(path))


def _try(url: str, work: Callable[[Any, str], T]) -> T:
    """Does some work, and again if it fails: a server may have closed a connection that was not used for a while."""
    root = "{0.scheme}://{0.netloc}".format(urlsplit(url))
    for pause in (*PAUSES, None):
        try:
            files = _connect(root)
            return work(files, files._strip_protocol(url))
        # Each file system of fsspec has errors of its own.
        except Exception as error:
            _connect.cache_clear()
            if pause is None:
                reason = str(error) or type(error).__name__
                raise BuildError(
                    f"--storage {shorten_url(url)}: {reason[:200]}; once it works, the same command continues"
                ) from None
            time.sleep(pause)
    raise AssertionError


@lru_cache(8)
def _connect(root: str) -> Any:
    return import_fsspec().core.url_to_fs(root, skip_instance_cache=True)[0]
