"""The kinds of entities from Wikidata: what an item is an *instance of*, as one of a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from shadowprobe.build.wiki.wiki_api import Wiki, batches

WIKIDATA = "https://www.wikidata.org"
INSTANCE_OF = "P31"
# The extension of a wiki whose articles belong to items of a Wikibase.
CLIENT = "WikibaseClient"
# All statements of an item come together, up to a megabyte of them. Fifty items could be too much for one answer.
AT_ONCE = 20
# The largest number that an item can have.
LARGEST = 2**31 - 1
# The frequent classes of each kind, by their English labels. Subclasses are not followed: a class counts if it is here.
CLASSES: dict[str, dict[str, str]] = {
    "person": {"human": "Q5"},
    "place": {
        "city": "Q515",
        "big city": "Q1549591",
        "town": "Q3957",
        "village": "Q532",
        "hamlet": "Q5084",
        "human settlement": "Q486972",
        "suburb": "Q188509",
        "neighborhood": "Q123705",
        "municipality": "Q15284",
        "city in the United States": "Q1093829",
        "town in the United States": "Q15127012",
        "commune of France": "Q484170",
        "comune of Italy": "Q747074",
        "municipality of Spain": "Q2074737",
        "census-designated place": "Q498162",
        "unincorporated community": "Q17343829",
        "civil parish": "Q1115575",
        "country": "Q6256",
        "sovereign state": "Q3624078",
        "state of the United States": "Q35657",
        "county of the United States": "Q47168",
        "continent": "Q5107",
        "geographic region": "Q82794",
        "river": "Q4022",
        "lake": "Q23397",
        "sea": "Q165",
        "bay": "Q39594",
        "strait": "Q37901",
        "canal": "Q12284",
        "mountain": "Q8502",
        "mountain range": "Q46831",
        "hill": "Q54050",
        "volcano": "Q8072",
        "valley": "Q39816",
        "island": "Q23442",
        "peninsula": "Q34763",
        "cape": "Q185113",
        "forest": "Q4421",
        "park": "Q22698",
        "building": "Q41176",
        "church building": "Q16970",
        "castle": "Q23413",
        "bridge": "Q12280",
        "house": "Q3947",
        "railway station": "Q55488",
        "airport": "Q1248784",
        "stadium": "Q483110",
        "street": "Q79007",
    },
    "organisation": {
        "organization": "Q43229",
        "business": "Q4830453",
        "enterprise": "Q6881511",
        "company": "Q783794",
        "public company": "Q891723",
        "nonprofit organization": "Q163740",
        "political party": "Q7278",
        "university": "Q3918",
        "school": "Q3914",
        "high school": "Q9826",
        "library": "Q7075",
        "museum": "Q33506",
        "musical group": "Q215380",
        "rock band": "Q5741069",
        "record label": "Q18127",
        "airline": "Q46970",
        "bank": "Q22687",
        "hospital": "Q16917",
        "radio station": "Q14350",
        "government agency": "Q327333",
        "automobile manufacturer": "Q786820",
        "military unit": "Q176799",
    },
    "work": {
        "film": "Q11424",
        "silent film": "Q226730",
        "short film": "Q24862",
        "television film": "Q506240",
        "television series": "Q5398426",
        "television series episode": "Q21191270",
        "video game": "Q7889",
        "literary work": "Q7725634",
        "written work": "Q47461344",
        "book": "Q571",
        "novel": "Q8261",
        "short story": "Q49084",
        "poem": "Q5185279",
        "newspaper": "Q11032",
        "magazine": "Q41298",
        "album": "Q482994",
        "single": "Q134556",
        "song": "Q7366",
        "extended play": "Q169930",
        "opera": "Q1344",
        "musical work/composition": "Q105543609",
        "painting": "Q3305213",
        "sculpture": "Q860861",
        "manga series": "Q21198342",
    },
    "species": {
        "taxon": "Q16521",
        "monotypic taxon": "Q310890",
        "fossil taxon": "Q23038290",
        "dog breed": "Q39367",
        "organisms known by a particular common name": "Q55983715",
    },
    "product": {
        "product": "Q2424752",
        "brand": "Q431289",
        "automobile model": "Q3231690",
        "software": "Q7397",
        "aircraft model": "Q15056995",
        "aircraft family": "Q15056993",
        "programming language": "Q9143",
        "operating system": "Q9135",
        "medication": "Q12140",
        "food": "Q2095",
        "dish": "Q746549",
    },
    "team": {
        "association football club": "Q476028",
        "national association football team": "Q6979593",
        "sports team": "Q12973014",
        "sports club": "Q847017",
        "basketball team": "Q13393265",
        "American football team": "Q17156793",
        "baseball team": "Q13027888",
    },
    "event": {
        "event": "Q1656682",
        "occurrence": "Q1190554",
        "battle": "Q178561",
        "siege": "Q188055",
        "war": "Q198",
        "public election": "Q40231",
        "festival": "Q132241",
        "earthquake": "Q7944",
        "sports season": "Q27020041",
    },
    "ship": {
        "ship": "Q11446",
        "warship": "Q3114762",
        "submarine": "Q2811",
        "aircraft carrier": "Q17205",
        "battleship": "Q182531",
        "cruiser": "Q104843",
        "destroyer": "Q174736",
        "frigate": "Q161705",
        "corvette": "Q170013",
        "cruise ship": "Q39804",
    },
    "concept": {
        "academic discipline": "Q11862829",
        "language": "Q34770",
        "religion": "Q9174",
        "music genre": "Q188451",
        "chemical element": "Q11344",
        "disease": "Q12136",
        "planet": "Q634",
        "star": "Q523",
        "asteroid": "Q3863",
        "family name": "Q101352",
        "given name": "Q202444",
        "mythical character": "Q4271324",
        "Greek deity": "Q22989102",
    },
}
KIND_OF = {qid: kind for kind, classes in CLASSES.items() for qid in classes.values()}


class FoundKinds(NamedTuple):
    """The kinds by QID, how many items are unknown or without a class, and the classes that have no kind."""

    kinds: dict[str, str]
    not_found: int
    without_class: int
    other_classes: Counter[str]


class _Class(Struct):
    id: str


class _DataValue(Struct):
    value: _Class


class _Snak(Struct):
    datavalue: _DataValue


class _Statement(Struct):
    """A statement that names a class; an unknown value has no `datavalue`."""

    mainsnak: _Snak
    rank: str = "normal"


class _Item(Struct):
    """What Wikidata says of an item; PHP writes a table without entries as a list."""

    missing: Any = None
    claims: dict[str, list[Any]] | list[Any] = {}


def find_repository(wiki: Wiki) -> str | None:
    """Returns Wikidata's address if the wiki says that its items are there; None for any other place."""
    if CLIENT not in wiki.extensions:
        return None
    try:
        host = urlsplit(str(wiki.first(meta="wikibase")["wikibase"]["repo"]["url"]["base"])).hostname
    except (KeyError, TypeError, ValueError):
        # It does not say so, or not as a MediaWiki does.
        return None
    return WIKIDATA if host == urlsplit(WIKIDATA).hostname else None


