"""Decides whether two references name the same entity: titles, redirects, page ids, QIDs and URIs."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from html.entities import html5
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit

from shadowprobe.base.files import read_text_lines
from shadowprobe.base.jsonl import read_json
from shadowprobe.base.model import Entity
from shadowprobe.errors import InputError

Rule = Literal["page_id", "qid", "title", "redirect", "unresolved"]
RULES: tuple[Rule, ...] = ("page_id", "qid", "title", "redirect", "unresolved")

# Characters in a title that MediaWiki replaces by a space, and characters that it drops.
_SPACES = re.compile("[ _\t\n\r\u00a0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e]")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_YAGO_ESCAPE = re.compile(r"(?:\\u[0-9A-Fa-f]{4})+")

_QID = re.compile(r"(wikidata:|wd:)?(Q[1-9][0-9]*)", re.IGNORECASE)
_WIKIDATA_PATH = re.compile(r"/(?:entity|wiki|resource)/(Q[1-9][0-9]*)", re.IGNORECASE)
# No page id is longer, and Python refuses to read a number of some thousand digits.
_PAGE_ID = re.compile(r"[0-9]{1,18}")
_CURID = re.compile(rf"curid[:=]({_PAGE_ID.pattern})")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_ANY_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|urn:", re.IGNORECASE)
_WIKIPEDIA_HOST = re.compile(r"(?:([a-z][a-z0-9-]*)\.)?(?:m\.)?wikipedia\.org")
_WIKIDATA_HOST = re.compile(r"(?:m\.)?wikidata\.org|wikidata\.dbpedia\.org")
_DBPEDIA_HOST = re.compile(r"(?:([a-z][a-z0-9-]*)\.)?dbpedia\.org")
_YAGO_HOST = re.compile(r"yago-knowledge\.org")
# Parameters after an article's address that are not part of its title.
_PARAMETERS = re.compile(
    r"(?:action|diff|oldid|printable|redirect|section|uselang|useskin|variant|veaction|wprov)=", re.IGNORECASE
)

_NIL_WORDS = frozenset({"nil", "--nme--"})
# AGDISTIS and FOX (which also writes a lower-case variant), GERBIL, Ambiverse.
_NIL_URI = re.compile(
    r"https?://(?:aksw\.org/(?:notinwiki|unknown_entity)/|ns\.aksw\.org/fox/resource#|www\.wikidata\.org/entity/null$)",
    re.IGNORECASE,
)


class Reference(NamedTuple):
    """A parsed reference: one of the three keys, and the language edition if it names one."""

    title: str | None = None
    page_id: int | None = None
    qid: str | None = None
    language: str | None = None


class Resolution(NamedTuple):
    """The entity of a reference, the rule that found it, and whether the page id contradicts it."""

    entity: str
    rule: Rule
    conflict: bool = False


def normalise_title(title: str) -> str:
    """Returns a title in the form that we compare: decoded, spaces for underscores, NFC, first letter upper case.

    Decoding is repeated until nothing changes: no title can contain `%41` or `&amp;`, so a title that still has one
    was encoded twice, as some services do.
    """
    before = None
    while before != title:
        before = title
        title = _REFERENCE.sub(_decode_character, _PERCENT.sub(_decode_bytes, title))
        # This is in the loop, because both can complete a reference: the Greek question mark is a semicolon in NFC.
        title = unicodedata.normalize("NFC", _INVISIBLE.sub("", title))
    title = _SPACES.sub(" ", title.partition("#")[0]).strip(" ")
    return unicodedata.normalize("NFC", _capitalise(title[0]) + title[1:]) if title else title


def _decode_bytes(match: re.Match[str]) -> str:
    """Decodes percent-encoded bytes; a byte that is not UTF-8 stays encoded."""
    text = unquote_to_bytes(match[0]).decode("utf-8", "surrogateescape")
    return _ESCAPED_BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)


def _decode_character(match: re.Match[str]) -> str:
    reference = match[0]
    if reference[1] != "#":
        # html.unescape is not used, because it reads `&notit;` as `&not` and a rest.
        return html5.get(reference[1:], reference)
    character = html.unescape(reference)
    # An invalid reference (to a surrogate, or beyond Unicode) is kept.
    return reference if "\ufffd" in character else character


def _capitalise(letter: str) -> str:
    """Capitalises the first letter of a title as Wikimedia's wikis do; a letter without one capital, as ß, is kept."""
    # Georgian letters, which have capitals but no title case, circled letters and Roman numerals are kept too.
    if unicodedata.category(letter) != "Ll" or letter.title() == letter:
        return letter
    return next((form for form in (letter.upper(), letter.title()) if len(form) == 1), letter)


def unescape_yago(name: str) -> str:
    """Decodes YAGO's `\\uXXXX`, including surrogate pairs."""
    return _YAGO_ESCAPE.sub(_decode_escape, name)


