"""The table of the entities that a query is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from shadowprobe.build.dumps.rows import make_key
from shadowprobe.build.dumps.store import insert
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.wiki.wiki_api import batches

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The number of entities that are added at a time.
ROWS = 50_000


def ask_for(connection: DuckDBPyConnection, entities: Iterable[FoundEntity]) -> None:
    """Makes the table `asked` of entities: the place of each in their order, its page, and its title as a key."""
    connection.execute("CREATE TEMP TABLE asked (place BIGINT, id BIGINT, title VARCHAR)")
    place = 0
    for batch in batches(entities, ROWS):
        columns: dict[str, list[Any]] = {
            "place": list(range(place, place + len(batch))),
            "id": [entity.page_id for entity in batch],
            "title": [make_key(entity.title) for entity in batch],
        }
        insert(connection, columns, "INSERT INTO asked FROM batch")
        place += len(batch)
