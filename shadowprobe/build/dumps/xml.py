"""Reads the pages of an XML dump as a stream: their titles, redirects and texts."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, iterparse

from msgspec import Struct, field

from shadowprobe.base.compressed import broken_file, open_compressed, truncated_file
from shadowprobe.errors import InputError

# The parser's error code for a file that ends before its last tag: "no element found".
_NO_MORE = 3


class Site(Struct):
    """The rules of a wiki for titles, from the head of its dump."""

    namespaces: dict[str, int] = field(default_factory=dict)
    # True if the first letter of a title is always a capital.
    capital: bool = True


class WikiPage(NamedTuple):
    """A page at the time of the dump, and the time of its first revision in the dump."""

    page_id: int
    namespace: int
    title: str
    redirect: str | None
    text: str
    created: str


def read_pages(path: Path, site: Site) -> Iterator[WikiPage]:
    """Yields the pages of a dump; `site` is filled from the head of the file before the first page."""
    with open_compressed(path) as file:
        try:
            yield from _read_events(path, iterparse(file, ("start", "end")), site)
        except ParseError as error:
            if error.code == _NO_MORE:
                raise truncated_file(path) from None
            raise InputError(path, f"is not XML ({error})") from None
        except (EOFError, OSError, zlib.error) as error:
            raise broken_file(path, error) from None


def _read_events(path: Path, events: Iterator[tuple[str, Element]], site: Site) -> Iterator[WikiPage]:
    _, root = next(events)
    if _get_tag(root) != "mediawiki":
        raise InputError(path, f"is not a dump of a wiki: it begins with <{_get_tag(root)}>")
    text, created = "", ""
    for event, element in events:
        if event == "start":
            continue
        name = _get_tag(element)
        if name == "siteinfo":
            _read_site(site, element)
        elif name == "revision":
            parts = {_get_tag(part): part.text or "" for part in element}
            text = parts.get("text", "")
            created = min(created or "9999", parts.get("timestamp", "9999"))
            # A page may have a hundred thousand revisions.
            element.clear()
        elif name == "page":
            yield _make_page(path, element, text, created)
            text, created = "", ""
            root.clear()


def _make_page(path: Path, element: Element, text: str, created: str) -> WikiPage:
    parts = {_get_tag(part): part for part in element}
    try:
        page_id, namespace = (int(parts[name].text or "") for name in ("id", "ns"))
        title = (parts["title"].text or "").replace(" ", "_")
    except (KeyError, ValueError):
        raise InputError(path, "has a page without title, number or namespace") from None
    redirect = parts["redirect"].get("title", "") if "redirect" in parts else None
    return WikiPage(page_id, namespace, title, redirect, text, created)


def _read_site(site: Site, element: Element) -> None:
    for part in element.iter():
        if _get_tag(part) == "case":
            site.capital = part.text == "first-letter"
        elif _get_tag(part) == "namespace" and part.text:
            site.namespaces[part.text.lower()] = int(part.get("key", "0"))


def _get_tag(element: Element) -> str:
    """Returns the tag without the version of the format, which changes from year to year."""
    return element.tag.rpartition("}")[2]