def _decode_escape(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("\\u", ""))
    try:
        return units.decode("utf-16-be")
    except UnicodeDecodeError:
        return match[0]


@lru_cache(4096)
def is_nil(reference: str) -> bool:
    """True if a reference means that the entity is in no knowledge base."""
    reference = reference.strip()
    return reference.lower() in _NIL_WORDS or _NIL_URI.match(reference) is not None


def is_unknown_uri(reference: str) -> bool:
    """True for a URI of a knowledge base that `parse` does not know; such a URI is its own title."""
    return _ANY_SCHEME.match(parse(reference).title or "") is not None


def parse(reference: str) -> Reference:
    """Parses a title, a QID, a page id (`curid:123`) or a URI of Wikipedia, DBpedia, YAGO or Wikidata."""
    reference = reference.strip()
    if _SCHEME.match(reference):
        return _parse_uri(reference)
    if reference.upper().startswith("YAGO:"):
        return Reference(title=normalise_title(unescape_yago(reference[5:])))
    if qid := _QID.fullmatch(reference):
        # Without a prefix the title is kept too, because an article may be called Q10.
        return Reference(title=None if qid[1] else normalise_title(reference), qid=qid[2].upper())
    if page_id := _CURID.fullmatch(reference):
        return Reference(page_id=int(page_id[1]))
    return Reference(title=normalise_title(reference))


def _parse_uri(uri: str) -> Reference:
    address, mark, fragment = uri.partition("#")
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return Reference(title=normalise_title(address) + mark + fragment)
    if _WIKIDATA_HOST.fullmatch(host) and (qid := _WIKIDATA_PATH.fullmatch(parts.path)):
        return Reference(qid=qid[1].upper())
    # An unencoded `?` is part of a title: "Who's_Afraid_of_Virginia_Woolf?".
    query = f"?{parts.query}" if "?" in address else ""
    if match := _WIKIPEDIA_HOST.fullmatch(host):
        language = match[1] if match[1] not in {None, "m"} else "en"
        return _parse_wikipedia(parts.path, query, language)
    last = re.sub(r"^/(?:resource|page|ontology)/", "", parts.path) + query
    if match := _DBPEDIA_HOST.fullmatch(host):
        return Reference(title=normalise_title(last), language=match[1] or "en")
    if _YAGO_HOST.fullmatch(host):
        return Reference(title=normalise_title(unescape_yago(last)))
    # In an unknown knowledge base, two entities may differ in the fragment only.
    return Reference(title=normalise_title(address) + mark + fragment)


def _parse_wikipedia(path: str, query: str, language: str) -> Reference:
    if _PAGE_ID.fullmatch(page_id := _read_field(query, "curid")):
        return Reference(page_id=int(page_id), language=language)
    title = _read_field(query, "title")
    if not title:
        title = re.sub(r"^/(?:wiki/)?", "", path) + ("" if _PARAMETERS.match(query, 1) else query)
    return Reference(title=normalise_title(title), language=language)


def _read_field(query: str, name: str) -> str:
    """Returns a field of a query, still percent-encoded; the separator may be `&amp;`."""
    match = re.search(rf"[?&;]{name}=([^&]*)", query)
    return match[1].replace("+", " ") if match else ""


def wikipedia_uri(title: str, language: str = "en") -> str:
    """Returns the address of a title's Wikipedia article."""
    return f"https://{language}.wikipedia.org/wiki/{_quote_title(title)}"


def dbpedia_uri(title: str, language: str = "en") -> str:
    """Returns the DBpedia resource of a title."""
    host = "dbpedia.org" if language == "en" else f"{language}.dbpedia.org"
    return f"http://{host}/resource/{_quote_title(title)}"


def yago_id(title: str) -> str:
    """Returns AIDA's identifier of a title: underscores, and `\\uXXXX` for backslashes and non-ASCII characters."""
    name = title.replace(" ", "_").encode("utf-16-be", "surrogatepass")
    units = (int.from_bytes(name[i : i + 2], "big") for i in range(0, len(name), 2))
    return "YAGO:" + "".join(chr(unit) if unit < 0x80 and unit != 0x5C else f"\\u{unit:04x}" for unit in units)


def wikidata_uri(qid: str) -> str:
    """Returns the Wikidata entity URI of a QID."""
    return f"http://www.wikidata.org/entity/{qid}"


def _quote_title(title: str) -> str:
    return quote(title.replace(" ", "_"), safe="(),:!*'$@;/~._-")


def read_redirects(path: Path) -> dict[str, str]:
    """Reads a redirect table: a JSON object, or lines of `from<TAB>to`."""
    redirects = {}
    if path.suffix.lower() == ".json":
        for old, new in read_json(path, dict[str, Any]).items():
            if not isinstance(new, str) or not normalise_title(new):
                raise InputError(path, f"expected a title, got {new!r}", field=old)
            if not normalise_title(old):
                raise InputError(path, f"{old!r} is not a title")
            redirects[normalise_title(old)] = normalise_title(new)
        return redirects
    for number, line in read_text_lines(path):
        if not line.strip():
            continue
        titles = [normalise_title(field) for field in line.split("\t")]
        if len(titles) != 2 or not all(titles):
            raise InputError(path, "expected two titles with a tab between them", line=number)
        redirects[titles[0]] = titles[1]
    return redirects


