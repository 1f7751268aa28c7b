"""Finds entity spaces in the dumps of a wiki instead of by its API."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from shadowprobe.base.languages import Language
from shadowprobe.base.spans import find_name
from shadowprobe.build.dumps.load_dumps import has_current_version, load_dumps
from shadowprobe.build.dumps.rows import NO_ARTICLES, describe_page, format_title, make_key, read_rows
from shadowprobe.build.dumps.store import Wanted, connect, count, has_table
from shadowprobe.build.funnel import Funnel, Progress, ignore_progress
from shadowprobe.build.machine import ALL, Machine
from shadowprobe.build.records import FoundEntity
from shadowprobe.build.settings import BuildSettings
from shadowprobe.build.spaces import NEVER, DisambiguationPage, NamedSpace, parse_article, select_spaces
from shadowprobe.errors import BuildError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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
# The links of the listed pages are chosen before they get their titles: a large wiki has a billion other links.
_LINKED_BY_NUMBER = """
CREATE TEMP TABLE linked AS
    SELECT place, target.title AS title
    FROM (SELECT listed.place, edge.key FROM edge JOIN listed ON listed.id = edge.source)
    JOIN target ON target.id = key
"""
_LINKED_BY_TITLE = """
CREATE TEMP TABLE linked AS
    SELECT listed.place, edge.key AS title FROM edge JOIN listed ON listed.id = edge.source
"""
# As `prop=links` lists them: by the bytes of the title, with underscores.
_LINKS = """
SELECT listed.place, listed.title, linked.title, created.moment,
    page.id, page.redirect, no_article.page IS NOT NULL, item.qid
FROM listed
LEFT JOIN linked ON linked.place = listed.place
LEFT JOIN page ON page.title = linked.title
LEFT JOIN no_article ON no_article.page = page.id
LEFT JOIN item ON item.page = page.id
LEFT JOIN created ON created.page = page.id
ORDER BY listed.place, linked.title
"""


def find_spaces_in_dumps(
    database: Path,
    language: Language,
    funnel: Funnel,
    settings: BuildSettings,
    progress: Progress = ignore_progress,
    machine: Machine = ALL,
) -> Iterator[NamedSpace]:
    """Finds the spaces that the wiki's API had returned on the day of the dumps, in the same order.

    The dumps of a large wiki take hours, so the progress is also that of the files.
    """
    _load(database, language, settings, progress, machine)
    yield from find_spaces_in_database(database, language, funnel, settings, progress, machine)


def keep_database(
    database: Path, language: Language, settings: BuildSettings, progress: Progress, machine: Machine
) -> None:
    """Loads the dumps again if the database is lost, or if an earlier version made it."""
    if not has_current_version(database):
        _load(database, language, settings, progress, machine)


def _load(database: Path, language: Language, settings: BuildSettings, progress: Progress, machine: Machine) -> None:
    category, names = _list_categories(language, settings)
    headings = tuple(sorted(heading.casefold() for heading in language.references))
    wanted = Wanted(category, names, bool(settings.created_before), headings)
    load_dumps(Path(settings.dumps), database, wanted, progress, machine)


def find_spaces_in_database(
    database: Path,
    language: Language,
    funnel: Funnel,
    settings: BuildSettings,
    progress: Progress,
    machine: Machine,
) -> Iterator[NamedSpace]:
    """Finds the spaces in dumps that are loaded already."""
    category, names = _list_categories(language, settings)
    with connect(database, machine) as connection:
        _list_pages(connection, Path(settings.dumps), category, names)
        connection.execute(_LINKED_BY_NUMBER if has_table(connection, "target") else _LINKED_BY_TITLE)
        yield from select_spaces(_read_pages(connection, language), language, funnel, settings, progress)


def _list_categories(language: Language, settings: BuildSettings) -> tuple[str, tuple[str, ...]]:
    """Returns the category that the user named, and all categories that may have disambiguation pages."""
    category = make_key(settings.category.removeprefix("Category:"))
    return category, tuple(dict.fromkeys(make_key(name) for name in (category, *language.categories) if name))


def _list_pages(connection: DuckDBPyConnection, directory: Path, category: str, names: tuple[str, ...]) -> None:
    """Lists the disambiguation pages by their property, by the given category, or by the first one that has pages."""
    connection.execute(NO_ARTICLES)
    if not category and count(connection, "disambiguation"):
        connection.execute(_BY_PROPERTY)
        return
    existing = {name for (name,) in connection.execute("SELECT DISTINCT name FROM category").fetchall()}
    chosen = category or next((name for name in names if name in existing), "")
    if not chosen:
        tried = ", ".join(map(format_title, names)) or "none is known for the language"
        raise BuildError(
            f"{directory}: no category of disambiguation pages was found (tried: {tried}); name it with --category"
        )
    connection.execute(_BY_CATEGORY, {"name": chosen})
    if not count(connection, "listed"):
        raise BuildError(
            f"{directory}: the category `{format_title(chosen)}` has no pages; give --category without its namespace"
        )


def _read_pages(connection: DuckDBPyConnection, language: Language) -> Iterator[DisambiguationPage]:
    """Yields the disambiguation pages with their links."""
    for (_, key), links in groupby(read_rows(connection.execute(_LINKS)), key=itemgetter(0, 1)):
        title = format_title(key)
        name, linked, dates = language.name_of(title), list[FoundEntity | str](), dict[str, str]()
        for _, _, target, moment, *row in links:
            if target is not None and find_name(shown := format_title(target), name):
                linked.append(parse_article(describe_page(shown, *row), language))
                dates[shown] = moment or NEVER
        yield DisambiguationPage(title, linked, dates.__getitem__)
