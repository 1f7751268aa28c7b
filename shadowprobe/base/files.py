"""Files on disk: clear errors when they are opened, atomic writes, and locks for one process at a time."""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from shadowprobe.errors import InputError, ShadowprobeError, UsageError

# Some editors and spreadsheets write it before the first line.
BOM = b"\xef\xbb\xbf"
# Seconds between tries to lock a file: `is_locked` holds the lock for a moment.
LOCK_PAUSES = (0.05, 0.2)


def open_for_reading(path: Path) -> Any:
    """Opens a file for reading bytes; raises a clear error if that is not possible."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except IsADirectoryError:
        raise InputError(path, "is a directory, not a file") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from None


def read_text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields number and text of each line of a UTF-8 file, without the line end."""
    with open_for_reading(path) as file:
        for number, raw in enumerate(file, start=1):
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                problem = f"is not UTF-8 (byte {error.start}: {error.reason})"
                raise InputError(path, problem, line=number) from None


def file_digest(path: Path) -> str:
    """Returns the SHA-256 of a file's bytes."""
    with open_for_reading(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# The suffix of a file that is not yet complete.
_PARTIAL = ".half"


def drop_partial_files(directory: Path) -> None:
    """Removes partial files of interrupted atomic writes; call it only while no other process writes."""
    for partial in directory.glob(f".*{_PARTIAL}"):
        partial.unlink(missing_ok=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a whole file or keeps the old one: a reader never sees a partial file."""
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Writes a whole file piece by piece, as `write_atomically` does."""
    with PartialFile(path) as file:
        for piece in pieces:
            file.write(piece)
        file.publish()


class PartialFile:
    """A file that gets its name when it is complete; until then its path keeps the old content."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _naming_errors(path):
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PARTIAL)
        self._file, self._temporary = os.fdopen(handle, "wb"), Path(name)

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the file unless it was published."""
        with suppress(OSError):
            self._file.close()
        self._temporary.unlink(missing_ok=True)

    def write(self, content: bytes) -> None:
        """Adds bytes."""
        with _naming_errors(self.path):
            self._file.write(content)

    def publish(self) -> None:
        """Gives the file its name."""
        with _naming_errors(self.path):
            self._file.close()
            # mkstemp makes files that only the owner can read, but results should be readable by others.
            umask = os.umask(0)
            os.umask(umask)
            self._temporary.chmod(0o666 & ~umask)
            self._temporary.replace(self.path)


@contextmanager
def _naming_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error


def drop_torn_line(file: BinaryIO) -> None:
    """Removes a last line without its line end, which an interrupted write may leave."""
    # An empty file cannot be mapped.
    if size := file.seek(0, os.SEEK_END):
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as content:
            end = content.rfind(b"\n") + 1
        file.truncate(end)
        file.seek(0, os.SEEK_END)


def write_out(file: BinaryIO, content: bytes, path: Path) -> None:
    """Writes at once, since what waits in memory is lost by a kill; a full disk is an error that names the file."""
    try:
        file.write(content)
        file.flush()
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error


@contextmanager
def open_for_writing(path: Path, *, append: bool = False) -> Iterator[BinaryIO]:
    """Opens a file for `write_out`."""
    try:
        file = path.open("ab" if append else "wb")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    with _closing(file):
        yield file


@contextmanager
def _closing(file: BinaryIO) -> Iterator[None]:
    try:
        yield
    finally:
        # It is empty of what can fail, or `write_out` has raised already and the rest is tried in vain once more.
        with suppress(OSError):
            file.close()


def lock(file: BinaryIO, work: str, patience: int = 0) -> None:
    """Locks an open file against other processes; `work` is what another one is then said to be doing.

    `patience` are the seconds in which a process that is about to end may give the lock back.
    """
    for pause in (*LOCK_PAUSES, *[1.0] * patience, None):
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows has no flock: there, users must not start two runs in the same directory.
        except OSError:
            if pause is None:
                raise UsageError(f"another shadowprobe is {work}") from None
            time.sleep(pause)
            continue
        return


def is_locked(path: Path) -> bool:
    """True while another process holds the lock of a file."""
    try:
        import fcntl

        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    return False


@contextmanager
def lock_file(out: Path, name: str) -> Iterator[BinaryIO]:
    """Opens a file for reading and appending, and locks it against other processes."""
    path = out / name
    is_new = not path.exists()
    try:
        file = path.open("a+b")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from None
    with _closing(file):
        lock(file, f"writing to {out}")
        try:
            yield file
        except ShadowprobeError:
            if is_new and not path.stat().st_size:
                path.unlink()
            raise


def make_directory(path: Path) -> None:
    """Makes a writable directory; raises a clear error if that is not possible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".shadowprobe-write-test"
        probe.touch()
        probe.unlink(missing_ok=True)
    except FileExistsError:
        raise UsageError(f"{path} is a file; give a directory") from None
    except OSError as error:
        raise UsageError(f"cannot write to {path} ({error.strerror})") from None


def directory_name(name: str) -> str:
    """Makes a directory name that cannot lead to another directory by a slash or two dots."""
    return re.sub(r"[/\\\0:]|^[.]{0,2}$", "_", name)
