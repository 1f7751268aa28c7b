"""Files that may be compressed with gzip or bzip2."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from shadowprobe.base.files import open_for_reading
from shadowprobe.errors import InputError


@contextmanager
def open_compressed(path: Path) -> Iterator[IO[bytes]]:
    """The decompressed bytes of a file; an error while reading them becomes a clear one by `broken_file`."""
    with open_for_reading(path) as file:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(IO[bytes], unpacked)
        elif path.suffix == ".bz2":
            with bz2.BZ2File(file) as unpacked:
                yield unpacked
        else:
            yield file


def broken_file(path: Path, error: Exception) -> InputError:
    """The error of a file that cannot be unpacked."""
    if isinstance(error, EOFError):
        return truncated_file(path)
    return InputError(path, f"cannot be unpacked ({error}): fetch it again")


def truncated_file(path: Path, where: str = "") -> InputError:
    """The error of a file whose end is missing."""
    return InputError(path, f"is cut off{where}: fetch it again")


def read_compressed_lines(path: Path) -> Generator[bytes, None, None]:
    """Yields the decompressed lines of a file; a damaged file raises a clear error."""
    with open_compressed(path) as file:
        try:
            yield from file
        except (OSError, EOFError, zlib.error) as error:
            raise broken_file(path, error) from None
