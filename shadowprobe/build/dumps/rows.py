"""The rows of the database of dumps: how they are read, and the forms of a title and of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

ROWS = 10_000
# Pages that are not articles, by their property or by a category.
NO_ARTICLES = "CREATE TEMP TABLE no_article AS SELECT page FROM disambiguation UNION SELECT page FROM category"


def read_rows(result: DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of a result, some thousands at a time."""
    return (row for batch in iter(lambda: result.fetchmany(ROWS), []) for row in batch)


def describe_page(title: str, page_id: int | None, redirect: bool, no_article: bool, qid: str | None) -> dict[str, Any]:
    """Describes a page as the API does, so that `parse_article` can read it."""
    properties = {"disambiguation": ""} if no_article else {"wikibase_item": qid} if qid else {}
    page: dict[str, Any] = {"ns": 0, "title": title, "redirect": redirect, "pageprops": properties}
    return page | ({"missing": True} if page_id is None else {"pageid": page_id})


def format_title(key: str) -> str:
    """Returns a title with spaces."""
    return key.replace("_", " ")


def make_key(title: str) -> str:
    """Returns a title with underscores, as in the tables."""
    return title.strip().replace(" ", "_")
