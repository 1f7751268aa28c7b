"""The first two stages of a build, from the dumps of a wiki instead of its API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from shadowprobe.base.languages import Language
from shadowprobe.base.spans import find_name
from shadowprobe.build.dumps.load_dumps import load_dumps
from shadowprobe.build.dumps.store import Wanted, connect, count, insert
from shadowprobe.build.funnel import Funnel, Progress, ignore_progress
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import NEVER, DisambiguationPage, Spaces, collect_spaces, parse_article
from shadowprobe.errors import BuildError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS = 10_000
_NO_ARTICLES = "CREATE TEMP TABLE no_article AS SELECT page FROM disambiguation UNION SELECT page FROM category"
# As `pageswithprop` lists them: by page id.
_BY_PROPERTY = """
CREATE TEMP TABLE listed AS
    SELECT row_number() OVER (ORDER BY id) AS place, id, title
    FROM page WHERE id IN (SELECT page FROM disambiguation)
"""
# As `categorymembers` lists them: by the sort key of the category.
_BY_CATEGORY = """
CREATE TEMP TABLE listed AS
    SELECT row_number() OVER (ORDER BY category.sortkey, page.id) AS place, page.id AS id, page.title AS title
    FROM page JOIN category ON category.page = page.id WHERE category.name = $name
"""
# As `prop=links` lists them: by the bytes of the title, with underscores.
_LINKS = """
SELECT listed.place, listed.title, link.title, created.moment,
    page.id, page.redirect, no_article.page IS NOT NULL, item.qid
FROM listed
LEFT JOIN link ON link.source = listed.id
LEFT JOIN page ON page.title = link.title
LEFT JOIN no_article ON no_article.page = page.id
LEFT JOIN item ON item.page = page.id
LEFT JOIN created ON created.page = page.id
ORDER BY listed.place, link.title
"""
_NAMES = """
CREATE TEMP TABLE name AS
    SELECT place, id, title, FALSE AS redirect FROM asked
    UNION ALL
    SELECT asked.place, asked.id, page.title, TRUE
    FROM asked JOIN redirect ON redirect.title = asked.title JOIN page ON page.id = redirect.source
"""
_COUNTS = """
SELECT place, count(*) FROM (
    SELECT DISTINCT name.place, link.source
    FROM name JOIN link ON link.title = name.title JOIN page ON page.id = link.source
    WHERE NOT page.redirect AND link.source != name.id
) GROUP BY place
"""


def find_spaces_in_dumps(
    database: Path, language: Language, funnel: Funnel, settings: BuildSettings, progress: Progress = ignore_progress
) -> Spaces:
    """Finds the spaces that the wiki's API had returned on the day of the dumps, in the same order.

    The dumps of a large wiki take hours, so the progress is also that of the files.
    """
    directory, category = Path(settings.dumps), _make_key(settings.category.removeprefix("Category:"))
    names = tuple(dict.fromkeys(_make_key(name) for name in (category, *language.categories) if name))
    load_dumps(directory, database, Wanted(category, names, bool(settings.created_before)), progress)
    with connect(database, read_only=True) as connection:
        _list_pages(connection, directory, category, names)
        return collect_spaces(_read_pages(connection, language), language, funnel, settings, progress)


def _list_pages(connection: DuckDBPyConnection, directory: Path, category: str, names: tuple[str, ...]) -> None:
    """Lists the disambiguation pages by their property, by the given category, or by the first one that has pages."""
    connection.execute(_NO_ARTICLES)
    if not category and count(connection, "disambiguation"):
        connection.execute(_BY_PROPERTY)
        return
    existing = {name for (name,) in connection.execute("SELECT DISTINCT name FROM category").fetchall()}
    chosen = category or next((name for name in names if name in existing), "")
    if not chosen:
        tried = ", ".join(map(_format_title, names)) or "none is known for the language"
        raise BuildError(
            f"{directory}: no category of disambiguation pages was found (tried: {tried}); name it with --category"
        )
    connection.execute(_BY_CATEGORY, {"name": chosen})
    if not count(connection, "listed"):
        raise BuildError(
            f"{directory}: the category `{_format_title(chosen)}` has no pages; give --category without its namespace"
        )


def _read_pages(connection: DuckDBPyConnection, language: Language) -> Iterator[DisambiguationPage]:
    """Yields the disambiguation pages with their links."""
    rows = connection.execute(_LINKS)
    stream = (row for batch in iter(lambda: rows.fetchmany(ROWS), []) for row in batch)
    for (_, key), links in groupby(stream, key=itemgetter(0, 1)):
        title = _format_title(key)
        name, linked, dates = language.name_of(title), list[FoundEntity | str](), dict[str, str]()
        for _, _, target, moment, *row in links:
            if target is not None and find_name(_format_title(target), name):
                linked.append(parse_article(_describe_page(_format_title(target), *row), language))
                dates[_format_title(target)] = moment or NEVER
        yield DisambiguationPage(title, linked, dates.__getitem__)


def _describe_page(
    title: str, page_id: int | None, redirect: bool, no_article: bool, qid: str | None
) -> dict[str, Any]:
    """Describes a page as the API does, so that `parse_article` can read it."""
    properties = {"disambiguation": ""} if no_article else {"wikibase_item": qid} if qid else {}
    page: dict[str, Any] = {"ns": 0, "title": title, "redirect": redirect, "pageprops": properties}
    return page | ({"missing": True} if page_id is None else {"pageid": page_id})


def count_backlinks_in_dumps(database: Path, entities: Iterable[FoundEntity]) -> Iterator[FoundEntity]:
    """Yields the entities with their commonness and their redirects, counted in the same way as with the API."""
    counted = list(entities)
    with connect(database, read_only=True) as connection:
        connection.execute("CREATE TEMP TABLE asked (place BIGINT, id BIGINT, title VARCHAR)")
        columns: dict[str, list[Any]] = {
            "place": list(range(len(counted))),
            "id": [entity.page_id for entity in counted],
            "title": [_make_key(entity.title) for entity in counted],
        }
        insert(connection, columns, "INSERT INTO asked FROM batch")
        connection.execute(_NAMES)
        redirects: dict[int, list[str]] = defaultdict(list)
        for place, title in connection.execute("SELECT place, title FROM name WHERE redirect").fetchall():
            redirects[place].append(_format_title(title))
        counts = dict(connection.execute(_COUNTS).fetchall())
    for place, entity in enumerate(counted):
        yield replace(entity, commonness=counts.get(place, 0), redirects=tuple(sorted(redirects[place])))


def _format_title(key: str) -> str:
    """Returns a title with spaces."""
    return key.replace("_", " ")


def _make_key(title: str) -> str:
    """Returns a title with underscores, as in the tables."""
    return title.strip().replace(" ", "_")
