"""When two references are the same entity: titles, redirects, page ids, QIDs and the URIs of five knowledge bases."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import parse_qs, quote, unquote_to_bytes, urlsplit

from shadowprobe.errors import InputError
from shadowprobe.jsonl import open_for_reading, read_json
from shadowprobe.model import Entity

Rule = Literal["page_id", "qid", "title", "redirect", "unresolved"]
RULES: tuple[Rule, ...] = ("page_id", "qid", "title", "redirect", "unresolved")

# Characters that MediaWiki folds into a space, and those that it drops, in a title.
_SPACES = re.compile("[ _\t\n\r\u00a0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e]")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_YAGO_ESCAPE = re.compile(r"(?:\\u[0-9A-Fa-f]{4})+")

_QID = re.compile(r"(?:(?:wikidata|wd):)?(Q[1-9][0-9]*)", re.IGNORECASE)
_WIKIDATA_PATH = re.compile(r"/(?:entity|wiki|resource)/(Q[1-9][0-9]*)", re.IGNORECASE)
_CURID = re.compile(r"curid[:=]([0-9]+)")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_WIKIPEDIA_HOST = re.compile(r"(?:([a-z][a-z0-9-]*)\.)?(?:m\.)?wikipedia\.org")
_DBPEDIA_HOST = re.compile(r"(?:([a-z][a-z0-9-]*)\.)?dbpedia\.org")
_YAGO_HOST = re.compile(r"(?:www\.)?yago-knowledge\.org")

_NIL_WORDS = frozenset({"nil", "--nme--"})
# FOX writes a lower-case variant, hence the comparison in lower case.
_NIL_PREFIXES = (
    "http://aksw.org/notinwiki/",
    "http://aksw.org/unknown_entity/",
    "http://ns.aksw.org/fox/resource#",
)


class Reference(NamedTuple):
    """What a reference says of its entity: one of the three keys, and the language edition where it names one."""

    title: str | None = None
    page_id: int | None = None
    qid: str | None = None
    language: str | None = None


class Resolution(NamedTuple):
    """The entity that a reference was found to mean, by which rule, and whether its page id said otherwise."""

    entity: str
    rule: Rule
    conflict: bool = False


def normalise_title(title: str) -> str:
    """A title in the one form that we compare: decoded, spaces for underscores, NFC, first letter upper case.

    Decoding goes on until nothing changes: no title can contain `%41` or `&amp;`, so whatever still holds one
    was encoded twice, as some services do.
    """
    before = None
    while before != title:
        before = title
        title = _REFERENCE.sub(_character, _PERCENT.sub(_decoded, title))
    title = _INVISIBLE.sub("", title.partition("#")[0])
    title = _SPACES.sub(" ", unicodedata.normalize("NFC", title)).strip(" ")
    first = title[:1].upper()
    # MediaWiki leaves a letter alone that has no single upper-case form, such as ß.
    return unicodedata.normalize("NFC", first + title[1:]) if len(first) == 1 else title


def _decoded(match: re.Match[str]) -> str:
    try:
        return unquote_to_bytes(match[0]).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]


def _character(match: re.Match[str]) -> str:
    character = html.unescape(match[0])
    # A reference to nothing that can stand in a text (surrogates, beyond Unicode) stays as it is.
    return match[0] if "\ufffd" in character else character


def unescape_yago(name: str) -> str:
    """Undoes YAGO's `\\uXXXX`, pairs of surrogates included."""
    return _YAGO_ESCAPE.sub(_unescaped, name)


def _unescaped(match: re.Match[str]) -> str:
    units = bytes.fromhex(match[0].replace("\\u", ""))
    try:
        return units.decode("utf-16-be")
    except UnicodeDecodeError:
        return match[0]


def is_nil(reference: str) -> bool:
    """True where a reference says that the entity is in no knowledge base."""
    lowered = reference.strip().lower()
    return lowered in _NIL_WORDS or lowered.startswith(_NIL_PREFIXES)


def parse(reference: str) -> Reference:
    """Reads a title, a QID, a page id (`curid:123`) or a URI of Wikipedia, DBpedia, YAGO or Wikidata."""
    reference = reference.strip()
    if _SCHEME.match(reference):
        return _parse_uri(reference)
    if reference.upper().startswith("YAGO:"):
        return Reference(title=normalise_title(unescape_yago(reference[5:])))
    if qid := _QID.fullmatch(reference):
        # The title stays beside it: an article may well be called Q10.
        return Reference(title=normalise_title(reference), qid=qid[1].upper())
    if page_id := _CURID.fullmatch(reference):
        return Reference(page_id=int(page_id[1]))
    return Reference(title=normalise_title(reference))


def _parse_uri(uri: str) -> Reference:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return Reference(title=normalise_title(uri))
    host = (parts.hostname or "").removeprefix("www.")
    if match := _WIKIPEDIA_HOST.fullmatch(host):
        return _parse_wikipedia(parts.path, parts.query, match[1])
    if host == "wikidata.org" and (qid := _WIKIDATA_PATH.fullmatch(parts.path)):
        return Reference(qid=qid[1].upper())
    last = re.sub(r"^/(?:resource|page|ontology)/", "", parts.path)
    # An unencoded `?` is part of a title in a DBpedia or YAGO URI: "Who's_Afraid_of_Virginia_Woolf?".
    query = f"?{parts.query}" if "?" in uri.partition("#")[0] else ""
    if match := _DBPEDIA_HOST.fullmatch(host):
        return Reference(title=normalise_title(last + query), language=match[1] or "en")
    if _YAGO_HOST.fullmatch(host):
        return Reference(title=normalise_title(unescape_yago(last + query)))
    return Reference(title=normalise_title(uri))


