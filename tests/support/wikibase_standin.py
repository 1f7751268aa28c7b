"""Stand-ins for the API of a Wikibase and for the service of page views, which remember what they were asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from service import Asked, Reply
from wikidata_world import ENTITIES, VIEWS, Entity

JSON = {"Content-Type": "application/json; charset=utf-8"}
WIKI, COUNTER = "/w/api.php", "/rest"


def as_json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    """An answer in JSON."""
    return status, JSON | (headers or {}), json.dumps(value).encode()


def refused(code: str, info: str = "No.", headers: dict[str, str] | None = None) -> Reply:
    """An error of the API, which comes with a status of 200."""
    return as_json({"error": {"code": code, "info": info}, "servedby": "mw1"}, headers=headers)


class Wikibase:
    """Knows some entities; gives `part` hits of a search at a time, those that only begin with the words last."""

    def __init__(self, entities: Sequence[Entity] = ENTITIES, part: int = 2) -> None:
        self.entities = {entity["id"]: entity for entity in entities}
        self.part = part
        # Ids that lead to others, and ids that a search still finds though nothing is there, with their names.
        self.leads: dict[str, str] = {}
        self.stale: dict[str, str] = {}
        # Given out before anything else, one at a time.
        self.instead: list[Reply] = []

    def __call__(self, number: int, asked: Asked) -> Reply:
        """The answer to a question."""
        if asked.path != WIKI:
            return 404, {"Content-Type": "text/html"}, b"<p>Not found.</p>"
        if self.instead:
            return self.instead.pop(0)
        answers = {"wbsearchentities": self._search, "wbgetentities": self._get}
        return answers[asked.query["action"]](asked.query)

    def _search(self, query: dict[str, str]) -> Reply:
        words, start = query["search"].casefold(), int(query["continue"])
        hits = [hit for qid in self.entities for hit in self._hits(qid, words)]
        hits += [_hit(qid, name, "label", name) for qid, name in self.stale.items() if name.casefold() == words]
        hits.sort(key=lambda hit: hit["match"]["text"].casefold() != words)
        more = {"search-continue": start + self.part} if start + self.part < len(hits) else {}
        return as_json(
            {"searchinfo": {"search": words}, "search": hits[start : start + self.part], **more, "success": 1}
        )

    def _hits(self, qid: str, words: str) -> list[Entity]:
        labels, aliases = self.entities[qid]["labels"] or {}, self.entities[qid]["aliases"] or {}
        label = labels.get("en", {}).get("value", qid)
        names = [("label", label), *(("alias", alias["value"]) for alias in aliases.get("en", ()))]
        return [_hit(qid, label, kind, name) for kind, name in names if name.casefold().startswith(words)][:1]

    def _get(self, query: dict[str, str]) -> Reply:
        ids = query["ids"].split("|")
        if len(ids) > 50:
            return refused("toomanyvalues", "Too many values supplied for parameter ids.")
        return as_json({"entities": {qid: self._entity(qid, query) for qid in ids}, "success": 1})

    def _entity(self, qid: str, query: dict[str, str]) -> Entity:
        found = self.leads.get(qid, qid)
        if found not in self.entities:
            return {"id": qid, "missing": ""}
        known, parts = self.entities[found], query["props"].split("|")
        given: Entity = {"type": "item", "id": found}
        if found != qid:
            given["redirects"] = {"from": qid, "to": found}
        languages, sites = query["languages"].split("|"), query.get("sitefilter", "enwiki").split("|")
        for part in ("labels", "aliases", "claims", "sitelinks"):
            if part in parts:
                kept = sites if part == "sitelinks" else languages
                whole = part == "claims" or not known[part]
                given[part] = known[part] if whole else {key: known[part][key] for key in kept if key in known[part]}
        return given


def _hit(qid: str, label: str, kind: str, name: str) -> Entity:
    match = {"type": kind, "language": "en", "text": name}
    return {"id": qid, "title": qid, "label": label, "match": match, "aliases": [name] if kind == "alias" else []}


class Counter:
    """Knows the page views of one month; an article that nobody read is not found."""

    def __init__(self) -> None:
        # Given out before anything else, one at a time.
        self.instead: list[Reply] = []

    def __call__(self, number: int, asked: Asked) -> Reply:
        """The answer to a question."""
        if self.instead:
            return self.instead.pop(0)
        before = f"{COUNTER}/metrics/pageviews/per-article/en.wikipedia/all-access/user/"
        after = "/monthly/20191001/20191031"
        if not (asked.path.startswith(before) and asked.path.endswith(after)):
            return as_json({"type": "about:blank", "title": "Bad request"}, 400)
        title = unquote(asked.path.removeprefix(before).removesuffix(after)).replace("_", " ")
        if title not in VIEWS:
            return as_json({"type": "https://mediawiki.org/wiki/HyperSwitch/errors/not_found"}, 404)
        counted = {"article": title, "timestamp": "2019100100", "agent": "user", "views": VIEWS[title]}
        return as_json({"items": [counted]})


class Both:
    """A host that has both."""

    def __init__(self) -> None:
        self.wikibase, self.counter = Wikibase(), Counter()

    def __call__(self, number: int, asked: Asked) -> Reply:
        """The answer of the one that was asked."""
        return (self.counter if asked.path.startswith(COUNTER) else self.wikibase)(number, asked)
