"""What the first two stages of a build ask of a wiki, answered from its dumps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from shadowprobe.build.dumps.load import load
from shadowprobe.build.dumps.store import Wanted, Watch, connect, count, insert
from shadowprobe.build.funnel import Funnel
from shadowprobe.build.languages import Language
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.spaces import NEVER, Spaces, as_article, collect, drop_page
from shadowprobe.errors import BuildError
from shadowprobe.formats.spans import whole_words

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
SELECT listed.place, listed.title, link.title, page.id, page.redirect, no_article.page IS NOT NULL, item.qid,
    created.moment
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


class _Linked(NamedTuple):
    """A link of a disambiguation page, what the wiki has under its title, and since when."""

    title: str
    page: dict[str, Any]
    created: str


def find_spaces_in_dumps(
    directory: Path,
    database: Path,
    language: Language,
    funnel: Funnel,
    *,
    category: str = "",
    created_before: str = "",
    limit: int | None = None,
    progress: Callable[[int, int | None], None] = lambda done, total: None,
    watch: Watch | None = None,
) -> Spaces:
    """The spaces that the API of the wiki would have given on the day of the dumps, in the same order.

    `watch` is told how the files are read, which takes most of the time; `progress` what is found then.
    """
    category = category.removeprefix("Category:")
    names = tuple(dict.fromkeys(_key(name) for name in (category, *language.categories) if name))
    load(directory, database, Wanted(_key(category), names, bool(created_before)), watch)
    with connect(database, read_only=True) as connection:
        _list_pages(connection, directory, _key(category), names)
        candidates = (
            (name, page, partial(_old_enough, linked, created_before))
            for name, page, linked in _candidates(connection, language, funnel)
        )
        return collect(candidates, funnel, limit=limit, progress=progress)


def _old_enough(linked: list[tuple[_Linked, FoundEntity]], created_before: str) -> list[FoundEntity]:
    return [entity for link, entity in linked if not created_before or link.created[:10] <= created_before]


def _list_pages(connection: DuckDBPyConnection, directory: Path, category: str, names: tuple[str, ...]) -> None:
    """Lists the disambiguation pages by their property, or by the category asked for or the first that has pages."""
    connection.execute(_NO_ARTICLES)
    if not category and count(connection, "disambiguation"):
        connection.execute(_BY_PROPERTY)
        return
    there = {name for (name,) in connection.execute("SELECT DISTINCT name FROM category").fetchall()}
    chosen = category or next((name for name in names if name in there), "")
    if not chosen:
        tried = ", ".join(map(_title, names)) or "none is known for the language"
        raise BuildError(
            f"{directory}: no category of disambiguation pages was found (tried: {tried}); name it with --category"
        )
    connection.execute(_BY_CATEGORY, {"name": chosen})
    if not count(connection, "listed"):
        raise BuildError(
            f"{directory}: the category `{_title(chosen)}` has no pages; give --category without its namespace"
        )


def _candidates(
    connection: DuckDBPyConnection, language: Language, funnel: Funnel
) -> Iterator[tuple[str, str, list[tuple[_Linked, FoundEntity]]]]:
    """Each disambiguation page with the articles among its links that bear its name."""
    for page, links in _pages(connection):
        name = language.name_of(page)
        bearing = [(link, as_article(link.page, language)) for link in links if whole_words(link.title, name)]
        entities = [(link, found) for link, found in bearing if isinstance(found, FoundEntity)]
        if len(entities) >= 2:
            yield name, page, entities
        else:
            drop_page([found for _, found in bearing], funnel)


def _pages(connection: DuckDBPyConnection) -> Iterator[tuple[str, list[_Linked]]]:
    """Each disambiguation page with its links."""
    rows = connection.execute(_LINKS)
    stream = (row for batch in iter(lambda: rows.fetchmany(ROWS), []) for row in batch)
    for (_, page), links in groupby(stream, key=itemgetter(0, 1)):
        yield _title(page), [_linked(*row[2:]) for row in links if row[2] is not None]


def _linked(
    title: str, page_id: int | None, redirect: bool, no_article: bool, qid: str | None, moment: str | None
) -> _Linked:
    """A link, with its page as the API would describe it, so that the same rule tells articles from the rest."""
    properties = {"disambiguation": ""} if no_article else {"wikibase_item": qid} if qid else {}
    page = {"ns": 0, "title": _title(title), "redirect": redirect, "pageprops": properties}
    return _Linked(
        _title(title), page | ({"missing": True} if page_id is None else {"pageid": page_id}), moment or NEVER
    )


def count_backlinks_in_dumps(database: Path, entities: Iterable[FoundEntity]) -> Iterator[FoundEntity]:
    """The entities with their commonness and the redirects that lead to them, counted as the stage does by the API."""
    asked = list(entities)
    with connect(database, read_only=True) as connection:
        connection.execute("CREATE TEMP TABLE asked (place BIGINT, id BIGINT, title VARCHAR)")
        columns: dict[str, list[Any]] = {
            "place": list(range(len(asked))),
            "id": [entity.page_id for entity in asked],
            "title": [_key(entity.title) for entity in asked],
        }
        insert(connection, "asked", columns)
        connection.execute(_NAMES)
        redirects: dict[int, list[str]] = defaultdict(list)
        for place, title in connection.execute("SELECT place, title FROM name WHERE redirect").fetchall():
            redirects[place].append(_title(title))
        counts = dict(connection.execute(_COUNTS).fetchall())
    for place, entity in enumerate(asked):
        yield replace(entity, commonness=counts.get(place, 0), redirects=tuple(sorted(redirects[place])))


def _title(key: str) -> str:
    """A title as people read it."""
    return key.replace("_", " ")


def _key(title: str) -> str:
    """A title as the tables have it."""
    return title.strip().replace(" ", "_")
