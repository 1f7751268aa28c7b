"""The values of an entity's properties, in all their forms in a language."""

from __future__ import annotations

import sqlite3
from collections import Counter
from functools import lru_cache

import msgspec

from shadowprobe.sets.amber_rules import Value
from shadowprobe.sets.fact_store import parse_qid

NAMELESS_VALUES = "values without a name in the language"


class Values:
    """Looks up values in a file of facts; values without a name are left out and counted."""

    def __init__(self, facts: sqlite3.Connection) -> None:
        self._facts = facts
        self.dropped: Counter[str] = Counter()
        # Many entities have the same values.
        self._cached_names = lru_cache(100_000)(self._read_names)

    def find(self, qid: str, number: str) -> tuple[Value, ...]:
        """Returns the values of a property of an entity, each once."""
        rows = self._facts.execute(
            "SELECT item, forms FROM claim WHERE qid = ? AND property = ? ORDER BY rowid", [parse_qid(qid), number]
        )
        values = [self._cached_names(item) if item is not None else _decode(forms) for item, forms in rows.fetchall()]
        if nameless := values.count(()):
            self.dropped[NAMELESS_VALUES] += nameless
        return tuple(dict.fromkeys(value for value in values if value))

    def find_names(self, qid: str) -> Value:
        """Returns the names of an entity, the label first."""
        return self._cached_names(parse_qid(qid))

    def _read_names(self, number: int) -> Value:
        row = self._facts.execute("SELECT forms FROM label WHERE qid = ?", [number]).fetchone()
        return _decode(row[0]) if row else ()


def _decode(forms: str) -> Value:
    return msgspec.json.decode(forms, type=Value)
