"""A small Wikidata of our own, in exactly the shape of the real one, with its articles and their page views.

Humans: Ada Quill (a trombonist, a judoka, one in a novel, one without an article), Bo Tarn (a rower and, by an alias,
a pianist), Mill Reach (two of nearly the same popularity) and Lise Orrin (two who both play a sport). Others: Her
Lantern (a short film, a song, a studio album), Varn (a city and a business; VARN is another business).
"""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

Entity = dict[str, Any]
HUMAN, FILM, SONG, ALBUM, CITY, BUSINESS = "Q5", "Q11424", "Q7366", "Q482994", "Q515", "Q4830453"
FICTIONAL, SHORT_FILM, STUDIO_ALBUM, MUSICAL_WORK = "Q15632617", "Q24862", "Q208569", "Q2188189"


def item(qid: str) -> Entity:
    """The value of a statement that names another item."""
    return {"value": {"entity-type": "item", "numeric-id": int(qid[1:]), "id": qid}, "type": "wikibase-entityid"}


def amount(text: str) -> Entity:
    """The value of a statement that gives a number."""
    return {"value": {"amount": text, "unit": "1"}, "type": "quantity"}


def text(value: str) -> Entity:
    """The value of a statement that gives a text."""
    return {"value": value, "type": "string"}


def in_language(value: str, language: str = "en") -> Entity:
    """The value of a statement that gives a text in a language."""
    return {"value": {"text": value, "language": language}, "type": "monolingualtext"}


def statement(number: str, value: Entity | str, rank: str = "normal") -> Entity:
    """A statement with a value, or with `somevalue` or `novalue` in its place."""
    if isinstance(value, str):
        snak: Entity = {"snaktype": value, "property": number, "datatype": "wikibase-item"}
    else:
        snak = {"snaktype": "value", "property": number, "datavalue": value, "datatype": value["type"]}
    return {"mainsnak": snak, "type": "statement", "id": f"{number}$made-up", "rank": rank}


def entity(
    qid: str,
    label: str | None = None,
    *more: Entity,
    aliases: tuple[str, ...] = (),
    title: str | None = None,
    kind: str | None = None,
    language: str = "en",
) -> Entity:
    """An item with an English label, or one in another language, and statements."""
    claims: dict[str, list[Entity]] = {}
    for each in ([statement("P31", item(kind))] if kind else []) + list(more):
        claims.setdefault(each["mainsnak"]["property"], []).append(each)
    sitelinks = {"dewiki": {"site": "dewiki", "title": f"{label} (de)", "badges": []}} if title else {}
    if title:
        sitelinks["enwiki"] = {"site": "enwiki", "title": title, "badges": []}
    names = [{"language": language, "value": alias} for alias in aliases]
    return {
        "type": "item",
        "id": qid,
        # As PHP writes them, tables without entries are lists.
        "labels": {language: {"language": language, "value": label}} if label else [],
        "descriptions": {"en": {"language": "en", "value": "made up"}},
        "aliases": {language: names} if names else [],
        "claims": claims or [],
        "sitelinks": sitelinks or [],
        "lastrevid": 1,
    }


def _says(number: str, *qids: str) -> list[Entity]:
    return [statement(number, item(qid)) for qid in qids]


