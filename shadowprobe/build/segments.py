"""An archive on a storage that only takes whole files: its records are in many files, each with an index.

A file is written when enough records have come, and is never changed. Its index is written after it, so that a file
whose index is there is whole. A process that dies loses only the records since the last file.
"""

from __future__ import annotations

import time
from importlib import import_module
from uuid import uuid4

import msgspec

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.build import storage
from shadowprobe.build.archive_index import Entry, IndexedRecords, make_entry
from shadowprobe.build.warc_record import INFO, Stored, decompress_record, make_info
from shadowprobe.errors import InputError

# A file is written when it has so many records or bytes, or when its first record is so many seconds old.
MOST_RECORDS, MOST_BYTES, MOST_SECONDS = 500, 32_000_000, 30.0
# How long to wait for a process that did not say that it is done: Ray ends a worker without a node within a second.
PATIENCE = 5.0
_WARC, _INDEX, _BEGUN = ".warc.gz", ".index", "begun"


class Segments(IndexedRecords):
    """The records in one folder of a storage; several processes may read it, and one of them may write."""

    path: str

    def __init__(self, path: str, *, software: str, read_only: bool = False) -> None:
        import_module("warcio")
        self.path, self.read_only, self._software = path, read_only, software
        self._entries: dict[str, Entry] = {}
        # The files in the order in which they were read, and the number of the file in which each record is.
        self._files: list[str] = []
        self._file_of: dict[str, int] = {}
        self._buffer, self._buffered = bytearray(), list[Entry]()
        self._oldest = 0.0
        self._is_claimed = False
        self.refresh()

    def refresh(self) -> None:
        """Reads the indexes of the files that were not read before."""
        known = set(self._files)
        for name in storage.list_names(self.path):
            file = name.removesuffix(_INDEX)
            if name.endswith(_INDEX) and file not in known:
                self._read_index(file)

    def _read_index(self, file: str) -> None:
        self._files.append(file)
        decode, number = msgspec.json.Decoder(Entry).decode, len(self._files) - 1
        for line in storage.read_file(f"{self.path}/{file}{_INDEX}").splitlines(keepends=True):
            # The last line may be cut short: then its record is requested again.
            if not line.endswith(b"\n"):
                continue
            try:
                entry = decode(line)
            except msgspec.DecodeError as error:
                raise InputError(f"{self.path}/{file}{_INDEX}", f"{error}; remove this file and its records") from None
            if entry.key != INFO:
                self._entries[entry.key], self._file_of[entry.key] = entry, number

    def claim(self) -> None:
        """Notes that a process begins to write; waits a moment if an earlier one did not say that it is done."""
        if _BEGUN in storage.list_names(self.path):
            time.sleep(PATIENCE)
            self.refresh()
        storage.write_file(f"{self.path}/{_BEGUN}", b"\n")
        self._is_claimed = True

    def _append(self, key: str, record: bytes, stored: Stored) -> None:
        if not self._buffered:
            self._begin_file()
        self._add(key, record, stored)
        is_old = time.monotonic() - self._oldest > MOST_SECONDS
        if is_old or len(self._buffered) > MOST_RECORDS or len(self._buffer) > MOST_BYTES:
            self.flush()

    def _begin_file(self) -> None:
        """Begins a file after all others; the name is like no other, even if two processes write by mistake."""
        last = max((int(file.partition("-")[0]) for file in self._files), default=-1)
        self._files.append(f"{last + 1:06d}-{uuid4().hex[:8]}{_WARC}")
        self._oldest = time.monotonic()
        self._add(INFO, make_info(self._files[-1], self._software), Stored("", 0, {}, b""))

    def _add(self, key: str, record: bytes, stored: Stored) -> None:
        entry = make_entry(key, len(self._buffer), len(record), stored)
        self._buffer += record
        self._buffered.append(entry)
        if key != INFO:
            self._entries[key], self._file_of[key] = entry, len(self._files) - 1

    def flush(self) -> None:
        """Writes the records that wait in memory."""
        if self._buffered:
            file = f"{self.path}/{self._files[-1]}"
            storage.write_file(file, bytes(self._buffer))
            storage.write_file(f"{file}{_INDEX}", encode_lines(self._buffered))
            self._buffer, self._buffered = bytearray(), []

    def _read(self, entry: Entry) -> bytes:
        number = self._file_of[entry.key]
        if self._buffered and number == len(self._files) - 1:
            return decompress_record(bytes(self._buffer[entry.offset : entry.end]))
        return decompress_record(storage.read_file(self._find_file(entry.key), entry.offset, entry.end))

    def _find_file(self, key: str) -> str:
        return f"{self.path}/{self._files[self._file_of[key]]}"

    def release(self) -> None:
        """Lets other processes write, until `refresh`."""
        self.flush()

    def close(self) -> None:
        """Writes what waits in memory."""
        if not self.read_only:
            self.flush()
        if self._is_claimed:
            storage.remove_file(f"{self.path}/{_BEGUN}")
            self._is_claimed = False
