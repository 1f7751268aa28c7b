"""Entities by name from the API of a Wikibase, with their facts, their classes and the names of their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw, Struct

from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.build.wiki.wiki_api import batches
from shadowprobe.net.urls import check_option
from shadowprobe.sets.fact_store import Contents, Writer, open_new_store
from shadowprobe.sets.service import Service
from shadowprobe.sets.wikidata_entities import EVERY_LANGUAGE, INSTANCE_OF, SUBCLASS_OF, WikidataItem, read_item

T = TypeVar("T")
EXAMPLE = "https://www.wikidata.org"
# What a Wikibase gives in one answer to somebody without special rights.
AT_ONCE = 50
# Hits that are looked at for a name: a search goes on with ever longer names that only begin with it.
MOST_HITS = 500
# The seconds that its copies may lag behind before it should get no requests, as its manual advises.
MAXLAG = "5"
CUT = f"names whose search was cut off after {MOST_HITS} hits"
GONE = "entities that the search knows and the wiki does not"
WHOLE, CLASSES, NAMES = "labels|aliases|claims|sitelinks", "claims", "labels|aliases"


class _Match(Struct, frozen=True):
    text: str = ""


class _Hit(Struct):
    id: str
    label: str = ""
    aliases: list[str] = []
    match: _Match = _Match()

    def is_called(self, name: str) -> bool:
        return name in {self.label, self.match.text, *self.aliases}


class _Search(Struct, rename={"more": "search-continue"}):
    search: list[_Hit]
    more: int | None = None


class _Entities(Struct):
    # PHP writes a table without entries as a list.
    entities: dict[str, Raw] | list[Raw]


class _Lead(Struct, rename={"origin": "from"}):
    origin: str


class _State(Struct):
    """Whether an entity exists, and the requested id if it now belongs to another."""

    missing: str | bool | None = None
    redirects: _Lead | None = None


def api_address(url: str) -> str:
    """Where the API stands, given its own address or that of the wiki."""
    checked = check_option("--api", url, EXAMPLE)
    return checked if urlsplit(checked).path.endswith(".php") else f"{checked}/w/api.php"


class Wikibase:
    """The questions that we put to a Wikibase, in one language."""

    def __init__(self, url: str, service: Service, language: str) -> None:
        self.url, self.language = api_address(url), language
        self.dropped: Counter[str] = Counter()
        self._service = service

    def search(self, name: str) -> list[str]:
        """The items that have exactly this name, in small and capital letters too."""
        sent = {"search": name, "language": self.language, "uselang": self.language, "type": "item"}
        qids: dict[str, None] = {}
        start: int | None = 0
        while start is not None:
            if start >= MOST_HITS:
                self.dropped[CUT] += 1
                break
            place = {"limit": str(AT_ONCE), "continue": str(start)}
            answer = self._ask("wbsearchentities", msgspec.json.Decoder(_Search).decode, sent | place)
            qids |= {hit.id: None for hit in answer.search if hit.is_called(name)}
            # One that goes on where it began would never come to an end.
            start = answer.more if answer.more is not None and answer.more > start else None
        return list(qids)

    def items(self, qids: Iterable[str], properties: Collection[str], parts: str) -> Iterator[tuple[str, WikidataItem]]:
        """Each id with the item that it leads to, through a redirect if need be; those that are gone are left out."""

        def parse(body: bytes) -> dict[str, WikidataItem]:
            entities = msgspec.json.decode(body, type=_Entities).entities
            return dict(_read(entities, self.language, properties)) if isinstance(entities, dict) else {}

        sent = {"props": parts, "languages": f"{self.language}|{EVERY_LANGUAGE}"}
        if parts == WHOLE:
            sent["sitefilter"] = f"{self.language.replace('-', '_')}wiki"
        for batch in batches(qids, AT_ONCE):
            answer = self._ask("wbgetentities", parse, sent | {"ids": "|".join(batch)})
            yield from ((qid, answer[qid]) for qid in batch if qid in answer)

    def _ask(self, action: str, parse: Callable[[bytes], T], parameters: dict[str, str]) -> T:
        parsed: list[T] = []

        def fault(status: int, body: bytes) -> str:
            if status != 200:
                return f"status {status}"
            try:
                parsed.append(parse(body))
            except ValueError as error:
                return str(error)
            return ""

        fixed = {"action": action, "format": "json", "maxlag": MAXLAG}
        self._service.get(self.url, fault, fixed | parameters)
        return parsed[-1]


def _read(entities: dict[str, Raw], language: str, properties: Collection[str]) -> Iterator[tuple[str, WikidataItem]]:
    """The items of an answer under the requested ids."""
    for key, raw in entities.items():
        state = msgspec.json.decode(raw, type=_State)
        item = read_item(raw, language, properties) if state.missing is None else None
        if item is not None:
            yield key, item
            if state.redirects is not None:
                yield state.redirects.origin, item


def load_names(
    wikibase: Wikibase,
    names: Sequence[str],
    store: Path,
    properties: Collection[str],
    *,
    subclasses: bool = False,
    progress: Progress = ignore_progress,
) -> None:
    """Puts all items of some names into a file of facts, with the names of their values and, if wanted, their classes.

    It is made anew each time: the answers are in the archive of the service.
    """
    contents = Contents([wikibase.url], wikibase.language, sorted(properties))
    with open_new_store(store, contents) as writer:
        qids: dict[str, None] = {}
        for number, name in enumerate(names, start=1):
            qids |= dict.fromkeys(wikibase.search(name))
            progress("names searched for", number, len(names))
        known, classes, values = _add_items(wikibase, writer, qids, properties, progress)
        if subclasses:
            _add_classes(wikibase, writer, classes, progress)
        for number, (qid, item) in enumerate(wikibase.items(sorted(values - known), (), NAMES), start=1):
            writer.add_names(qid, item.names)
            progress("names of values", number, None)


def _add_items(
    wikibase: Wikibase, writer: Writer, qids: Collection[str], properties: Collection[str], progress: Progress
) -> tuple[set[str], set[str], set[str]]:
    """Adds the items, each once; returns their ids, those of their classes and of their values."""
    known: set[str] = set()
    classes: set[str] = set()
    values: set[str] = set()
    there = 0
    for _, item in wikibase.items(qids, {*properties, INSTANCE_OF, SUBCLASS_OF}, WHOLE):
        there += 1
        progress("entities", there, len(qids))
        if item.qid in known:
            continue
        known.add(item.qid)
        writer.add(item)
        classes.update(item.items(INSTANCE_OF))
        values.update(other for number in properties for other in item.items(number))
    if there < len(qids):
        wikibase.dropped[GONE] += len(qids) - there
    return known, classes, values


def _add_classes(wikibase: Wikibase, writer: Writer, classes: Iterable[str], progress: Progress) -> None:
    """Adds the classes above some classes, all the way up."""
    seen: set[str] = set()
    left = set(classes)
    while left:
        seen |= left
        above: set[str] = set()
        for qid, item in wikibase.items(sorted(left), {SUBCLASS_OF}, CLASSES):
            # A class that was merged into another is as good as one below it.
            parents = [*item.items(SUBCLASS_OF), *([item.qid] if item.qid != qid else [])]
            writer.add_parents(qid, parents)
            above.update(parents)
        left = above - seen
        progress("classes", len(seen), None)
