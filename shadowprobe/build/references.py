"""Stage 3: the web pages that an article's references name, read from its rendered HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

from shadowprobe.build.languages import Language
from shadowprobe.build.records import Reference

if TYPE_CHECKING:
    from bs4 import Tag

# A copy in a web archive of the usual kind names the page that it is a copy of.
_COPY = re.compile(r"/web/\d{4,14}[a-z_]*/(?P<original>https?:/{1,2}.+)", re.IGNORECASE)
_ARCHIVES = re.compile(r"(?:^|\.)(?:archive\.(?:today|is|ph|li|fo|vn|md)|webcitation\.org|perma\.cc)$")
_WIKIMEDIA = re.compile(
    r"(?:^|\.)(?:wikipedia|wikimedia|wikidata|wiktionary|wikisource|wikiquote|wikibooks|mediawiki)\.org$"
)
_MEDIA = re.compile(
    r"\.(?:jpe?g|png|gif|svg|webp|tiff?|mp[34]|m4[av]|og[gav]|webm|wav|avi|mov|mkv|zip|gz|bz2|7z|rar|tar|exe|dmg|iso|csv|xlsx?|pptx?)$",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(r"\.(?:pdf|ps|djvu|epub|mobi|docx?|odt|rtf)$", re.IGNORECASE)
# As a whole part of a path: a `national-register-of-bridges` asks nobody for a password.
_LOGIN = re.compile(
    r"/(?:(?:user|wp|member)?[._-]?(?:log-?in|log-?on|sign-?in|sign-?up)|register|subscribe|checkout)(?:\.\w+)?(?:/|$)",
    re.IGNORECASE,
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def find_references(
    html: str, entity: str, language: Language, wiki_host: str, dropped: Counter[str]
) -> Iterator[Reference]:
    """The references of one article in their order, each page once."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "lxml")
    seen: set[str] = set()
    for item in _items(soup, language):
        for url, archived in _paired(list(_links(item, dropped))):
            why = unwanted(url, wiki_host)
            if why:
                dropped[why] += 1
            elif url in seen:
                dropped["the same page again"] += 1
            else:
                seen.add(url)
                yield Reference(entity, url, archived)


def _links(item: Tag, dropped: Counter[str]) -> Iterator[str]:
    """The addresses that a reference names, without the place in the page."""
    for link in item.select("a.external[href]"):
        try:
            url = urldefrag(str(link["href"]).strip())[0]
            # Some are found to be no URL only when they are taken apart.
            urlsplit(url)
        except ValueError:
            dropped["not a URL"] += 1
        else:
            yield f"https:{url}" if url.startswith("//") else url


def unwanted(url: str, wiki_host: str) -> str:
    """Why a link leads to no page that could be read; empty where it may."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        netloc = parts.netloc.lower().rpartition("@")[2]
    except ValueError:
        return "not a URL"
    if parts.scheme not in {"http", "https"} or not host:
        return "neither http nor https"
    if netloc == wiki_host.lower() or _WIKIMEDIA.search(host):
        return "a page of a wiki"
    path = unquote(parts.path)
    for pattern, why in ((_DOCUMENT, "a document such as PDF"), (_MEDIA, "a media file"), (_LOGIN, "a login page")):
        if pattern.search(path):
            return why
    return ""


def _items(soup: Tag, language: Language) -> Iterator[Tag]:
    """What holds one reference each: the notes that Cite makes, and the lists under a heading for references."""
    notes = soup.select("ol.references > li")
    seen: set[int] = set()
    for item in [*notes, *_under_headings(soup, language)]:
        # An item of a list inside an item is a part of it.
        if not seen.intersection(map(id, (item, *item.find_parents("li")))):
            seen.add(id(item))
            yield item


def _under_headings(soup: Tag, language: Language) -> Iterator[Tag]:
    wanted = {heading.casefold() for heading in language.references}
    for heading in soup.find_all(_HEADINGS):
        headline = heading.select_one(".mw-headline") or heading
        if headline.get_text(" ", strip=True).casefold() not in wanted:
            continue
        # Since MediaWiki 1.42 a heading stands in a box of its own.
        box = (
            heading.parent
            if heading.parent is not None and "mw-heading" in (heading.parent.get("class") or [])
            else heading
        )
        for sibling in box.find_next_siblings():
            if (sibling.name in _HEADINGS and sibling.name <= heading.name) or _is_heading_box(sibling, heading.name):
                break
            yield from (item for item in sibling.find_all("li") if item.find_parent(class_="navbox") is None)


def _is_heading_box(tag: Tag, level: str) -> bool:
    if "mw-heading" not in (tag.get("class") or []):
        return False
    inner = tag.find(_HEADINGS)
    return inner is not None and inner.name <= level


def _paired(links: list[str]) -> Iterator[tuple[str, str | None]]:
    """Each link of a reference with the archived copy beside it; a copy that stands alone tells its original."""
    copies = {link: _original(link) for link in links if is_archived(link)}
    plain = [link for link in dict.fromkeys(links) if link not in copies]
    # Of two copies of a page the first; an article can list thousands, so that each is looked up and not searched.
    first: dict[str, str] = {}
    for copy, original in copies.items():
        if original:
            first.setdefault(_plain(original), copy)
    used = set()
    for link in plain:
        own = first.get(_plain(link))
        if own is None and len(plain) == 1 and len(copies) == 1:
            own = next(iter(copies))
        used.add(own)
        yield link, own
    for copy, original in copies.items():
        if copy not in used:
            yield original or copy, copy


def is_archived(url: str) -> bool:
    """True for the address of a copy in a web archive."""
    try:
        return bool(_COPY.search(url) or _ARCHIVES.search(urlsplit(url).hostname or ""))
    except ValueError:
        return False


def _original(url: str) -> str:
    """The page that an archived copy names in its own address, if it names one."""
    match = _COPY.search(url)
    return re.sub(r"^(https?):/{1,2}", r"\1://", match["original"]) if match else ""


def _plain(url: str) -> str:
    """An address without what the same page may have in one place and lack in another: scheme, `www`, a last slash."""
    return re.sub(r"^https?://(?:www\.)?", "", url).rstrip("/").lower()
