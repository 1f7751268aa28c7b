"""Finds the references of articles in the dumps of a wiki instead of its rendered pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from shadowprobe.build.dumps.asked_entities import ask_for
from shadowprobe.build.dumps.rows import read_rows
from shadowprobe.build.dumps.store import connect, has_table
from shadowprobe.build.dumps.wikitext_references import split_references
from shadowprobe.build.funnel import Funnel, Progress
from shadowprobe.build.machine import ALL, Machine
from shadowprobe.build.record_file import CountedRecords
from shadowprobe.build.records import FoundEntity, WebReference
from shadowprobe.build.references import filter_links, mark_followed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ITEMS = """
SELECT page.id, reference.items FROM asked
LEFT JOIN page ON page.id = asked.id
LEFT JOIN reference ON reference.page = asked.id
ORDER BY asked.place
"""


def has_references(database: Path, machine: Machine = ALL) -> bool:
    """True if the dumps have the texts of pages, in which the references are."""
    with connect(database, machine, read_only=True) as connection:
        return has_table(connection, "reference")


def find_references_in_dumps(
    database: Path,
    entities: CountedRecords[FoundEntity],
    wiki_host: str,
    most: int,
    funnel: Funnel,
    progress: Progress,
    machine: Machine = ALL,
    work: str = "references",
) -> Iterator[WebReference]:
    """Yields the references of the articles in their order; at most so many of an article are followed."""
    dropped: Counter[str] = Counter()
    followed = 0
    with connect(database, machine, read_only=True) as connection:
        stored = _read_items(connection, entities)
        for number, (entity, (page, items)) in enumerate(zip(entities, stored, strict=True), start=1):
            own = list(filter_links(split_references(items or ""), entity.title, wiki_host, dropped))
            if page is not None and not own:
                dropped["an article without references"] += 1
            followed += min(len(own), most)
            yield from mark_followed(own, most, dropped)
            progress(work, number, len(entities))
    funnel.keep(followed)
    funnel.add(dropped)


def _read_items(
    connection: DuckDBPyConnection, entities: Iterable[FoundEntity]
) -> Iterator[tuple[int | None, str | None]]:
    """Yields the page of each entity, None if it is gone, and its references."""
    ask_for(connection, entities)
    return ((page, items) for page, items in read_rows(connection.execute(_ITEMS)))
