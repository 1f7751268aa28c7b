"""Stage 3: finds the web pages in an article's references, from its rendered HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag, urlsplit

from shadowprobe.base.languages import Language
from shadowprobe.build.records import WebReference

if TYPE_CHECKING:
    from bs4 import Tag

# The address of a copy in most web archives contains the address of the original page.
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
# Only a whole part of a path counts: `national-register-of-bridges` is not a login page.
_LOGIN = re.compile(
    r"/(?:(?:user|wp|member)?[._-]?(?:log-?in|log-?on|sign-?in|sign-?up)|register|subscribe|checkout)(?:\.\w+)?(?:/|$)",
    re.IGNORECASE,
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def find_references(
    html: str, entity: str, language: Language, wiki_host: str, dropped: Counter[str]
) -> Iterator[WebReference]:
    """Yields the references of one article in their order, each page once."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "lxml")
    seen: set[str] = set()
    for item in _find_items(soup, language):
        for url, archived in _pair_copies(list(_list_links(item, dropped))):
            why = explain_unwanted(url, wiki_host)
            if why:
                dropped[why] += 1
            elif url in seen:
                dropped["the same page again"] += 1
            else:
                seen.add(url)
                yield WebReference(entity, url, archived)


def _list_links(item: Tag, dropped: Counter[str]) -> Iterator[str]:
    """Yields the addresses in a reference, without their fragments."""
    for link in item.select("a.external[href]"):
        try:
            url = urldefrag(str(link["href"]).strip())[0]
            # Some invalid URLs are detected only when they are split.
            urlsplit(url)
        except ValueError:
            dropped["not a URL"] += 1
        else:
            yield f"https:{url}" if url.startswith("//") else url


def explain_unwanted(url: str, wiki_host: str) -> str:
    """Says why a link cannot lead to a readable page; empty if it can."""
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


def _find_items(soup: Tag, language: Language) -> Iterator[Tag]:
    """Yields an element per reference: the notes of the Cite extension, and lists under a heading for references."""
    notes = soup.select("ol.references > li")
    seen: set[int] = set()
    for item in [*notes, *_find_items_under_headings(soup, language)]:
        # An item inside another item belongs to that one.
        if not seen.intersection(map(id, (item, *item.find_parents("li")))):
            seen.add(id(item))
            yield item


def _find_items_under_headings(soup: Tag, language: Language) -> Iterator[Tag]:
    wanted = {heading.casefold() for heading in language.references}
    for heading in soup.find_all(_HEADINGS):
        headline = heading.select_one(".mw-headline") or heading
        if headline.get_text(" ", strip=True).casefold() not in wanted:
            continue
        # Since MediaWiki 1.42 a heading is inside an element of its own.
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


def _pair_copies(links: list[str]) -> Iterator[tuple[str, str | None]]:
    """Yields each link of a reference with its archived copy; a copy without its link is used for the original."""
    copies = {link: _find_original(link) for link in links if is_archived(link)}
    plain = [link for link in dict.fromkeys(links) if link not in copies]
    # The first copy of each page. This is a dictionary, because an article can list thousands.
    first: dict[str, str] = {}
    for copy, original in copies.items():
        if original:
            first.setdefault(simplify_url(original), copy)
    used = set()
    for link in plain:
        own = first.get(simplify_url(link))
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


def _find_original(url: str) -> str:
    """Returns the original page in the address of an archived copy; empty if there is none."""
    match = _COPY.search(url)
    return re.sub(r"^(https?):/{1,2}", r"\1://", match["original"]) if match else ""


def simplify_url(url: str) -> str:
    """Returns an address without scheme, `www` and the last slash, in which two addresses of one page may differ."""
    return re.sub(r"^https?://(?:www\.)?", "", url).rstrip("/").lower()
