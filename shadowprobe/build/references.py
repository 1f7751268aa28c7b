"""Stage 3: finds the web pages in an article's references, from its rendered HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urldefrag, urlsplit

from msgspec.structs import replace

from shadowprobe.base.languages import Language
from shadowprobe.build.records import WebReference

if TYPE_CHECKING:
    from lxml.html import HtmlElement

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


class ArticleReferences(NamedTuple):
    """The references of an article, which may be gone."""

    references: list[WebReference]
    is_there: bool


def find_references(
    html: str, entity: str, language: Language, wiki_host: str, dropped: Counter[str]
) -> Iterator[WebReference]:
    """Yields the references of one article in their order, each page once."""
    from lxml.html import HTMLParser, document_fromstring

    if not html.strip():
        return
    # The text of the page is decoded already; a declaration in it would be wrong.
    page = document_fromstring(html.encode(), parser=HTMLParser(encoding="utf-8"))
    items = ([link.get("href", "") for link in _list_links(item)] for item in _find_items(page, language))
    yield from filter_links(items, entity, wiki_host, dropped)


def filter_links(
    items: Iterable[Iterable[str]], entity: str, wiki_host: str, dropped: Counter[str]
) -> Iterator[WebReference]:
    """Yields the web pages among the links of each reference, each page once; counts the other links by reason."""
    seen: set[str] = set()
    for links in items:
        for url, archived in _pair_copies(list(_clean_links(links, dropped))):
            why = explain_unwanted(url, wiki_host)
            if why:
                dropped[why] += 1
            elif url in seen:
                dropped["the same page again"] += 1
            else:
                seen.add(url)
                yield WebReference(entity, url, archived)


def mark_followed(references: Sequence[WebReference], most: int, dropped: Counter[str]) -> list[WebReference]:
    """Returns the references of an article, of which only the first ones are followed."""
    others = [replace(each, is_followed=False) for each in references[most:]]
    dropped["more references than are followed"] += len(others)
    return [*references[:most], *others]


def _list_links(item: HtmlElement) -> Iterator[HtmlElement]:
    """Yields the external links of an item."""
    return (link for link in item.iter("a") if "external" in link.get("class", "").split() and "href" in link.attrib)


def _clean_links(links: Iterable[str], dropped: Counter[str]) -> Iterator[str]:
    """Yields the addresses in a reference, without their fragments."""
    for link in links:
        try:
            url = urldefrag(link.strip())[0]
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


def _find_items(page: HtmlElement, language: Language) -> Iterator[HtmlElement]:
    """Yields an element per reference: the notes of the Cite extension, and lists under a heading for references."""
    notes = [item for notes in page.iter("ol") if "references" in _classes(notes) for item in notes.iterchildren("li")]
    seen: set[HtmlElement] = set()
    for item in [*notes, *_find_items_under_headings(page, language)]:
        # An item inside another item belongs to that one.
        if item not in seen and seen.isdisjoint(item.iterancestors("li")):
            seen.add(item)
            yield item


def _find_items_under_headings(page: HtmlElement, language: Language) -> Iterator[HtmlElement]:
    wanted = {heading.casefold() for heading in language.references}
    for heading in page.iter(*_HEADINGS):
        headline = next((part for part in heading.iter() if "mw-headline" in _classes(part)), heading)
        if " ".join(" ".join(headline.itertext()).split()).casefold() not in wanted:
            continue
        # Since MediaWiki 1.42 a heading is inside an element of its own.
        parent = heading.getparent()
        box = parent if parent is not None and "mw-heading" in _classes(parent) else heading
        for sibling in box.itersiblings():
            if _ends_section(sibling, heading.tag):
                break
            yield from (item for item in sibling.iter("li") if not _is_in_navigation(item))


def _ends_section(element: HtmlElement, level: str) -> bool:
    """True for a heading of the same level or a higher one."""
    if element.tag in _HEADINGS:
        return bool(element.tag <= level)
    if "mw-heading" not in _classes(element):
        return False
    inner = next(element.iter(*_HEADINGS), None)
    return inner is not None and bool(inner.tag <= level)


def _is_in_navigation(item: HtmlElement) -> bool:
    return any("navbox" in _classes(parent) for parent in item.iterancestors())


def _classes(element: HtmlElement) -> list[str]:
    # A comment has no attributes.
    return (element.get("class") or "").split() if isinstance(element.tag, str) else []


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
