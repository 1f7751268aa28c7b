"""The shape of an answer of MediaWiki's API, so that an invalid one is not stored."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType


class _Error(Struct):
    code: str
    info: str = ""


class _Parsed(Struct):
    text: str


class _Answer(Struct, rename={"more": "continue"}):
    """What an answer can hold; a field that is there has its shape."""

    error: _Error | UnsetType = UNSET
    query: dict[str, Raw] | UnsetType = UNSET
    parse: _Parsed | UnsetType = UNSET
    # PHP writes a table without entries as a list.
    entities: dict[str, Raw] | list[Raw] | UnsetType = UNSET
    more: dict[str, str | int] | UnsetType = UNSET
    batchcomplete: Any = UNSET


class _Named(Struct):
    title: str


class _Numbered(Struct):
    pageid: int


class _Revision(Struct):
    timestamp: str


class _Step(Struct, rename={"origin": "from"}):
    origin: str
    to: str


class _Page(Struct):
    title: str | UnsetType = UNSET
    pageid: int | UnsetType = UNSET
    missing: bool = False
    links: list[_Named] = []
    redirects: list[_Named] = []
    linkshere: list[_Numbered] = []
    revisions: list[_Revision] = []
    pageprops: dict[str, Any] = {}
    categoryinfo: dict[str, Any] = {}
    extract: str = ""


class _General(Struct):
    lang: str
    generator: str
    sitename: str


class _Statistics(Struct):
    pages: int


def error_code(response: Any) -> str:
    """The code of the API's error, if the answer is one."""
    try:
        error = msgspec.json.decode(response.content, type=_Answer).error
    except (ValueError, RecursionError):
        return str(response.headers.get("MediaWiki-API-Error", ""))
    return error.code if error else ""


def error_info(body: bytes) -> str:
    """The message of the API's error; empty where only a header reports it."""
    try:
        error = msgspec.json.decode(body, type=_Answer).error
    except (ValueError, RecursionError):
        return ""
    return error.info if error else ""


def find_fault(question: dict[str, str], body: bytes) -> str:
    """Returns why a body is not an answer to a question; empty if it is one."""
    try:
        answer = msgspec.json.decode(body, type=_Answer)
        if answer.error is not UNSET:
            return ""
        if question.get("action") == "parse":
            return "no text of a page" if answer.parse is UNSET else ""
        if question.get("action") == "wbgetentities":
            return "no `entities`" if answer.entities is UNSET else ""
        known = answer.query or {}
        shapes: dict[str, Any] = {"pages": list[_Page], "normalized": list[_Step], "redirects": list[_Step]}
        shapes |= {"general": _General, "extensions": list[dict[str, Any]], "statistics": _Statistics}
        shapes["wikibase"] = dict[str, Any]
        if "list" in question:
            shapes[question["list"]] = list[_Named]
        parts = {name: msgspec.json.decode(known[name], type=shapes[name]) for name in shapes.keys() & known.keys()}
    except (ValueError, RecursionError) as error:
        return str(error)
    whole = answer.batchcomplete is not UNSET or answer.more is not UNSET
    wanted = question["siprop"].split("|") if "siprop" in question else [] if whole else [_name_part(question)]
    lacking = [name for name in wanted if name not in parts]
    if lacking:
        return f"no `{lacking[0]}`"
    if any(_is_nameless(page, question) for page in parts.get("pages", ())):
        return "a page without a title or number"
    # It would never end.
    if answer.more and all(question.get(name) == str(value) for name, value in answer.more.items()):
        return "it goes on where it began"
    return ""


def _name_part(question: dict[str, str]) -> str:
    """The part that an answer must have."""
    return question.get("list") or question.get("meta") or "pages"


def _is_nameless(page: _Page, question: dict[str, str]) -> bool:
    """True for a page without an identity; an id without a page has no title."""
    if "pageids" in question:
        return page.pageid is UNSET or (page.title is UNSET and not page.missing)
    return page.title is UNSET
