"""Entities by the API of a Wikibase: found by name, with their facts, their classes and the names of their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Raw, Struct

from shadowprobe.build.wiki import batches
from shadowprobe.retrieval.wikidata.dump import Progress
from shadowprobe.retrieval.wikidata.entities import EVERY_LANGUAGE, INSTANCE_OF, SUBCLASS_OF, Item, read_item
from shadowprobe.retrieval.wikidata.service import Service, checked_address
from shadowprobe.retrieval.wikidata.store import Contents, Writer, writing

EXAMPLE = "https://www.wikidata.org"
# What a Wikibase gives in one answer to somebody without special rights.
AT_ONCE = 50
# Hits that are looked at for a name: a search goes on with ever longer names that only begin with it.
MOST_HITS = 500
# The seconds that its copies may lag behind before it would rather not be asked, as its manual advises.
MAXLAG = "5"
CUT = "names whose search was cut off"
MISSING = "entities that the search knows and the wiki does not"


class _Match(Struct):
    text: str = ""


class _Hit(Struct):
    id: str
    label: str = ""
    aliases: list[str] = []
    match: _Match = _Match()

    def is_called(self, name: str) -> bool:
        return name in (self.label, self.match.text, *self.aliases)


class _Search(Struct, rename={"more": "search-continue"}):
    search: list[_Hit]
    more: int | None = None


class _Entities(Struct):
    entities: dict[str, Raw] | list[Raw]


class _Lead(Struct, rename={"origin": "from"}):
    origin: str
    to: str


class _State(Struct):
    """Whether an entity is there, and whether it was asked for under another id."""

    missing: str | bool | None = None
    redirects: _Lead | None = None


def api_address(url: str) -> str:
    """Where the API stands, given its own address or that of the wiki."""
    checked = checked_address("--api", url, EXAMPLE)
    return checked if urlsplit(checked).path.endswith(".php") else f"{checked}/w/api.php"


class Wikibase:
    """The questions that we put to a Wikibase, in one language."""

    def __init__(self, url: str, service: Service, language: str) -> None:
        self.url, self.language = api_address(url), language
        self._service = service
        self.dropped: Counter[str] = Counter()

    def search(self, name: str) -> list[str]:
        """The items that have exactly this name, in small and capital letters too."""
        found: dict[str, None] = {}
        start: int | None = 0
        while start is not None:
            if start >= MOST_HITS:
                self.dropped[CUT] += 1
                break
            asked = {"search": name, "language": self.language, "uselang": self.language, "type": "item"}
            answer = self._ask("wbsearchentities", _Search, **asked, limit=str(AT_ONCE), **{"continue": str(start)})
            found |= {hit.id: None for hit in answer.search if hit.is_called(name)}
            # An answer that goes on where it began would never end.
            start = answer.more if answer.more is not None and answer.more > start else None
        return list(found)

    def items(self, qids: Iterable[str], properties: Collection[str], parts: str) -> Iterator[tuple[str, Item]]:
        """Each id with the item that it leads to, through a redirect if need be; those that are gone are left out."""
        for batch in batches(qids, AT_ONCE):
            languages = f"{self.language}|{EVERY_LANGUAGE}"
            asked = {"ids": "|".join(batch), "props": parts, "languages": languages}
            if "sitelinks" in parts:
                asked["sitefilter"] = f"{self.language.replace('-', '_')}wiki"
            answer = self._ask("wbgetentities", _Entities, **asked)
            entities = answer.entities if isinstance(answer.entities, dict) else {}
            yield from self._read(batch, entities, properties)

    def _read(
        self, batch: Sequence[str], entities: Mapping[str, Raw], properties: Collection[str]
    ) -> Iterator[tuple[str, Item]]:
        states = {key: msgspec.json.decode(raw, type=_State) for key, raw in entities.items()}
        # An answer is filed under the id that was asked for; one that is not says where it came from.
        leads = {state.redirects.origin: key for key, state in states.items() if state.redirects is not None}
        for qid in batch:
            key = qid if qid in entities else leads.get(qid, "")
            if key not in entities or states[key].missing is not None:
                self.dropped[MISSING] += 1
                continue
            item = read_item(entities[key], self.language, properties)
            if item is not None:
                yield qid, item

    def _ask(self, action: str, kind: type[_T], **parameters: str) -> _T:
        def fault(status: int, body: bytes) -> str:
            if status != 200:
                return f"status {status}"
            try:
                msgspec.json.decode(body, type=kind)
            except ValueError as error:
                return str(error)
            return ""

        fixed = {"action": action, "format": "json", "maxlag": MAXLAG}
        _, body = self._service.get(self.url, fault, fixed | parameters)
        return msgspec.json.decode(body, type=kind)
