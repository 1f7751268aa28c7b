"""Finds the addresses in the references of an article, in its wikitext instead of its rendered page.

References are the notes of the tag `<ref>`, and lists in sections whose heading says so. A note may be written by hand
or with a template such as `{{cite web|url=...}}`. Addresses that a template makes from something else, such as a DOI,
are not in the text and are not found.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import quote

from shadowprobe.build.dumps.wikitext import UNREAD

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>ref|references)(?P<attributes>\s(?:\"[^\"]{0,500}\"|'[^']{0,500}'|[^<>\"'])*?)?\s*"
    r"(?P<empty>/?)>",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_REF_END = re.compile(r"</ref\s*>", re.IGNORECASE)
_HEADING = re.compile(r"^(={1,6})(.+?)\1\s*$")
_LIST = re.compile(r"^[*#:;]+")
_BRACES = re.compile(r"\{\{|\}\}")
# What a wiki takes for the beginning of an address.
_SCHEMES = (
    r"(?:https?|ftps?|ssh|sftp|ircs?|gopher|telnet|nntp|worldwind|svn|git|mms)://|(?:mailto|news|sips?|sms|tel|xmpp|"
    r"urn|geo|magnet|bitcoin):"
)
_CHARACTERS = r"[^\]\[<>\"\x00-\x20\x7f\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufffd]"
_TOKEN = re.compile(
    rf"\{{\{{|\}}\}}|(?P<bracket>\[)?(?P<url>(?:(?<=\[)//|(?<==)//|(?<== )//|(?<!\w)(?i:{_SCHEMES})){_CHARACTERS}+)"
)
# An address ends before a template, and within a template also before its next parameter or its end.
_TEMPLATE_BEGIN, _PARAMETER_END = re.compile(r"\{\{"), re.compile(r"\{\{|\}\}|\|")
_FREE_END = re.compile(r"&(?:lt|gt|nbsp|#x0*(?:3[ce]|a0)|#0*(?:60|62|160));", re.IGNORECASE)
# A scheme alone is not an address.
_ADDRESS = re.compile(rf"(?://|(?i:{_SCHEMES}))[^:]")
_UNSAFE = re.compile(r"[\]\[<>\"\x00-\x20\x7f|]")


def list_references(text: str, headings: frozenset[str]) -> str:
    """Lists the addresses of each reference: a line per reference, with a space between two addresses."""
    if "<" in text:
        text = UNREAD.sub(" ", text)
    notes, body = _split_notes(text)
    items = [*notes, *_list_items(body, headings)] if body.startswith("=") or "\n=" in body else notes
    return "\n".join(filter(None, (" ".join(_find_addresses(item)) for item in items)))


def split_references(items: str) -> list[list[str]]:
    """Splits what `list_references` made."""
    return [line.split(" ") for line in items.split("\n")] if items else []


def _split_notes(text: str) -> tuple[list[str], str]:
    """Returns the notes in the order in which the page shows them, and the text without them."""
    groups: dict[str, dict[str, list[str]]] = {}
    shown: list[str] = []
    body: list[str] = []
    place, is_listing, has_end = 0, False, True
    while match := _TAG.search(text, place):
        body.append(text[place : match.start()])
        place = match.end()
        attributes = _read_attributes(match["attributes"] or "")
        if match["name"].lower() == "references":
            # Notes in a list of notes only define what the text before has used.
            is_listing = not match["close"] and not match["empty"]
            if not is_listing:
                shown += map(" ".join, groups.pop(attributes.get("group", ""), {}).values())
            continue
        content = ""
        if not match["empty"] and not match["close"]:
            # Without an end, the tag is text; so are all later ones.
            if not has_end or not (end := _REF_END.search(text, place)):
                has_end = False
                continue
            content, place = text[place : end.start()], end.end()
        _add_note(groups.setdefault(attributes.get("group", ""), {}), attributes, content, is_listing)
    shown += [" ".join(note) for notes in groups.values() for note in notes.values()]
    return shown, "".join([*body, text[place:]])


def _add_note(notes: dict[str, list[str]], attributes: dict[str, str], content: str, is_listing: bool) -> None:
    """Adds a note, as the pieces of its content."""
    if attributes.get("follow") in notes:
        notes[attributes["follow"]].append(content)
        return
    # A note without a name is one of its own; no name begins with a line break.
    name = attributes.get("name") or f"\n{len(notes)}"
    if not is_listing and (content or attributes.get("name")):
        notes.setdefault(name, [])
    if content and notes.get(name) == []:
        notes[name].append(content)


def _read_attributes(text: str) -> dict[str, str]:
    return {
        match[1].lower(): " ".join((match[2] or match[3] or match[4] or "").split())
        for match in _ATTRIBUTE.finditer(text)
    }


def _list_items(text: str, headings: frozenset[str]) -> Iterator[str]:
    """Yields the items of lists under the headings; an item within another belongs to it."""
    level = 0
    item: list[str] = []
    for line in _split_lines(text, headings):
        marker = _LIST.match(line)
        if item and not (marker and _is_list(marker[0][:-1])):
            yield "\n".join(item)
            item = []
        if heading := _HEADING.match(line):
            own = len(heading[1])
            level = 0 if own <= level else level
            if not level and _is_wanted(heading, headings):
                level = own
        elif level and marker and (item or _is_list(marker[0])):
            item.append(line)
    if item:
        yield "\n".join(item)


def _is_list(marker: str) -> bool:
    return "*" in marker or "#" in marker


def _split_lines(text: str, headings: frozenset[str]) -> list[str]:
    """Splits the text at line breaks outside of templates, from the first of the headings on."""
    lines = text.split("\n")
    found = (
        number for number, line in enumerate(lines) if (match := _HEADING.match(line)) and _is_wanted(match, headings)
    )
    first = next(found, len(lines))
    joined: list[str] = []
    depth = 0
    for line in lines[first:]:
        if depth > 0:
            joined[-1] += f" {line}"
        else:
            joined.append(line)
        for brace in _BRACES.findall(line):
            # One that ends nothing is text.
            depth = max(0, depth + (1 if brace == "{{" else -1))
    return joined


def _is_wanted(heading: re.Match[str], headings: frozenset[str]) -> bool:
    # The apostrophes of bold and italic letters are not shown.
    return heading[2].strip().strip("'").strip().casefold() in headings


def _find_addresses(text: str) -> Iterator[str]:
    """Yields the addresses in a text that a wiki makes links of."""
    if ":" not in text and "//" not in text:
        return
    depth = place = 0
    while match := _TOKEN.search(text, place):
        place = match.end()
        if match["url"] is None:
            depth = max(0, depth + (1 if match[0] == "{{" else -1))
            continue
        url = match["url"]
        if end := (_PARAMETER_END if depth else _TEMPLATE_BEGIN).search(url):
            url = url[: end.start()]
            place = match.start("url") + len(url)
        # The value of a parameter is put in brackets by its template.
        if not match["bracket"] and not (depth and _is_value(text, match.start("url"))):
            url = _trim(url)
        if cleaned := _clean(url):
            yield cleaned


def _is_value(text: str, place: int) -> bool:
    return text[:place].rstrip().endswith("=")


def _trim(url: str) -> str:
    """Returns an address in running text without the punctuation behind it."""
    if end := _FREE_END.search(url):
        url = url[: end.start()]
    trimmed = url.rstrip(",;.:!?" if "(" in url else ",;.:!?)")
    # The semicolon of a character reference belongs to the address.
    if url[len(trimmed) : len(trimmed) + 1] == ";" and re.search(r"&(?:[a-zA-Z]+|#x[\da-fA-F]+|#\d+)$", trimmed):
        trimmed += ";"
    return trimmed


def _clean(url: str) -> str:
    """Returns an address as the wiki writes it; empty if nothing follows its scheme."""
    url = _UNSAFE.sub(lambda match: quote(match[0]), html.unescape(url))
    return url if _ADDRESS.match(url) else ""
