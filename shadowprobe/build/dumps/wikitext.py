"""Finds the links in the text of a page; links that a template makes are not found."""

from __future__ import annotations

import html
import re
from typing import NamedTuple
from urllib.parse import unquote

from shadowprobe.build.dumps.xml import Site

ARTICLE, TEMPLATE, CATEGORY = 0, 10, 14
# The names that every wiki knows in addition to those of its own language.
_CANONICAL = {"template": TEMPLATE, "category": CATEGORY}
MARK = "__DISAMBIG__"
UNREAD = re.compile(
    r"<!--.*?(?:-->|\Z)|<(nowiki|pre|math|source|syntaxhighlight)\b[^>]*?(?:/>|>.*?(?:</\1\s*>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
# Text that a template shows on its own page only, such as its documentation.
_NOT_INCLUDED = re.compile(r"<noinclude>.*?(?:</noinclude>|\Z)", re.DOTALL | re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]{}|<>\n]++)(?:\||\]\])")
# Three braces are a parameter.
_TEMPLATE = re.compile(r"(?<!\{)\{\{(?!\{)\s*([^\[\]{}|<>#\n]+?)\s*(?:\||\}\})")
_SPACES = re.compile(r"[\s_]+")
# Most titles have nothing of this and need no further look.
_ODD = re.compile(
    r"[%&#:_\t\n\r\f\v\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]|  |^ | $|^[^A-Z]"
)


class Name(NamedTuple):
    """A title in the form of the tables, and its namespace."""

    namespace: int
    title: str


class Links(NamedTuple):
    """The names in a text, each once."""

    articles: set[str]
    categories: set[str]
    templates: set[str]
    # True if the text itself marks its page as a disambiguation page.
    marked: bool


def parse_title(title: str, site: Site, namespace: int = ARTICLE) -> Name | None:
    """Parses the title in a link or a template call; None if it is not a page of this wiki."""
    if not _ODD.search(title):
        return Name(namespace, title.replace(" ", "_"))
    title = unquote(title) if "%" in title else title
    title = _SPACES.sub("_", html.unescape(title).partition("#")[0]).strip("_")
    if title.startswith(":"):
        title, namespace = title[1:].lstrip("_"), ARTICLE
    prefix, colon, rest = title.partition(":")
    if colon:
        key = prefix.replace("_", " ").strip().lower()
        known = site.namespaces.get(key, _CANONICAL.get(key))
        if known is not None:
            namespace, title = known, rest.strip("_")
    if not title:
        return None
    # A letter whose upper case has two letters, such as ß, is kept.
    first = title[0].upper() if site.capital and len(title[0].upper()) == 1 else title[0]
    return Name(namespace, first + title[1:])


def read_links(text: str, site: Site, *, of_template: bool = False) -> Links:
    """Finds all names in the text of a page."""
    if "<" in text:
        text = UNREAD.sub(" ", text)
        text = _NOT_INCLUDED.sub(" ", text) if of_template else text
    targets = set(_LINK.findall(text))
    odd = set(filter(_ODD.search, targets))
    # The others are titles of articles as they are, and are changed all at once.
    plain = "\n".join(targets - odd).replace(" ", "_")
    links = Links(set(plain.split("\n")) if plain else set(), set(), set(), MARK in text)
    for target in odd:
        name = parse_title(target, site)
        if name and name.namespace == ARTICLE:
            links.articles.add(name.title)
        # A category after a colon is only a link to it.
        elif name and name.namespace == CATEGORY and not target.lstrip().startswith(":"):
            links.categories.add(name.title)
    for target in set(_TEMPLATE.findall(text)):
        name = parse_title(target, site, TEMPLATE)
        if name and name.namespace == TEMPLATE:
            links.templates.add(name.title)
    return links
