"""Which entities share a name, and what is known of them that tells them apart."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby

from msgspec import Struct

from shadowprobe.retrieval.amber_making import Properties
from shadowprobe.retrieval.amber_sets import COLLECTIONS
from shadowprobe.retrieval.wikidata.origin import Origin
from shadowprobe.retrieval.wikidata.store import number_of

NAMELESS = "entities without a name in the language"
WITHOUT_ARTICLE = "entities without an article in the language"
# The same words as those of `make_sets`, which sees only what is left.
SHARED_PROPERTY = "facts whose property a namesake has too"
FEW = "names of which fewer than two entities have a property of their own"
NOT_SHARED = "names that no two entities of a collection share"

# The classes that count for a kind: itself, and all that is below it.
_BELOW = """
CREATE TEMP TABLE below AS
WITH RECURSIVE found (root, class) AS (
    SELECT root, root FROM wanted
    UNION SELECT found.root, subclass.class FROM found JOIN subclass ON subclass.parent = found.class
)
SELECT root, class FROM found
"""
_ITSELF = "CREATE TEMP TABLE below AS SELECT root, root AS class FROM wanted"
# An entity of kinds of both collections is of the first.
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


class Bearer(Struct, frozen=True):
    """An entity of a name: its article, and the properties that it alone has of those that tell its kind apart."""

    qid: str
    title: str
    own: tuple[str, ...]


class Namesakes:
    """The entities of the wanted kinds in a file of facts, by the names that they share."""

    def __init__(self, facts: sqlite3.Connection, known: Properties, origin: Origin) -> None:
        self._facts, self._known = facts, known
        self.dropped: Counter[str] = Counter()
        facts.execute("CREATE TEMP TABLE wanted (root INTEGER PRIMARY KEY, place INTEGER)")
        facts.execute("CREATE TEMP TABLE asked (name TEXT PRIMARY KEY)")
        kinds = [(number_of(qid), COLLECTIONS.index(name)) for name, many in known.types.items() for qid in many]
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

    def names(self, collection: str) -> Iterator[tuple[str, list[Bearer]]]:
        """Every name of a collection of which two entities or more have a property of their own, with its entities."""
        place = COLLECTIONS.index(collection)
        rows = self._facts.execute(
            "SELECT name, name.qid, title FROM shared JOIN name USING (place, name) JOIN title ON title.qid = name.qid"
            " WHERE place = ? ORDER BY name, name.qid",
            [place],
        )
        for name, found in groupby(rows, key=lambda row: str(row[0])):
            bearers = self._bearers({qid: title for _, qid, title in found}, collection)
            if sum(1 for bearer in bearers if bearer.own) < 2:
                self.dropped[FEW] += 1
                continue
            yield name, bearers

    def _bearers(self, titles: Mapping[int, str], collection: str) -> list[Bearer]:
        claimed = {qid: self._claimed(qid) for qid in titles}
        bearers = Counter(number for numbers in claimed.values() for number in numbers)
        made = []
        for qid, title in titles.items():
            telling = [number for number in self._telling(qid, collection) if number in claimed[qid]]
            own = tuple(number for number in telling if bearers[number] == 1)
            if len(own) < len(telling):
                self.dropped[SHARED_PROPERTY] += len(telling) - len(own)
            made.append(Bearer(f"Q{qid}", title, own))
        return made

    def _claimed(self, qid: int) -> set[str]:
        """The properties that an entity has, whether they are of those that tell its kind apart or not."""
        rows = self._facts.execute("SELECT DISTINCT property FROM claim WHERE qid = ?", [qid])
        return {number for (number,) in rows}

    def _telling(self, qid: int, collection: str) -> list[str]:
        """The properties that tell the kinds of an entity apart, in the order of the paper's table."""
        kinds = self._known.types[collection]
        rows = self._facts.execute("SELECT root FROM member WHERE qid = ?", [qid])
        numbers = {number for (root,) in rows if f"Q{root}" in kinds for number in kinds[f"Q{root}"].properties}
        return [number for number in self._known.properties if number in numbers]
