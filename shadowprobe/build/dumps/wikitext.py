"""What a page links to, as far as its own text says: links that a template makes are not there."""

from __future__ import annotations

import html
import re
from typing import NamedTuple
from urllib.parse import unquote

from shadowprobe.build.dumps.xml import Site

ARTICLE, TEMPLATE, CATEGORY = 0, 10, 14
# The names that every wiki knows beside those of its own language.
_CANONICAL = {"template": TEMPLATE, "category": CATEGORY}
MARK = "__DISAMBIG__"
_UNREAD = re.compile(
    r"<!--.*?(?:-->|\Z)|<(nowiki|pre|math|source|syntaxhighlight)\b[^>]*?(?:/>|>.*?(?:</\1\s*>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
# What a template shows on its own page only, such as how it is used.
_NOT_INCLUDED = re.compile(r"<noinclude>.*?(?:</noinclude>|\Z)", re.DOTALL | re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]{}|<>\n]+)(?:\||\]\])")
# Three braces are a parameter.
_TEMPLATE = re.compile(r"(?<!\{)\{\{(?!\{)\s*([^\[\]{}|<>#\n]+?)\s*(?:\||\}\})")
_SPACES = re.compile(r"[\s_]+")


class Name(NamedTuple):
    """A title in the form that the tables hold, without its namespace."""

    namespace: int
    title: str


class Links(NamedTuple):
    """The names in a text, each once, in no order."""

    articles: set[str]
    categories: set[str]
    templates: set[str]
    # Whether the text says itself that its page is a disambiguation page.
    marked: bool


def normalized(title: str, site: Site, namespace: int = ARTICLE) -> Name | None:
    """What a link or the call of a template means; None where it leads to no page of this wiki."""
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
    # A letter whose capital is two, such as ß, stays as it is.
    first = title[0].upper() if site.capital and len(title[0].upper()) == 1 else title[0]
    return Name(namespace, first + title[1:])


def read_links(text: str, site: Site, *, of_template: bool = False) -> Links:
    """All names in the text of a page."""
    if "<" in text:
        text = _UNREAD.sub(" ", text)
        text = _NOT_INCLUDED.sub(" ", text) if of_template else text
    found = Links(set(), set(), set(), MARK in text)
    for target in set(_LINK.findall(text)):
        name = normalized(target, site)
        if name and name.namespace == ARTICLE:
            found.articles.add(name.title)
        # With a colon before it, a category is only mentioned.
        elif name and name.namespace == CATEGORY and not target.lstrip().startswith(":"):
            found.categories.add(name.title)
    for target in set(_TEMPLATE.findall(text)):
        name = normalized(target, site, TEMPLATE)
        if name and name.namespace == TEMPLATE:
            found.templates.add(name.title)
    return found
