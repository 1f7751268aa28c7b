"""Finds the references of articles in the dumps of a wiki instead of its rendered pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from shadowprobe.build.dumps.asked_entities import ask_for
from shadowprobe.build.dumps.rows import read_rows
from shadowprobe.build.dumps.store import connect
from shadowprobe.build.dumps.wikitext_references import split_references
from shadowprobe.build.machine import ALL, Machine
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.references import ArticleReferences, filter_links

_ITEMS = """
SELECT page.id, reference.items FROM asked
LEFT JOIN page ON page.id = asked.id
LEFT JOIN reference ON reference.page = asked.id
ORDER BY asked.place
"""


def read_references_in_dumps(
    database: Path, entities: Iterable[FoundEntity], wiki_host: str, dropped: Counter[str], machine: Machine = ALL
) -> Iterator[ArticleReferences]:
    """Yields the references of each article."""
    with connect(database, machine) as connection:
        ask_for(connection, entities)
        for entity, (page, items) in zip(entities, read_rows(connection.execute(_ITEMS)), strict=True):
            own = list(filter_links(split_references(items or ""), entity.title, wiki_host, dropped))
            yield ArticleReferences(own, is_there=page is not None)
