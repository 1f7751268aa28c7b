"""The rows of a table in a MySQL dump, some thousands at a time and never the whole file."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from shadowprobe.build.dumps.files import broken, cut_off, open_dump
from shadowprobe.errors import InputError

# A number; a text; bytes that are no text, as hexadecimal digits, which sort as the bytes do.
Kind = Literal["number", "text", "bytes"]
Batch = dict[str, Any]
# What a number is where the dump says NULL: no id is negative.
MISSING = -1
CHUNK = 1 << 20
# No row of a wiki's table comes near it, so that what is longer is no row.
LONGEST_ROW = 16 << 20
# The head of a statement is far shorter.
LONGEST_HEAD = 1 << 14

_QUOTED = rb"(?:_binary )?'(?:[^'\\]++|\\.|'')*+'"
_BARE = rb"[^'(),;\s]++"
_VALUES: dict[Kind | None, bytes] = {
    None: rb"(?:%s|%s)" % (_QUOTED, _BARE),
    "number": rb"(-?\d++|NULL)",
    "text": rb"(%s|NULL|0x[0-9A-Fa-f]*+)" % _QUOTED,
    "bytes": rb"(%s|NULL|0x[0-9A-Fa-f]*+)" % _QUOTED,
}
_ANY_ROW = re.compile(rb"\s*+\(%s(?:,%s)*+\)\s*+[,;]" % (_VALUES[None], _VALUES[None]), re.DOTALL)
_CREATE = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?`(\w+)` \(")
_COLUMN = re.compile(rb"\s+`(\w+)` ")
_INSERT = re.compile(rb"INSERT (?:IGNORE )?INTO `(\w+)` (?:\(([^)]*)\) )?VALUES\s*+")
_ESCAPED = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}
_WHITE_SPACE_AND_BRACKETS = b"()\n\r\t "
# What stands before the rows, and what must then stand behind them.
_FRAMES = ((b"LOCK TABLES", b"UNLOCK TABLES"), (b"DISABLE KEYS", b"ENABLE KEYS"))


class TableDump:
    """The dump of one table: its columns are known at once, its rows come in a stream."""

    def __init__(self, path: Path, table: str) -> None:
        self.path, self.table = path, table
        with open_dump(path) as file:
            self.columns = self._columns(_Stream(path, file))

    def _columns(self, stream: _Stream) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        while stream.fill(LONGEST_HEAD):
            if _INSERT.match(stream.buffer, stream.place):
                break
            created = _CREATE.match(stream.line())
            if not created:
                continue
            self._check_table(created[1])
            columns = []
            while (line := stream.line()) and not line.startswith(b")"):
                if column := _COLUMN.match(line):
                    columns.append(column[1].decode())
            if not line:
                raise cut_off(self.path, f" in the columns of `{self.table}`")
            return tuple(columns)
        raise InputError(self.path, f"does not say the columns of `{self.table}`: is it a MySQL dump?")

    def _check_table(self, name: bytes) -> None:
        if name.decode() != self.table:
            raise InputError(self.path, f"holds the table `{name.decode()}`, not `{self.table}`")

    def batches(self, wanted: Mapping[str, Kind]) -> Iterator[Batch]:
        """The wanted columns of the rows: an array of numbers, or a list of texts, for each."""
        for name in wanted:
            if name not in self.columns:
                raise InputError(self.path, f"has no column `{name}`, only {', '.join(self.columns)}")
        open_frames: set[bytes] = set()
        done = 0
        with open_dump(self.path) as file:
            stream = _Stream(self.path, file)
            while stream.fill(LONGEST_HEAD):
                head = _INSERT.match(stream.buffer, stream.place)
                if head:
                    self._check_table(head[1])
                    named = tuple(re.findall(r"`(\w+)`", head[2].decode())) if head[2] else self.columns
                    stream.place = head.end()
                    for batch in self._values(stream, named, wanted, done):
                        done += len(batch[next(iter(wanted))])
                        yield batch
                else:
                    line = stream.line()
                    for before, after in _FRAMES:
                        if after in line:
                            open_frames.discard(after)
                        elif before in line:
                            open_frames.add(after)
        if open_frames:
            raise cut_off(self.path, f" after row {done}")

    def _values(
        self, stream: _Stream, columns: Sequence[str], wanted: Mapping[str, Kind], done: int
    ) -> Iterator[Batch]:
        """The rows of one INSERT."""
        row = b",".join(_VALUES[wanted.get(column)] for column in columns)
        pattern = re.compile(rb"\s*+\(%s\)\s*+([,;])" % row, re.DOTALL)
        order = [column for column in columns if column in wanted]
        only_numbers = all(wanted[column] == "number" for column in order)
        numbers = re.compile(rb"(?:\s*+\(\d++(?:,\d++){%d}\)\s*+,)*+" % (len(columns) - 1))
        while True:
            if only_numbers and (many := numbers.match(stream.buffer, stream.place)) and many[0]:
                found = _numbers(many[0]).reshape(-1, len(columns))
                stream.place = many.end()
                done += len(found)
                yield {column: found[:, place] for place, column in enumerate(columns) if column in wanted}
            rows: list[tuple[bytes, ...]] = []
            for match in pattern.finditer(stream.buffer, stream.place):
                if match.start() != stream.place:
                    break
                rows.append(match.groups())
                stream.place = match.end()
                if rows[-1][-1] == b";":
                    break
            if rows:
                done += len(rows)
                values = list(zip(*rows, strict=True))
                yield {column: _decoded(raw, wanted[column]) for column, raw in zip(order, values[:-1], strict=True)}
                if rows[-1][-1] == b";":
                    return
            if _ANY_ROW.match(stream.buffer, stream.place) or stream.left > LONGEST_ROW:
                raise InputError(self.path, f"row {done + 1} is none of `{self.table}` ({', '.join(columns)})")
            if not stream.more():
                raise cut_off(self.path, f" after row {done}")


class _Stream:
    """The bytes of a file, whose front goes away as it is understood."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self._file = path, file
        self.buffer, self.place = b"", 0

    @property
    def left(self) -> int:
        """How much is read and not yet understood."""
        return len(self.buffer) - self.place

    def more(self) -> bool:
        """Reads on, and says whether there was anything."""
        try:
            chunk = self._file.read(CHUNK)
        except (EOFError, OSError, zlib.error) as error:
            raise broken(self.path, error) from None
        self.buffer, self.place = self.buffer[self.place :] + chunk, 0
        return bool(chunk)

    def fill(self, size: int) -> bool:
        """Reads on until so much is there, and says whether anything is left at all."""
        while self.left < size and self.more():
            pass
        return self.left > 0

    def line(self) -> bytes:
        """Takes a line; nothing at the end of the file."""
        while (end := self.buffer.find(b"\n", self.place)) < 0 and self.left <= LONGEST_ROW and self.more():
            pass
        end = len(self.buffer) if end < 0 else end + 1
        line, self.place = self.buffer[self.place : end], end
        return line


