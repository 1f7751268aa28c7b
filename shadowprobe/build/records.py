"""The records that the stages of a build pass on: each is a line of a file."""

from __future__ import annotations

from msgspec import Struct


class FoundSpace(Struct, frozen=True):
    """A name of at least two articles, its disambiguation page, and the titles in the order of that page."""

    name: str
    page: str
    entities: tuple[str, ...]


class FoundEntity(Struct, frozen=True, omit_defaults=True):
    """An article that is an entity of a space or of the tail."""

    title: str
    page_id: int
    commonness: int = 0
    qid: str | None = None
    redirects: tuple[str, ...] = ()


class WebReference(Struct, frozen=True, omit_defaults=True):
    """A web page in the references of an article, and the archived copy that is given with it.

    A page that is not followed only shows that the article cites it.
    """

    entity: str
    url: str
    archived: str | None = None
    is_followed: bool = True


class Crawled(Struct, frozen=True, omit_defaults=True):
    """The result for a URL: the key of its page in the archive, or the reason for the failure."""

    url: str
    page: str | None = None
    failed: str = ""
    # When the page was captured, if it comes from another crawl.
    captured: str = ""
