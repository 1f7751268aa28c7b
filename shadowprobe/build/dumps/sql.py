"""Reads the rows of a table from a MySQL dump, some thousands at a time and never the whole file."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from shadowprobe.base.compressed import broken_file, open_compressed, truncated_file
from shadowprobe.build.dumps.number_rows import parse_number_rows
from shadowprobe.errors import InputError

# A number, a text, or bytes as hexadecimal digits, which have the same order as the bytes.
Kind = Literal["number", "text", "bytes"]
Batch = dict[str, Any]
# The number for NULL: no id is negative.
MISSING = -1
CHUNK = 1 << 22
# The number of rows that are read one by one before plain rows of numbers are expected again.
ROWS = 10_000
# No row of a wiki's table is nearly as long. Longer data is not a row.
LONGEST_ROW = 16 << 20
# The head of a statement is much shorter.
LONGEST_HEAD = 1 << 14

_QUOTED = rb"(?:_binary )?'(?:[^'\\]++|\\.|'')*+'"
_BARE = rb"[^'(),;\s]++"
_VALUES: dict[Kind | None, bytes] = {
    None: rb"(?:%s|%s)" % (_QUOTED, _BARE),
    # As many digits as 64 bits hold for sure.
    "number": rb"(-?\d{1,18}+|NULL)",
    "text": rb"(%s|NULL|0x[0-9A-Fa-f]*+)" % _QUOTED,
    "bytes": rb"(%s|NULL|0x[0-9A-Fa-f]*+)" % _QUOTED,
}
_ANY_ROW = re.compile(rb"\s*+\(%s(?:,%s)*+\)\s*+[,;]" % (_VALUES[None], _VALUES[None]), re.DOTALL)
_CREATE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?`(\w+)` \(")
_COLUMN = re.compile(rb"\s+`(\w+)` ")
_INSERT = re.compile(rb"INSERT (?:IGNORE )?INTO `(\w+)` (?:\(([^)]*)\) )?VALUES\s*+")
_ESCAPED = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}
# Statements before the rows, and the statements that must then follow the rows.
_FRAMES = ((b"LOCK TABLES", b"UNLOCK TABLES"), (b"DISABLE KEYS", b"ENABLE KEYS"))


class TableDump:
    """The dump of one table: its columns are read first, and its rows as a stream."""

    def __init__(self, path: Path, table: str) -> None:
        self.path, self.table = path, table
        with open_compressed(path) as file:
            self.columns = self._read_columns(_Stream(path, file))

    def _read_columns(self, stream: _Stream) -> tuple[str, ...]:
        """Returns the names of the columns in their order."""
        while stream.fill(LONGEST_HEAD):
            if _INSERT.match(stream.buffer, stream.place):
                break
            created = _CREATE.match(stream.read_line())
            if not created:
                continue
            self._check_table(created[1])
            columns = []
            while (line := stream.read_line()) and not line.startswith(b")"):
                if column := _COLUMN.match(line):
                    columns.append(column[1].decode())
            if not line:
                raise truncated_file(self.path, f" in the columns of `{self.table}`")
            return tuple(columns)
        raise InputError(self.path, f"does not name the columns of `{self.table}`: is it a MySQL dump?")

    def _check_table(self, name: bytes) -> None:
        if name.decode() != self.table:
            raise InputError(self.path, f"holds the table `{name.decode()}`, not `{self.table}`")

    def read_batches(self, wanted: Mapping[str, Kind]) -> Iterator[Batch]:
        """Yields the wanted columns of the rows, each as an array of numbers or a list of texts."""
        for name in wanted:
            if name not in self.columns:
                raise InputError(self.path, f"has no column `{name}`, only {', '.join(self.columns)}")
        open_frames: set[bytes] = set()
        done = 0
        with open_compressed(self.path) as file:
            stream = _Stream(self.path, file)
            while stream.fill(LONGEST_HEAD):
                head = _INSERT.match(stream.buffer, stream.place)
                if head:
                    self._check_table(head[1])
                    columns = tuple(re.findall(r"`(\w+)`", head[2].decode())) if head[2] else self.columns
                    stream.place = head.end()
                    for batch in self._read_values(stream, columns, wanted, done):
                        done += len(batch[next(iter(wanted))])
                        yield batch
                else:
                    line = stream.read_line()
                    for before, after in _FRAMES:
                        if after in line:
                            open_frames.discard(after)
                        elif before in line:
                            open_frames.add(after)
        if open_frames:
            raise truncated_file(self.path, f" after row {done}")

    def _read_values(
        self, stream: _Stream, columns: Sequence[str], wanted: Mapping[str, Kind], done: int
    ) -> Iterator[Batch]:
        """Yields the rows of one INSERT statement."""
        row = b",".join(_VALUES[wanted.get(column)] for column in columns)
        pattern = re.compile(rb"\s*+\(%s\)\s*+([,;])" % row, re.DOTALL)
        order = [column for column in columns if column in wanted]
        only_numbers = all(wanted[column] == "number" for column in order)
        places = [columns.index(column) for column in order]
        while True:
            if only_numbers:
                table, size = parse_number_rows(stream.buffer, stream.place, len(columns), places)
                stream.place += size
                if size:
                    done += len(table[0])
                    yield dict(zip(order, table, strict=True))
            rows: list[tuple[bytes, ...]] = []
            for match in pattern.finditer(stream.buffer, stream.place):
                if match.start() != stream.place:
                    break
                rows.append(match.groups())
                stream.place = match.end()
                if rows[-1][-1] == b";" or len(rows) == ROWS:
                    break
            if rows:
                done += len(rows)
                values = list(zip(*rows, strict=True))
                yield {column: _decode(raw, wanted[column]) for column, raw in zip(order, values[:-1], strict=True)}
                if rows[-1][-1] == b";":
                    return
                continue
            if _ANY_ROW.match(stream.buffer, stream.place) or stream.left > LONGEST_ROW:
                raise InputError(self.path, f"row {done + 1} is not a row of `{self.table}` ({', '.join(columns)})")
            if not stream.read_more():
                raise truncated_file(self.path, f" after row {done}")


class _Stream:
    """A buffer over the bytes of a file; parsed bytes are removed from its front."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self._file = path, file
        self.buffer, self.place = b"", 0

    @property
    def left(self) -> int:
        """The number of bytes that are read and not yet parsed."""
        return len(self.buffer) - self.place

    def read_more(self) -> bool:
        """Reads more bytes; false at the end of the file."""
        try:
            chunk = self._file.read(CHUNK)
        except (EOFError, OSError, zlib.error) as error:
            raise broken_file(self.path, error) from None
        self.buffer, self.place = self.buffer[self.place :] + chunk, 0
        return bool(chunk)

    def fill(self, size: int) -> bool:
        """Reads until the buffer has a number of bytes; false if no byte is left."""
        while self.left < size and self.read_more():
            pass
        return bool(self.left)

    def read_line(self) -> bytes:
        """Returns the next line; empty at the end of the file."""
        while (end := self.buffer.find(b"\n", self.place)) < 0 and self.left <= LONGEST_ROW and self.read_more():
            pass
        end = len(self.buffer) if end < 0 else end + 1
        line, self.place = self.buffer[self.place : end], end
        return line


def _decode(raw: Sequence[bytes], kind: Kind) -> Any:
    if kind == "number":
        return np.array([MISSING if value == b"NULL" else int(value) for value in raw], dtype=np.int64)
    values = map(decode_literal, raw)
    if kind == "bytes":
        return [None if value is None else value.hex() for value in values]
    # A title that is not UTF-8 belongs to no page, and is not a reason to stop.
    return [None if value is None else value.decode("utf-8", "replace") for value in values]


def decode_literal(raw: bytes) -> bytes | None:
    """Returns the value of a MySQL literal as bytes."""
    if raw == b"NULL":
        return None
    if raw.startswith(b"0x"):
        return bytes.fromhex(raw[2:].decode())
    inner = raw[raw.index(b"'") + 1 : -1]
    return _ESCAPED.sub(_unescape, inner) if b"\\" in inner or b"''" in inner else inner


def _unescape(match: re.Match[bytes]) -> bytes:
    # Two quotes mean one. An escaped character that is not in the table means itself.
    return _ESCAPES.get(match[1], match[1]) if match[1] else b"'"
