"""Draws rare entities at random from the dumps of a wiki instead of by its API."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadowprobe.base.languages import Language
from shadowprobe.build.dumps.commonness import count_backlinks_in_dumps
from shadowprobe.build.dumps.rows import NO_ARTICLES, describe_page, format_title, read_rows
from shadowprobe.build.dumps.store import connect, insert
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.machine import ALL, Machine
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import NEVER
from shadowprobe.build.tail import MAX_EMPTY_REQUESTS, draw_page_ids, filter_articles

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The number of draws that are looked up together, at first and at most: links are counted once for all of them.
FEWEST, MOST = 20, 20_000
_PAGES = """
SELECT page.title, page.id, page.redirect, no_article.page IS NOT NULL, item.qid, created.moment
FROM page JOIN asked ON asked.id = page.id
LEFT JOIN no_article ON no_article.page = page.id
LEFT JOIN item ON item.page = page.id
LEFT JOIN created ON created.page = page.id
"""


def draw_articles_in_dumps(
    database: Path,
    language: Language,
    funnel: Funnel,
    settings: BuildSettings,
    used: Container[str],
    machine: Machine = ALL,
) -> Iterator[list[FoundEntity]]:
    """Yields the articles that the API would draw, as many at a time, already with their commonness."""
    draws = draw_page_ids(settings.seed, _find_highest_page_id(database, machine))
    size, empty = FEWEST, 0
    while group := list(islice(draws, size)):
        pages, dates = _read_pages(database, [page_id for ids in group for page_id in ids], machine)
        filtered = []
        for ids in group:
            own = Funnel(funnel.stage)
            drawn = [pages.get(page_id, {}) for page_id in ids]
            filtered.append((filter_articles(drawn, language, used, settings, dates.__getitem__, own), own))
        articles = [article for batch, _ in filtered for article in batch]
        counted = iter(list(count_backlinks_in_dumps(database, articles, machine)))
        for batch, own in filtered:
            # Only what is used is counted.
            for why, number in own.dropped.items():
                funnel.drop(why, number)
            empty = 0 if batch else empty + 1
            if batch:
                yield list(islice(counted, len(batch)))
            if empty == MAX_EMPTY_REQUESTS:
                return
        size = min(2 * size, MOST)


def _find_highest_page_id(database: Path, machine: Machine) -> int:
    with connect(database, machine) as connection:
        ((highest,),) = connection.execute("SELECT coalesce(max(id), 0) FROM highest").fetchall()
    return int(highest)


def _read_pages(
    database: Path, page_ids: Sequence[int], machine: Machine
) -> tuple[dict[int, dict[str, Any]], dict[str, str]]:
    """Returns the pages of namespace 0 by id, and the creation time of each by title."""
    pages, dates = dict[int, dict[str, Any]](), dict[str, str]()
    with connect(database, machine) as connection:
        _ask(connection, page_ids)
        for key, page_id, redirect, no_article, qid, moment in read_rows(connection.execute(_PAGES)):
            title = format_title(key)
            pages[page_id] = describe_page(title, page_id, redirect, no_article, qid)
            dates[title] = moment or NEVER
    return pages, dates


def _ask(connection: DuckDBPyConnection, page_ids: Sequence[int]) -> None:
    connection.execute(f"{NO_ARTICLES}; CREATE TEMP TABLE asked (id BIGINT)")
    insert(connection, {"id": list(page_ids)}, "INSERT INTO asked FROM batch")
