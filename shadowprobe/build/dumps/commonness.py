"""Counts the links to entities in the dumps of a wiki instead of by its API."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from shadowprobe.build.dumps.asked_entities import ask_for
from shadowprobe.build.dumps.rows import format_title, read_rows
from shadowprobe.build.dumps.store import connect, has_table
from shadowprobe.build.machine import ALL, Machine
from shadowprobe.build.record_file import CountedRecords
from shadowprobe.build.records import FoundEntity

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The memory that a link takes while links are counted, in bytes.
LINK_BYTES = 100
_NAMES = """
CREATE TEMP TABLE name AS
    SELECT place, id, title, FALSE AS redirect FROM asked
    UNION ALL
    SELECT asked.place, asked.id, page.title, TRUE
    FROM asked JOIN redirect ON redirect.title = asked.title JOIN page ON page.id = redirect.source
"""
# The entities by the keys that links have: numbers or titles.
_NUMBERS = """
CREATE TEMP TABLE known AS SELECT place, name.id AS id, target.id AS key FROM name JOIN target USING (title)
"""
_TITLES = "CREATE TEMP TABLE known AS SELECT place, id, title AS key FROM name"
_EXTENT = """
SELECT count(*), coalesce(min(source), 0), coalesce(max(source), 0) + 1 FROM edge WHERE key IN (SELECT key FROM known)
"""
# An article that links to an entity by two names counts once. Only some sources are counted at a time: the pairs of
# all of them do not fit in memory.
_COUNTS = """
INSERT INTO counted
SELECT place, count(*) FROM (
    SELECT DISTINCT known.place, edge.source
    FROM edge JOIN known ON known.key = edge.key
    SEMI JOIN (SELECT id FROM page WHERE NOT redirect AND id >= $first AND id < $end) live ON live.id = edge.source
    WHERE edge.source != known.id AND edge.source >= $first AND edge.source < $end
) GROUP BY place
"""
_RESULTS = """
SELECT coalesce(links, 0), redirects FROM asked
LEFT JOIN (SELECT place, sum(links)::BIGINT AS links FROM counted GROUP BY place) total USING (place)
LEFT JOIN (SELECT place, list(title) AS redirects FROM name WHERE redirect GROUP BY place) other USING (place)
ORDER BY place
"""


def count_backlinks_in_dumps(
    database: Path, entities: CountedRecords[FoundEntity], machine: Machine = ALL
) -> Iterator[FoundEntity]:
    """Yields the entities with their commonness and their redirects, counted in the same way as with the API."""
    with connect(database, machine) as connection:
        ask_for(connection, entities)
        connection.execute(_NAMES)
        connection.execute(_NUMBERS if has_table(connection, "target") else _TITLES)
        _count(connection, machine.find_memory())
        for entity, (links, redirects) in zip(entities, read_rows(connection.execute(_RESULTS)), strict=True):
            others = sorted(map(format_title, redirects or ()))
            yield replace(entity, commonness=links, redirects=tuple(others))


def _count(connection: DuckDBPyConnection, memory: int) -> None:
    """Counts the links of one range of sources after the other, as many at a time as fit in memory."""
    connection.execute("CREATE TEMP TABLE counted (place BIGINT, links BIGINT)")
    ((links, first, end),) = connection.execute(_EXTENT).fetchall()
    parts = 1 + links * LINK_BYTES // memory
    bounds = [first + (end - first) * part // parts for part in range(parts + 1)]
    for start, stop in pairwise(bounds):
        connection.execute(_COUNTS, {"first": start, "end": stop})
