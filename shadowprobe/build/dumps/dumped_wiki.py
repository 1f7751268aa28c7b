"""A wiki whose titles come from its dumps instead of its API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from shadowprobe.build.archive import Archive
from shadowprobe.build.dumps.rows import format_title, make_key, read_rows
from shadowprobe.build.dumps.store import connect, insert
from shadowprobe.build.machine import Machine
from shadowprobe.build.wiki.wiki_api import Wiki, batches

# The number of titles of one query, and the number of redirects in a row that are followed.
TITLES, MOST_STEPS = 100_000, 20
_STEP = """
CREATE OR REPLACE TEMP TABLE step AS
    SELECT asked.place, coalesce(redirect.title, asked.title) AS title, redirect.title IS NOT NULL AS moved
    FROM asked LEFT JOIN page ON page.title = asked.title AND page.redirect
    LEFT JOIN redirect ON redirect.source = page.id
"""
# A redirect that leads nowhere in this wiki is not a page.
_PAGES = """
SELECT page.id, asked.title FROM asked LEFT JOIN page ON page.title = asked.title AND NOT page.redirect
ORDER BY asked.place
"""


class DumpedWiki(Wiki):
    """The wiki of a build from dumps; only what the dumps do not have is requested."""

    def __init__(self, url: str, archive: Archive, *, user_agent: str, database: Path, machine: Machine) -> None:
        super().__init__(url, archive, user_agent=user_agent)
        self._database, self._machine = database, machine

    def follow_titles(self, titles: Iterable[str], **parameters: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields each title with the page that it leads to, through redirects."""
        if parameters:
            yield from super().follow_titles(titles, **parameters)
            return
        for batch in batches(titles, TITLES):
            yield from zip(batch, self._find_pages(batch), strict=True)

    def _find_pages(self, titles: Sequence[str]) -> Iterator[dict[str, Any]]:
        with connect(self._database, self._machine) as connection:
            connection.execute("CREATE TEMP TABLE asked (place BIGINT, title VARCHAR)")
            columns = {"place": list(range(len(titles))), "title": [_make_title(title) for title in titles]}
            insert(connection, columns, "INSERT INTO asked FROM batch")
            for _ in range(MOST_STEPS):
                connection.execute(_STEP)
                ((moved,),) = connection.execute("SELECT count(*) FROM step WHERE moved").fetchall()
                if not moved:
                    break
                connection.execute("CREATE OR REPLACE TEMP TABLE asked AS SELECT place, title FROM step")
            for page, key in read_rows(connection.execute(_PAGES)):
                title = format_title(key)
                yield {"title": title, "missing": True} if page is None else {"title": title, "pageid": page}


def _make_title(title: str) -> str:
    """Returns a title as the wiki writes it: a letter whose upper case has two letters, such as sharp s, is kept."""
    key = make_key(title)
    first = key[:1].upper()
    return first + key[1:] if len(first) == 1 else key
