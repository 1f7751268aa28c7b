"""Puts the rows of dumps into the database, many at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shadowprobe.build.dumps.parallel import Part, Rows, read_parts
from shadowprobe.build.dumps.store import insert
from shadowprobe.build.funnel import Progress
from shadowprobe.build.machine import Machine

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The number of rows that are collected before they are written: numbers take little memory, texts more.
NUMBERS, TEXTS = 500_000, 100_000
# The number of bytes of texts that are collected at most.
TEXT_BYTES = 16 << 20


class Loader:
    """Inserts rows of several kinds by the statements of each kind, which select them from `batch`."""

    def __init__(
        self,
        connection: DuckDBPyConnection,
        statements: Mapping[str, Sequence[str]],
        progress: Progress,
        machine: Machine,
    ) -> None:
        self._connection, self._statements = connection, statements
        self._progress, self._workers = progress, machine.count_workers()
        self._waiting: dict[str, list[dict[str, Any]]] = {}
        self._sizes: Counter[str] = Counter()

    def load(self, parts: Sequence[Part]) -> None:
        """Loads all rows of the parts."""
        done: Counter[str] = Counter()
        for part, rows in read_parts(parts, self._workers):
            self._add(rows)
            done[part.path.name] += _count(rows)
            self._progress(part.path.name, done[part.path.name], None)
        for kind in list(self._waiting):
            self._write(kind)

    def _add(self, rows: Rows) -> None:
        self._waiting.setdefault(rows.kind, []).append(rows.columns)
        self._sizes[rows.kind] += _measure(rows)
        if self._sizes[rows.kind] >= NUMBERS:
            self._write(rows.kind)

    def _write(self, kind: str) -> None:
        batches = self._waiting.pop(kind)
        del self._sizes[kind]
        columns = {name: _join([batch[name] for batch in batches]) for name in batches[0]}
        insert(self._connection, columns, *self._statements[kind])


def _count(rows: Rows) -> int:
    return len(next(iter(rows.columns.values())))


def _measure(rows: Rows) -> int:
    """Returns the size of a batch in rows of numbers, of which as many take as much memory."""
    count = _count(rows)
    lists = [values for values in rows.columns.values() if isinstance(values, list)]
    if not lists:
        return count
    characters = sum(len(value) for values in lists for value in values if isinstance(value, str))
    return max(count * NUMBERS // TEXTS, characters * NUMBERS // TEXT_BYTES)


def _join(values: list[Any]) -> Any:
    if len(values) == 1:
        return values[0]
    if isinstance(values[0], np.ndarray):
        return np.concatenate(values)
    return [value for part in values for value in part]
