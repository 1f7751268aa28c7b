"""Finds the entities that share a name, and the properties that only one of them has."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from msgspec import Struct

from shadowprobe.queries.amber_sets import COLLECTIONS
from shadowprobe.sets.amber_rules import Properties
from shadowprobe.sets.fact_source import Origin
from shadowprobe.sets.fact_store import parse_qid

NAMELESS = "entities without a name in the language"
WITHOUT_ARTICLE = "entities without an article in the language"
# The same reason as in `make_sets`, which only gets the remaining facts.
SHARED_PROPERTY = "facts whose property a namesake has too"
FEW = "names of which fewer than two entities have a property of their own"
NOT_SHARED = "names that no two entities of a collection share"

# The classes of a kind: the kind itself and all classes below it.
_BELOW = """
CREATE TEMP TABLE below AS
WITH RECURSIVE found (root, class) AS (
    SELECT root, root FROM wanted
    UNION SELECT found.root, subclass.class FROM found JOIN subclass ON subclass.parent = found.class
)
SELECT root, class FROM found
"""
_ITSELF = "CREATE TEMP TABLE below AS SELECT root, root AS class FROM wanted"
# An entity with kinds of both collections belongs to the first collection.
_MEMBERS = """
CREATE INDEX temp.below_class ON below (class);
CREATE TEMP TABLE member AS
    SELECT DISTINCT kind.qid, below.root, wanted.place
    FROM kind JOIN below ON below.class = kind.class JOIN wanted ON wanted.root = below.root;
CREATE INDEX temp.member_qid ON member (qid);
CREATE TEMP TABLE entity AS SELECT qid, min(place) AS place FROM member GROUP BY qid;
"""
_NAMES = """
CREATE TEMP TABLE name AS
    SELECT DISTINCT entity.place, names.value AS name, entity.qid
    FROM entity JOIN title ON title.qid = entity.qid JOIN label ON label.qid = entity.qid,
        json_each(label.forms) AS names
    WHERE NOT (SELECT count(*) FROM asked) OR names.value IN (SELECT name FROM asked);
CREATE INDEX temp.name_name ON name (place, name, qid);
CREATE TEMP TABLE shared AS SELECT place, name FROM name GROUP BY place, name HAVING count(*) > 1;
CREATE INDEX temp.shared_name ON shared (place, name);
"""


class NamedEntity(Struct, frozen=True):
    """An entity with a shared name: its article, and the relevant properties that none of its namesakes has."""

    qid: str
    title: str
    own: tuple[str, ...]


class Namesakes:
    """Finds the entities of the wanted kinds in a file of facts, by the names that they share."""

    def __init__(self, facts: sqlite3.Connection, known: Properties, origin: Origin) -> None:
        self._facts, self._known = facts, known
        self.dropped: Counter[str] = Counter()
        facts.execute("CREATE TEMP TABLE wanted (root INTEGER PRIMARY KEY, place INTEGER)")
        facts.execute("CREATE TEMP TABLE asked (name TEXT PRIMARY KEY)")
        kinds = [(parse_qid(qid), COLLECTIONS.index(name)) for name, many in known.types.items() for qid in many]
        facts.executemany("INSERT INTO wanted VALUES (?, ?)", kinds)
        facts.executemany("INSERT OR IGNORE INTO asked VALUES (?)", [(name,) for name in origin.names])
        facts.execute(_BELOW if origin.subclasses else _ITSELF)
        facts.executescript(_MEMBERS + _NAMES)
        for reason, table in ((NAMELESS, "label"), (WITHOUT_ARTICLE, "title")):
            self._count(
                reason, f"SELECT count(*) FROM entity WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE qid = entity.qid)"
            )
        self._count(NOT_SHARED, "SELECT count(*) FROM asked WHERE name NOT IN (SELECT name FROM shared)")

    def _count(self, reason: str, query: str) -> None:
        ((count,),) = self._facts.execute(query).fetchall()
        if count:
            self.dropped[reason] = count

    def list_names(self, collection: str) -> Iterator[tuple[str, list[NamedEntity]]]:
        """Yields the names of a collection of which at least two entities have a property of their own."""
        place = COLLECTIONS.index(collection)
        rows = self._facts.execute(
            "SELECT name, name.qid, title FROM shared JOIN name USING (place, name) JOIN title ON title.qid = name.qid"
            " WHERE place = ? ORDER BY name, name.qid",
            [place],
        )
        for name, group in groupby(rows, key=lambda row: str(row[0])):
            entities = self._make_entities({qid: title for _, qid, title in group}, collection)
            if sum(1 for entity in entities if entity.own) < 2:
                self.dropped[FEW] += 1
                continue
            yield name, entities

    def _make_entities(self, titles: Mapping[int, str], collection: str) -> list[NamedEntity]:
        properties = {qid: self._find_properties(qid) for qid in titles}
        owners = Counter(number for numbers in properties.values() for number in numbers)
        entities = []
        for qid, title in titles.items():
            relevant = [number for number in self._list_relevant(qid, collection) if number in properties[qid]]
            own = tuple(number for number in relevant if owners[number] == 1)
            self.dropped[SHARED_PROPERTY] += len(relevant) - len(own)
            entities.append(NamedEntity(f"Q{qid}", title, own))
        return entities

    def _find_properties(self, qid: int) -> set[str]:
        """Returns all properties of an entity."""
        rows = self._facts.execute("SELECT DISTINCT property FROM claim WHERE qid = ?", [qid])
        return {number for (number,) in rows}

    def _list_relevant(self, qid: int, collection: str) -> list[str]:
        """Lists the properties that the paper uses for the kinds of an entity, in the order of its table."""
        kinds = self._known.types[collection]
        rows = self._facts.execute("SELECT root FROM member WHERE qid = ?", [qid])
        numbers = {number for (root,) in rows if f"Q{root}" in kinds for number in kinds[f"Q{root}"].properties}
        return [number for number in self._known.properties if number in numbers]