def find_kinds(wikidata: Wiki, qids: Sequence[str]) -> FoundKinds:
    """Asks Wikidata what items are instances of."""
    kinds: dict[str, str] = {}
    not_found = without_class = 0
    other_classes: Counter[str] = Counter()
    known = [qid for qid in dict.fromkeys(qids) if int(qid[1:]) <= LARGEST]
    # To a number beyond it, Wikidata answers with an error, for all items of a request.
    not_found += len(set(qids)) - len(known)
    for batch in batches(known, AT_ONCE):
        items = wikidata.entities(batch, props="claims")
        for qid in batch:
            item = _read_item(items, qid)
            classes = list(_list_classes(item)) if item is not None else []
            kind = next((KIND_OF[one] for one in classes if one in KIND_OF), None)
            if item is None:
                not_found += 1
            elif kind is not None:
                kinds[qid] = kind
            elif classes:
                other_classes.update(classes)
            else:
                without_class += 1
    return FoundKinds(kinds, not_found, without_class, other_classes)


def _read_item(items: Mapping[str, Any], qid: str) -> _Item | None:
    """The item of an id; one that was merged into another comes under its new id or its old one."""
    given = items.get(qid)
    if given is None:
        given = next((one for one in items.values() if _lead(one) == qid), None)
    try:
        item = msgspec.convert(given, _Item) if given is not None else None
    except msgspec.ValidationError:
        return None
    return item if item is not None and item.missing is None else None


def _lead(item: Any) -> str | None:
    redirects = item.get("redirects") if isinstance(item, dict) else None
    return redirects.get("from") if isinstance(redirects, dict) else None


def _list_classes(item: _Item) -> Iterator[str]:
    """The classes of an item, the preferred ones first; deprecated statements do not count."""
    given = item.claims.get(INSTANCE_OF, []) if isinstance(item.claims, dict) else []
    statements = []
    for one in given:
        try:
            statements.append(msgspec.convert(one, _Statement))
        except msgspec.ValidationError:
            continue
    for rank in ("preferred", "normal"):
        yield from (each.mainsnak.datavalue.value.id for each in statements if each.rank == rank)