HUMANS = [
    entity(
        "Q1001",
        "Ada Quill",
        statement("P1303", item("Q2004")),
        statement("P1303", item("Q2001"), "preferred"),
        statement("P1303", item("Q2005"), "deprecated"),
        *_says("P19", "Q2081"),
        title="Ada Quill",
        kind=HUMAN,
    ),
    entity(
        "Q1002",
        "Ada Quill",
        *_says("P641", "Q2002"),
        *_says("P607", "Q2031"),
        *_says("P19", "Q2031"),
        statement("P241", "somevalue"),
        statement("P135", item("Q2003"), "deprecated"),
        title="Ada Quill (judoka)",
        kind=HUMAN,
    ),
    entity("Q1003", "Ada Quill", *_says("P1441", "Q2003"), title="Ada Quill (character)", kind=FICTIONAL),
    entity("Q1051", "Ada Quill", *_says("P1303", "Q2004"), *_says("P19", "Q2081"), kind=HUMAN),
    entity("Q1071", "Bo Tarn", *_says("P641", "Q2071"), title="Bo Tarn", kind=HUMAN),
    entity(
        "Q1072", "Boris Tarn", *_says("P1303", "Q2004"), aliases=("Bo Tarn",), title="Boris Tarn (pianist)", kind=HUMAN
    ),
    entity(
        "Q1021", "Mill Reach", *_says("P54", "Q2021"), *_says("P19", "Q2081", "Q2082"), title="Mill Reach", kind=HUMAN
    ),
    entity("Q1022", "Mill Reach", *_says("P241", "Q2022"), title="Mill Reach (sailor)", kind=HUMAN),
    entity("Q1031", "Lise Orrin", *_says("P641", "Q2002"), title="Lise Orrin", kind=HUMAN),
    entity("Q1032", "Lise Orrin", *_says("P641", "Q2071"), title="Lise Orrin (rower)", kind=HUMAN),
    entity("Q1041", "Namenlos", *_says("P19", "Q2081"), title="Nameless One", kind=HUMAN, language="de"),
]
OTHERS = [
    entity(
        "Q1011",
        "Her Lantern",
        *_says("P161", "Q2011"),
        *_says("P58", "Q2012"),
        title="Her Lantern (film)",
        kind=SHORT_FILM,
    ),
    entity(
        "Q1012",
        "Her Lantern",
        *_says("P175", "Q2013"),
        *_says("P264", "Q2014"),
        title="Her Lantern (song)",
        kind=SONG,
    ),
    entity(
        "Q1013",
        "Her Lantern",
        *_says("P175", "Q2013"),
        *_says("P264", "Q2015"),
        *_says("P658", "Q2016"),
        title="Her Lantern (album)",
        kind=STUDIO_ALBUM,
    ),
    entity("Q1061", "Varn", statement("P1082", amount("+20405")), title="Varn", kind=CITY),
    entity("Q1062", "Varn", *_says("P452", "Q2061"), title="Varn (company)", kind=BUSINESS),
    entity("Q1063", "VARN", *_says("P452", "Q2062"), title="VARN", kind=BUSINESS),
]
CLASSES = [
    entity("Q5", "human"),
    entity("Q24862", "short film", *_says("P279", FILM)),
    entity("Q11424", "film"),
    entity("Q208569", "studio album", *_says("P279", ALBUM)),
    # Classes can go round in a circle.
    entity("Q482994", "album", *_says("P279", MUSICAL_WORK)),
    entity("Q2188189", "musical work", *_says("P279", ALBUM)),
    entity("Q7366", "song"),
    entity("Q515", "city"),
    entity("Q4830453", "business"),
    entity("Q15632617", "fictional human"),
]
VALUES = [
    entity("Q2001", "trombone", aliases=("slide trombone",)),
    # No label, only an alias.
    entity("Q2002", None, aliases=("judo",)),
    entity("Q2003", "The Salt Road"),
    entity("Q2004", "piano"),
    entity("Q2005", "violin"),
    entity("Q2011", "Ines Marlow"),
    entity("Q2012", "Tom Varga"),
    entity("Q2013", "The Tallow Choir"),
    entity("Q2014", "Copper Yard"),
    entity("Q2015", "Alder Street"),
    # The same in every language.
    entity("Q2016", "Marsh Lights", language="mul"),
    entity("Q2021", "Porthgain Rovers"),
    entity("Q2022", "Royal Navy"),
    entity("Q2031", "Schlacht am Moor", language="de"),
    entity("Q2061", "glassmaking"),
    entity("Q2062", "logistics"),
    entity("Q2071", "rowing"),
    entity("Q2081", "Porthgain"),
    entity("Q2082", "Dunmere"),
]
PROPERTY = {"type": "property", "datatype": "wikibase-item", "id": "P31", "labels": [], "claims": []}
ENTITIES = [*HUMANS, *OTHERS, *CLASSES, *VALUES]
NAMES = ("Ada Quill", "Bo Tarn", "Her Lantern", "Lise Orrin", "Mill Reach", "Varn")
VIEWS = {
    "Ada Quill": 10_000,
    "Ada Quill (judoka)": 100,
    "Bo Tarn": 2_000,
    "Boris Tarn (pianist)": 20,
    "Mill Reach": 1_000,
    "Mill Reach (sailor)": 900,
    "Her Lantern (film)": 100_000,
    "Her Lantern (album)": 1_000,
    # Of the song nothing is known: no reader came.
    "Varn": 5_000,
    "Varn (company)": 50,
}
_FILLER = "and so it went on from day to day " * 45
# Some are known by their QIDs and some by their titles; the sailor has none.
DOCUMENTS: list[dict[str, str]] = [
    {"id": "1", "title": "Ada Quill", "text": "Ada Quill plays the slide trombone.", "qid": "Q1001"},
    {"id": "2", "title": "Ada_Quill_(judoka)", "text": "Ada Quill is a champion in Judo."},
    {"id": "3", "title": "Bo Tarn", "text": "Bo Tarn is known for rowing.", "qid": "Q1071"},
    {"id": "4", "title": "Boris Tarn", "text": "Boris Tarn gave piano recitals.", "qid": "Q1072"},
    {"id": "5", "title": "Mill Reach", "text": "Mill Reach is a forward of Porthgain Rovers.", "qid": "Q1021"},
    # 45 times 9 words stand before the writer.
    {
        "id": "6",
        "title": "Her Lantern (film)",
        "text": f"A short film with Ines Marlow. {_FILLER} Tom Varga.",
        "qid": "Q1011",
    },
    {"id": "7", "title": "Her Lantern (song)", "text": "A song by The Tallow Choir.", "qid": "Q1012"},
    {"id": "8", "title": "Her Lantern (album)", "text": "Its best track is Marsh Lights.", "qid": "Q1013"},
    {"id": "9", "title": "Varn", "text": "Varn is a city of 20,405 people."},
    {"id": "10", "title": "Varn (company)", "text": "Varn earns its money by glassmaking."},
    {"id": "11", "title": "Lise Orrin", "text": "Lise Orrin does judo.", "qid": "Q1031"},
    # Another's QID counts more than a title.
    {"id": "12", "title": "Bo Tarn", "text": "A mountain known for rowing.", "qid": "Q4000"},
]


def write_dump(path: Path, entities: list[Entity] | None = None) -> Path:
    """The dump, packed as its name says: a list, one entity a line."""
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in [PROPERTY, *(entities or ENTITIES)])
    content = f"[\n{lines}\n]\n".encode()
    packed = {".gz": gzip.compress(content), ".bz2": bz2.compress(content)}
    path.write_bytes(packed.get(path.suffix, content))
    return path


def write_documents(path: Path) -> Path:
    """The articles, as JSON lines."""
    path.write_text("".join(f"{json.dumps(document)}\n" for document in DOCUMENTS))
    return path


def write_views(path: Path) -> Path:
    """The page views, `title<TAB>views`."""
    path.write_text("".join(f"{title}\t{views}\n" for title, views in VIEWS.items()))
    return path
