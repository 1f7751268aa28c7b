"""The pages of an XML dump in a stream: what each is called, where it leads, what stands in it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, iterparse

from msgspec import Struct, field

from shadowprobe.build.dumps.files import broken, cut_off, open_dump
from shadowprobe.errors import InputError

# What the parser says of a file that ends before its last tag: "no element found".
_NO_MORE = 3


class Site(Struct):
    """How a wiki writes titles, as the head of its dump says."""

    namespaces: dict[str, int] = field(default_factory=dict)
    # Whether the first letter of a title is always a capital.
    capital: bool = True


class WikiPage(NamedTuple):
    """A page as it was when the dump was made, and when its first revision in the dump was written."""

    page_id: int
    namespace: int
    title: str
    redirect: str | None
    text: str
    created: str


def read_pages(path: Path, site: Site) -> Iterator[WikiPage]:
    """The pages of a dump; `site` is told what the head of the file says before the first page comes."""
    with open_dump(path) as file:
        try:
            yield from _pages(path, iterparse(file, ("start", "end")), site)
        except ParseError as error:
            if error.code == _NO_MORE:
                raise cut_off(path) from None
            raise InputError(path, f"is no XML ({error})") from None
        except (EOFError, OSError, zlib.error) as error:
            raise broken(path, error) from None


def _pages(path: Path, events: Iterator[tuple[str, Element]], site: Site) -> Iterator[WikiPage]:
    _, root = next(events)
    if _name(root) != "mediawiki":
        raise InputError(path, f"is no dump of a wiki: it begins with <{_name(root)}>")
    text, created = "", ""
    for event, element in events:
        if event == "start":
            continue
        name = _name(element)
        if name == "siteinfo":
            _learn(site, element)
        elif name == "revision":
            parts = {_name(part): part.text or "" for part in element}
            text = parts.get("text", "")
            created = min(created or "9999", parts.get("timestamp", "9999"))
            # A page may have a hundred thousand revisions.
            element.clear()
        elif name == "page":
            yield _page(path, element, text, created)
            text, created = "", ""
            root.clear()


def _page(path: Path, element: Element, text: str, created: str) -> WikiPage:
    parts = {_name(part): part for part in element}
    try:
        page_id, namespace = (int(parts[name].text or "") for name in ("id", "ns"))
        title = (parts["title"].text or "").replace(" ", "_")
    except (KeyError, ValueError):
        raise InputError(path, "holds a page without title, number or namespace") from None
    redirect = parts["redirect"].get("title", "") if "redirect" in parts else None
    return WikiPage(page_id, namespace, title, redirect, text, created)


def _learn(site: Site, element: Element) -> None:
    for part in element.iter():
        if _name(part) == "case":
            site.capital = part.text == "first-letter"
        elif _name(part) == "namespace" and part.text:
            site.namespaces[part.text.lower()] = int(part.get("key", "0"))


def _name(element: Element) -> str:
    """The tag without the version of the format, which changes from year to year."""
    return element.tag.rpartition("}")[2]