def _numbers(rows: bytes) -> np.ndarray[Any, np.dtype[np.int64]]:
    """All numbers of rows that hold nothing else, at the speed of C."""
    return np.fromstring(rows.translate(None, _WHITE_SPACE_AND_BRACKETS).rstrip(b","), dtype=np.int64, sep=",")


def _decoded(raw: Sequence[bytes], kind: Kind) -> Any:
    if kind == "number":
        return np.array([MISSING if value == b"NULL" else int(value) for value in raw], dtype=np.int64)
    values = map(unquoted, raw)
    if kind == "bytes":
        return [None if value is None else value.hex() for value in values]
    # A title that is no UTF-8 is none that a page can have, and no reason to stop.
    return [None if value is None else value.decode("utf-8", "replace") for value in values]


def unquoted(raw: bytes) -> bytes | None:
    """The bytes that a literal of MySQL stands for."""
    if raw == b"NULL":
        return None
    if raw.startswith(b"0x"):
        return bytes.fromhex(raw[2:].decode())
    inner = raw[raw.index(b"'") + 1 : -1]
    return _ESCAPED.sub(_unescaped, inner) if b"\\" in inner or b"''" in inner else inner


def _unescaped(match: re.Match[bytes]) -> bytes:
    # Two quotes stand for one; an escaped character that is not in the table stands for itself.
    return _ESCAPES.get(match[1], match[1]) if match[1] else b"'"
