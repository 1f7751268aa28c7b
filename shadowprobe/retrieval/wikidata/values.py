"""The values of an entity's properties, in all the forms that they have in a language."""

from __future__ import annotations

import sqlite3
from collections import Counter
from functools import lru_cache

import msgspec

from shadowprobe.retrieval.amber_making import Value
from shadowprobe.retrieval.wikidata.store import number_of

NAMELESS_VALUES = "values without a name in the language"


class Values:
    """Looks values up in a file of facts; one without a name is left out and counted."""

    def __init__(self, facts: sqlite3.Connection) -> None:
        self._facts = facts
        self.dropped: Counter[str] = Counter()
        # Many entities share their values.
        self._named = lru_cache(100_000)(self._names)

    def of(self, qid: str, number: str) -> tuple[Value, ...]:
        """The values of a property of an entity, each once."""
        rows = self._facts.execute(
            "SELECT item, forms FROM claim WHERE qid = ? AND property = ? ORDER BY rowid", [number_of(qid), number]
        )
        found = [self._named(item) if item is not None else _decoded(forms) for item, forms in rows.fetchall()]
        if nameless := found.count(()):
            self.dropped[NAMELESS_VALUES] += nameless
        return tuple(dict.fromkeys(value for value in found if value))

    def names(self, qid: str) -> Value:
        """The names of an entity, the label first."""
        return self._named(number_of(qid))

    def _names(self, number: int) -> Value:
        row = self._facts.execute("SELECT forms FROM label WHERE qid = ?", [number]).fetchone()
        return _decoded(row[0]) if row else ()


def _decoded(forms: str) -> Value:
    return msgspec.json.decode(forms, type=Value)
