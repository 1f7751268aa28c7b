"""The parts of a long stage: each finished part is stored, so that a killed build continues after the last one.

The manifest has a line for each finished part, with a digest of what the part was made from. A part whose input has
changed is made again, and so are all parts after it.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from shadowprobe.base.files import make_directory, open_for_writing, write_atomically, write_out
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.compute.executor import Executor

MANIFEST = "manifest.jsonl"

A = TypeVar("A")
B = TypeVar("B", bound=Struct)


class FinishedPart(Struct, frozen=True):
    """A line of the manifest."""

    number: int
    digest: str


class PartStore:
    """The directory of the finished parts of a stage; `version` says by what they were made."""

    def __init__(self, directory: Path, version: str) -> None:
        self._directory, self._version = directory, version
        self._manifest = directory / MANIFEST

    def map(self, executor: Executor, function: Callable[[A], B], parts: Iterable[A], kind: type[B]) -> Iterator[B]:
        """Yields the result for each part in order: the stored one, or a new one, which is then stored."""
        finished = self._read_manifest()
        numbered = ((number, part, self._digest(part)) for number, part in enumerate(parts))
        for number, part, digest in numbered:
            result = self._read_part(number, kind) if finished.get(number) == digest else None
            if result is None:
                self._start_after({other: finished[other] for other in range(number)})
                yield from self._make(executor, function, chain([(number, part, digest)], numbered))
                return
            yield result

    def _make(
        self, executor: Executor, function: Callable[[A], B], numbered: Iterable[tuple[int, A, str]]
    ) -> Iterator[B]:
        given: deque[FinishedPart] = deque()

        def give() -> Iterator[A]:
            for number, part, digest in numbered:
                given.append(FinishedPart(number, digest))
                yield part

        with open_for_writing(self._manifest, append=True) as manifest:
            for result in executor.map(function, give()):
                done = given.popleft()
                write_atomically(self._path(done.number), msgspec.json.encode(result))
                write_out(manifest, encode_lines([done]), self._manifest)
                yield result

    def _read_manifest(self) -> dict[int, str]:
        if not self._manifest.exists():
            return {}
        parts = (part for _, part in read_lines(self._manifest, FinishedPart, torn=True))
        return {part.number: part.digest for part in parts}

    def _read_part(self, number: int, kind: type[B]) -> B | None:
        """Reads a stored part; None if it is lost, or damaged as a power cut may leave it."""
        try:
            return msgspec.json.decode(self._path(number).read_bytes(), type=kind)
        except (OSError, ValueError):
            return None

    def _start_after(self, finished: dict[int, str]) -> None:
        """Forgets all parts but the first ones."""
        make_directory(self._directory)
        lines = [FinishedPart(number, digest) for number, digest in finished.items()]
        write_atomically(self._manifest, encode_lines(lines))

    def _path(self, number: int) -> Path:
        return self._directory / f"{number:06d}.json"

    def _digest(self, part: Any) -> str:
        return sha256(self._version.encode() + msgspec.json.encode(part, enc_hook=str)).hexdigest()


def drop_parts(directory: Path) -> None:
    """Removes the parts of a finished stage."""
    shutil.rmtree(directory, ignore_errors=True)
