"""Reads the pages of an XML dump as a stream: their titles, redirects and texts.

Every page of an export has the same form, which one regular expression reads. A page of another form, and a file that
is damaged, are left to an XML parser.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple
from xml.etree.ElementTree import Element, ParseError, fromstring, iterparse

from msgspec import Struct, field

from shadowprobe.base.compressed import broken_file, open_compressed, truncated_file
from shadowprobe.build.dumps.xml_parts import WHOLE, Span, open_span
from shadowprobe.errors import InputError

CHUNK = 1 << 20
# The parser's error code for a file that ends before its last tag: "no element found".
_NO_MORE = 3
_BEGIN, _END, _LAST = b"<page>", b"</page>", b"</mediawiki>"
_PAGE = re.compile(
    rb"<page>\s*+<title>(?P<title>[^<]*+)</title>\s*+<ns>(?P<namespace>-?\d{1,9})</ns>\s*+<id>(?P<id>\d{1,18})</id>\s*+"
    rb'(?:<redirect title="(?P<redirect>[^"<]*+)" ?/>\s*+)?(?:<restrictions>[^<]*+</restrictions>\s*+)?<revision>'
)
_TEXT = re.compile(
    rb"<text\b[^<>]*+>(?P<text>(?<!/>)[^<]*+)</text>\s*+"
    rb"(?:<sha1>[^<]*+</sha1>\s*+|<sha1 ?/>\s*+)?</revision>\s*+</page>"
)
# A reference to a character that is not one of the four that an export writes.
_OTHER_REFERENCE = re.compile(rb"&(?!lt;|gt;|amp;|quot;)")


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


class _OddError(Exception):
    """Bytes that are not in the usual form."""


def read_pages(path: Path, site: Site, span: Span = WHOLE) -> Iterator[WikiPage]:
    """Yields the pages of a dump with the text of each; `site` is filled from the head of the file first."""
    try:
        if span.start:
            with open_span(path, WHOLE) as file:
                _read_head(_Pages(file), site)
        with open_span(path, span) as file:
            pages = _Pages(file)
            if not span.start:
                _read_head(pages, site)
            for block in pages.split():
                yield _parse_page(path, block)
            if pages.rest.strip() != (_LAST if span.end is None else b""):
                raise _OddError
    except (EOFError, OSError, zlib.error) as error:
        raise broken_file(path, error) from None
    except (_OddError, ParseError, UnicodeDecodeError):
        # The XML parser says what is wrong, and where.
        for _ in read_history(path):
            pass
        raise InputError(path, "is not a dump of a wiki: there is something between its pages") from None


class _Pages:
    """The bytes of a dump, split into pages."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.rest = file, b""

    def read_until(self, mark: bytes) -> bool:
        """Reads until `rest` has the mark; false if the file does not have it."""
        known = 0
        while self.rest.find(mark, known) < 0:
            known = max(0, len(self.rest) - len(mark))
            chunk = self._file.read(CHUNK)
            if not chunk:
                return False
            self.rest += chunk
        return True

    def split(self) -> Iterator[bytes]:
        """Yields the bytes of each page; what follows the last one stays in `rest`."""
        while self.read_until(_END):
            blocks = self.rest.split(_END)
            self.rest = blocks.pop()
            for block in blocks:
                page = block.lstrip()
                if not page.startswith(_BEGIN):
                    raise _OddError
                yield page + _END


def _read_head(pages: _Pages, site: Site) -> None:
    """Reads what is before the first page."""
    pages.read_until(_BEGIN)
    head, begin, rest = pages.rest.partition(_BEGIN)
    root = fromstring(head + _LAST if begin else head)
    if _get_tag(root) != "mediawiki":
        raise _OddError
    _read_site(site, root)
    pages.rest = begin + rest or _LAST


def _parse_page(path: Path, block: bytes) -> WikiPage:
    head = _PAGE.match(block)
    text = _TEXT.search(block, block.find(b"<text", head.end())) if head else None
    if not head or not text or _OTHER_REFERENCE.search(block) or block.count(b"<revision>") != 1:
        return _parse_odd_page(path, block)
    redirect = head["redirect"]
    return WikiPage(
        int(head["id"]),
        int(head["namespace"]),
        _decode(head["title"]).replace(" ", "_"),
        None if redirect is None else _decode(redirect),
        _decode(text["text"]),
        "",
    )


def _parse_odd_page(path: Path, block: bytes) -> WikiPage:
    """Parses a page of any form."""
    element = fromstring(block)
    revisions = [part for part in element if _get_tag(part) == "revision"]
    texts = [part.text or "" for part in (revisions[-1] if revisions else ()) if _get_tag(part) == "text"]
    return _make_page(path, element, texts[0] if texts else "", "")


def _decode(raw: bytes) -> str:
    text = raw.decode()
    if "&" not in text:
        return text
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def read_history(path: Path) -> Iterator[WikiPage]:
    """Yields the pages of a dump with all their revisions, of which a page may have many, by an XML parser."""
    with open_compressed(path) as file:
        try:
            yield from _read_events(path, iterparse(file, ("start", "end")))
        except ParseError as error:
            if error.code == _NO_MORE:
                raise truncated_file(path) from None
            raise InputError(path, f"is not XML ({error})") from None
        except (EOFError, OSError, zlib.error) as error:
            raise broken_file(path, error) from None


def _read_events(path: Path, events: Iterator[tuple[str, Element]]) -> Iterator[WikiPage]:
    _, root = next(events)
    if _get_tag(root) != "mediawiki":
        raise InputError(path, f"is not a dump of a wiki: it begins with <{_get_tag(root)}>")
    text, created = "", ""
    for event, element in events:
        if event == "start":
            continue
        name = _get_tag(element)
        if name == "revision":
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