def _parse_wikipedia(path: str, query: str, language: str | None) -> Reference:
    fields = parse_qs(query)
    language = None if language == "m" else language
    if (page_id := fields.get("curid", [""])[0]).isdecimal():
        return Reference(page_id=int(page_id), language=language or "en")
    title = fields["title"][0] if "title" in fields else re.sub(r"^/(?:wiki/)?", "", path)
    if "title" not in fields and query:
        title += f"?{query}"
    return Reference(title=normalise_title(title), language=language or "en")


def wikipedia_uri(title: str, language: str = "en") -> str:
    """The address of a title's Wikipedia article."""
    return f"https://{language}.wikipedia.org/wiki/{_uri_title(title)}"


def dbpedia_uri(title: str, language: str = "en") -> str:
    """The DBpedia resource of a title."""
    host = "dbpedia.org" if language == "en" else f"{language}.dbpedia.org"
    return f"http://{host}/resource/{_uri_title(title)}"


def yago_id(title: str) -> str:
    """The identifier that AIDA gives a title: underscores, and `\\uXXXX` for all that is not ASCII."""
    name = title.replace(" ", "_").encode("utf-16-be", "surrogatepass")
    units = (int.from_bytes(name[i : i + 2], "big") for i in range(0, len(name), 2))
    return "YAGO:" + "".join(chr(unit) if unit < 0x80 else f"\\u{unit:04x}" for unit in units)


def wikidata_uri(qid: str) -> str:
    """The Wikidata entity URI of a QID."""
    return f"http://www.wikidata.org/entity/{qid}"


def _uri_title(title: str) -> str:
    return quote(title.replace(" ", "_"), safe="(),:!*'$@;/~._-")


def read_redirects(path: Path) -> dict[str, str]:
    """A redirect table: a JSON object, or lines of `from<TAB>to`."""
    if path.suffix == ".json":
        table = read_json(path, dict[str, str])
        return {normalise_title(old): normalise_title(new) for old, new in table.items()}
    redirects = {}
    with open_for_reading(path) as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise InputError(path, f"is not UTF-8 ({error})", line=number) from None
            if not line.strip():
                continue
            fields = line.split("\t")
            if len(fields) != 2 or not all(field.strip() for field in fields):
                raise InputError(path, "expected two titles with a tab between them", line=number)
            redirects[normalise_title(fields[0])] = normalise_title(fields[1])
    return redirects


class Resolver:
    """Says which entity of a dataset a linker's answer means: by page id, then QID, then title and redirects."""

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
        for entity in entities:
            self._add(entity)
        # Bounded, so that memory does not grow with the number of different answers.
        self.resolve = lru_cache(maxsize=cache_size)(self._resolve)

    def _add(self, entity: Entity) -> None:
        self._titles[normalise_title(entity.title)] = entity.title
        for redirect in entity.redirects:
            self._redirects.setdefault(normalise_title(redirect), entity.title)
        if entity.page_id is not None:
            self._page_ids[entity.page_id] = entity.title
            self._page_id_of[entity.title] = entity.page_id
        if entity.qid is not None:
            self._qids[entity.qid] = entity.title

    def _resolve(self, answer: str | None, page_id: int | None = None, qid: str | None = None) -> Resolution:
        """The entity that an answer means; one unknown to the dataset keeps a key of its own."""
        reference = parse(answer) if answer is not None else Reference()
        foreign = reference.language is not None and reference.language != self._language
        page_id = page_id if page_id is not None else (None if foreign else reference.page_id)
        qid = qid.upper() if qid is not None else reference.qid
        if page_id is not None and page_id in self._page_ids:
            return Resolution(self._page_ids[page_id], "page_id")
        if qid is not None and qid in self._qids:
            return Resolution(self._qids[qid], "qid")
        if reference.title and not foreign:
            found = self._by_title(reference.title)
            if found:
                known = self._page_id_of.get(found.entity)
                return found._replace(conflict=None not in (known, page_id) and known != page_id)
        return Resolution(self._own_key(reference, page_id, qid), "unresolved")

    def _by_title(self, title: str) -> Resolution | None:
        """Follows redirects from a title to an entity of the dataset; a circle leads nowhere."""
        seen: set[str] = set()
        while title not in seen:
            seen.add(title)
            if title in self._titles:
                return Resolution(self._titles[title], "title" if len(seen) == 1 else "redirect")
            if title in self._redirects:
                return Resolution(self._redirects[title], "redirect")
            title = self._table.get(title, title)
        return None

    def _own_key(self, reference: Reference, page_id: int | None, qid: str | None) -> str:
        """A key under which two equal answers are equal although the dataset knows neither."""
        if reference.title:
            title = self._table.get(reference.title, reference.title)
            foreign = reference.language is not None and reference.language != self._language
            return f"{reference.language}:{title}" if foreign else title
        if qid is not None:
            return qid
        return f"curid:{page_id if page_id is not None else reference.page_id}"