class Resolver:
    """Finds the entity of a dataset that a linker's answer means: by page id, then QID, then title and redirects.

    `redirects` is an additional table of normalised titles, as `read_redirects` returns it.
    """

    def __init__(
        self,
        entities: Iterable[Entity],
        *,
        language: str = "en",
        redirects: Mapping[str, str] | None = None,
        cache_size: int = 1 << 16,
    ) -> None:
        self._language = language
        self._table = dict(redirects or {})
        self._page_ids: dict[int, str] = {}
        self._qids: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._redirects: dict[str, str] = {}
        self._page_id_of: dict[str, int] = {}
        self._moved: dict[str, str | None] = {}
        for entity in entities:
            self._add(entity)
        # The cache is bounded, so that memory does not grow with the number of distinct answers.
        self.resolve = lru_cache(maxsize=cache_size)(self._resolve)

    def _add(self, entity: Entity) -> None:
        title = normalise_title(entity.title)
        if title == entity.title:
            # Mostly so: then one text is kept instead of two that are equal.
            title = entity.title
        self._titles[title] = entity.title
        if title in self._table:
            # The dataset may be older than the table, so that its title is a redirect there. If two titles lead to the
            # same one, neither is used.
            end = self._follow_redirects(title)
            self._moved[end] = None if end in self._moved else entity.title
        for redirect in entity.redirects:
            self._redirects.setdefault(normalise_title(redirect), entity.title)
        if entity.page_id is not None:
            self._page_ids[entity.page_id] = entity.title
            self._page_id_of[entity.title] = entity.page_id
        if entity.qid is not None:
            self._qids[entity.qid] = entity.title

    def _resolve(self, answer: str | None, page_id: int | None = None, qid: str | None = None) -> Resolution:
        """Returns the entity of an answer; an answer that the dataset does not know gets its own key."""
        reference = parse(answer) if answer is not None else Reference()
        is_foreign = reference.language is not None and reference.language != self._language
        page_id = page_id if page_id is not None else (None if is_foreign else reference.page_id)
        qid = (parse(qid).qid or qid) if qid is not None else reference.qid
        if page_id is not None and page_id in self._page_ids:
            return Resolution(self._page_ids[page_id], "page_id")
        if qid is not None and qid in self._qids:
            resolution: Resolution | None = Resolution(self._qids[qid], "qid")
        elif qid is not None and qid in self._table:
            # A table may also lead from QIDs to titles, for datasets without QIDs.
            moved = self._resolve_title(self._table[qid])
            resolution = moved._replace(rule="redirect") if moved is not None else None
        else:
            resolution = self._resolve_title(reference.title) if reference.title and not is_foreign else None
        if resolution is None:
            return Resolution(self._make_key(answer or "", reference, page_id, qid), "unresolved")
        known = self._page_id_of.get(resolution.entity)
        return resolution._replace(conflict=None not in (known, page_id) and known != page_id)

    def _resolve_title(self, title: str) -> Resolution | None:
        """Follows redirects from a title to an entity of the dataset."""
        for hops, reached in enumerate(self._list_redirects(title)):
            if reached in self._titles:
                return Resolution(self._titles[reached], "redirect" if hops else "title")
            if reached in self._redirects:
                return Resolution(self._redirects[reached], "redirect")
        moved = self._moved.get(self._follow_redirects(title))
        return Resolution(moved, "redirect") if moved is not None else None

    def _list_redirects(self, title: str) -> list[str]:
        """Lists a title and those that the redirect table leads to, each once."""
        path = {title: None}
        while (title := self._table.get(title, title)) not in path:
            path[title] = None
        return list(path)

    def _follow_redirects(self, title: str) -> str:
        """Returns the last title of the redirects; for a circle the alphabetically first one, as for all its titles."""
        path = self._list_redirects(title)
        last = path[-1]
        return min(path[path.index(self._table.get(last, last)) :])

    def _make_key(self, answer: str, reference: Reference, page_id: int | None, qid: str | None) -> str:
        """Makes a key for an unknown answer: equal for equal answers, and never a title of the dataset."""
        is_foreign = reference.language is not None and reference.language != self._language
        edition = f"{reference.language}:" if is_foreign else ""
        if reference.title and reference.qid is None:
            return f"{edition}{reference.title}" if is_foreign else self._follow_redirects(reference.title)
        if qid is not None:
            return f"wd:{qid}"
        if page_id is not None:
            return f"curid:{page_id}"
        return f"{edition}curid:{reference.page_id}" if reference.page_id is not None else answer.strip()
