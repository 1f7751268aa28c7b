"""The archive of a build: every response of the wiki and of the web in a WARC file, by its request.

The index only saves time: a record holds its own request, so that whatever the index does not know is read from
the file when the archive is opened again. Half a record at its end, which a kill in the middle of a write leaves, is
cut off.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path

import msgspec

from shadowprobe.base.files import drop_torn_line, lock, open_for_reading, write_out
from shadowprobe.base.jsonl import encode_lines, read_lines
from shadowprobe.build.archive_index import Entry, IndexedRecords, key_of, make_entry
from shadowprobe.build.warc_record import INFO, MAGIC, Stored, make_damage_error, make_info, parse_any, read_member
from shadowprobe.errors import InputError

__all__ = ["Archive", "Entry", "key_of"]

# A file that is larger than its first record can be, and has no record, is not ours to cut.
_FIRST_RECORD = 4096


class Archive(IndexedRecords):
    """A WARC file with an index beside it; one process writes to it at a time."""

    path: Path

    def __init__(self, path: Path, *, software: str, read_only: bool = False, patience: int = 0) -> None:
        # Only reading needs it, but it is said before the first request if it is missing.
        import_module("warcio")
        self.path, self.read_only = path, read_only
        self._software, self._patience = software, patience
        self._index_path = index = path.with_suffix(path.suffix + ".index")
        if read_only and not (path.exists() or index.exists()):
            raise InputError(path, "no such archive: a build without --from-archive makes it")
        self._open()

    def _open(self, begin: int = 0) -> None:
        """Opens the files, and reads the index from this byte on."""
        with ExitStack() as stack:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = stack.enter_context(self.path.open("rb" if self.read_only else "a+b"))
                if not self.read_only:
                    self._index = stack.enter_context(self._index_path.open("a+b"))
            except OSError as error:
                raise InputError(error.filename or self.path, f"cannot be opened ({error.strerror})") from None
            if not self.read_only:
                lock(self._file, f"building into {self.path.parent}", self._patience)
                drop_torn_line(self._index)
            self._load(begin)
            stack.pop_all()

    def _load(self, begin: int) -> None:
        if not begin:
            self._entries, self._end = {}, 0
        indexed = self._read_index(begin)
        size = self._file.seek(0, os.SEEK_END)
        known = [entry for entry in indexed if entry.end <= size]
        if self.read_only and len(known) < len(indexed):
            end = max(entry.end for entry in indexed)
            raise InputError(
                self.path,
                f"has {size} bytes, and its index has {end}: it is cut short; a build without --from-archive asks"
                " again for what is lost",
            )
        if begin and (len(known) < len(indexed) or size < self._end):
            # Another process has lost records that were read before.
            self._load(0)
            return
        scanned = list(self._scan(max((entry.end for entry in known), default=self._end), size))
        self._entries.update((entry.key, entry) for entry in (*known, *scanned) if entry.key != INFO)
        self._end = max((entry.end for entry in (*known, *scanned)), default=self._end)
        if not self.read_only:
            self._mend(known, scanned, size, lost=len(known) < len(indexed))

    def _read_index(self, begin: int) -> list[Entry]:
        """Reads the index from this byte on; a last line that is not whole is left out."""
        if not self._index_path.exists():
            return []
        decode = msgspec.json.Decoder(Entry).decode
        try:
            with open_for_reading(self._index_path) as file:
                file.seek(begin)
                return [decode(line) for line in file if line.endswith(b"\n")]
        except (ValueError, RecursionError):
            # A million lines take five times as long here, but an error names its line.
            return [entry for _, entry in read_lines(self._index_path, Entry, torn=True)]

    def _mend(self, known: list[Entry], scanned: list[Entry], size: int, *, lost: bool) -> None:
        """Makes file and index agree: without half a record, and without lines whose records are lost."""
        if not self._end and size > _FIRST_RECORD:
            raise InputError(self.path, "has no record that can be read: move it away, and a build makes a new one")
        self._file.truncate(self._end)
        if lost:
            self._index.truncate(0)
        write_out(self._index, encode_lines([*known, *scanned] if lost else scanned), self.path)
        if not self._end:
            self._write_info()

    def _scan(self, offset: int, size: int) -> Iterator[Entry]:
        """The records from a byte on; what is not whole is passed over."""
        broken = None
        while offset < size:
            content, end = read_member(self._file.fileno(), offset)
            record = parse_any(content)
            if record is None:
                broken = offset if broken is None else broken
                offset = self._next_record(offset + 1, size)
                continue
            if broken is not None and self.read_only:
                raise make_damage_error(self.path, broken)
            yield make_entry(record[0], offset, end - offset, record[1])
            offset, broken = end, None

    def _next_record(self, offset: int, size: int) -> int:
        """Where something begins like a record."""
        with mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ) as view:
            place = view.find(MAGIC, offset)
        return size if place < 0 else place

    def _write_info(self) -> None:
        """Writes the record that says who made the file; it is kept by an index entry of its own."""
        self._append(INFO, make_info(self.path.name, self._software), Stored("", 0, {}, b""))

    def _append(self, key: str, record: bytes, stored: Stored) -> None:
        entry = make_entry(key, self._file.seek(0, os.SEEK_END), len(record), stored)
        write_out(self._file, record, self.path)
        self._end = entry.end
        write_out(self._index, encode_lines([entry]), self.path)
        if key != INFO:
            self._entries[key] = entry

    def _read(self, entry: Entry) -> bytes:
        return read_member(self._file.fileno(), entry.offset)[0]

    def _find_file(self, key: str) -> str:
        return str(self.path.absolute())

    def flush(self) -> None:
        """Every record is written at once."""

    def release(self) -> None:
        """Lets other processes write, until `refresh`."""
        self._indexed = self._index.seek(0, os.SEEK_END)
        self.close()

    def refresh(self) -> None:
        """Reads what other processes have written since `release`."""
        self._open(self._indexed)

    def close(self) -> None:
        """Closes the files; what a full disk did not take is lost without another word."""
        for file in (self._file,) if self.read_only else (self._file, self._index):
            with suppress(OSError):
                file.close()
