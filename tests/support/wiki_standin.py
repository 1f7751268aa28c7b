"""A stand-in for a wiki's API: it knows a few pages and lists, gives long answers in parts, and remembers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from service import Asked, Reply, Service, serving

from shadowprobe.build.archive import Archive
from shadowprobe.build.wiki.wiki_api import Wiki

JSON = {"Content-Type": "application/json; charset=utf-8"}
NOT_HERE: Reply = (404, {"Content-Type": "text/html"}, b"<p>Not found.</p>")


def as_json(value: Any, **headers: str) -> Reply:
    """An answer of the API."""
    return 200, {**JSON, **headers}, json.dumps(value).encode()


def refused(code: str, info: str = "No.") -> Reply:
    """An error of the API, which comes with a status of 200."""
    return as_json({"error": {"code": code, "info": info}}, **{"MediaWiki-API-Error": code})


class StandIn:
    """What the wiki knows; lists of a page, and lists of the wiki, come `part` items at a time."""

    def __init__(self, *, language: str = "en", extensions: tuple[str, ...] = (), part: int = 500) -> None:
        self.pages: dict[str, dict[str, Any]] = {}
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.leads: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        # The items of a Wikibase with the statements of each, and where a wiki says that its items are.
        self.items: dict[str, dict[str, Any]] = {}
        self.repository = ""
        # What is said of pages that cannot be shown.
        self.broken: dict[str, Reply] = {}
        # What siteinfo says otherwise than most wikis.
        self.general: dict[str, Any] = {}
        self.language, self.extensions, self.part = language, extensions, part
        self.place = "/w/api.php"
        # Given out before anything else, one at a time.
        self.instead: list[Reply] = []

    def add(self, title: str, page_id: int, **more: Any) -> None:
        """Adds a page."""
        self.pages[title] = {"pageid": page_id, "ns": 0, "title": title, **more}

    def __call__(self, number: int, asked: Asked) -> Reply:
        """The answer to a question."""
        if asked.path != self.place:
            return NOT_HERE
        form = asked.form
        if self.instead and "siprop" not in form:
            return self.instead.pop(0)
        if form["action"] == "wbgetentities":
            return self._answer_items(form)
        if form.get("meta") == "wikibase":
            url = {"base": self.repository, "scriptpath": "/w", "articlepath": "/wiki/$1"}
            return as_json({"batchcomplete": True, "query": {"wikibase": {"repo": {"url": url}}}})
        if form["action"] == "parse" and form["page"] in self.broken:
            return self.broken[form["page"]]
        if form["action"] == "parse":
            text = self.texts.get(form["page"])
            return as_json({"parse": {"text": text}}) if text is not None else refused("missingtitle")
        if form.get("meta") == "siteinfo":
            return as_json({"query": self._siteinfo()})
        return self._listed(form) if "list" in form else self._asked_of_pages(form)

    def _siteinfo(self) -> dict[str, Any]:
        general = {"lang": self.language, "generator": "MediaWiki 1.39.0", "sitename": "Stand-in"}
        general |= {"server": "http://wiki.example", "articlepath": "/wiki/$1", "case": "first-letter", **self.general}
        extensions = [{"name": name} for name in self.extensions]
        return {"general": general, "extensions": extensions, "statistics": {"pages": len(self.pages)}}

    def _answer_items(self, form: dict[str, str]) -> Reply:
        """The items, or an error of a wiki that has none."""
        if not self.items:
            return refused("badvalue", "Unrecognized value for parameter action")
        found = {qid: self.items.get(qid, {"id": qid, "missing": True}) for qid in form["ids"].split("|")}
        return as_json({"entities": {item.get("id", qid): item for qid, item in found.items()}, "success": 1})

    def _listed(self, form: dict[str, str]) -> Reply:
        name, start = form["list"], int(form.get("from", 0))
        items = self.lists.get(name, [])
        more = {"continue": {"from": start + self.part, "continue": "-||"}} if start + self.part < len(items) else {}
        return as_json({"query": {name: items[start : start + self.part]}, **more})

    def _asked_of_pages(self, form: dict[str, str]) -> Reply:
        start = int(form.get("from", 0))
        leads: list[dict[str, str]] = []
        titles: list[str] = []
        for title in form.get("titles", "").split("|") if "titles" in form else []:
            end = title
            while "redirects" in form and end in self.leads and len(leads) < 20:
                leads.append({"from": end, "to": self.leads[end]})
                end = self.leads[end]
            titles.append(end)
        by_id = {page["pageid"]: page for page in self.pages.values()}
        ids = [int(page_id) for page_id in form["pageids"].split("|")] if "pageids" in form else []
        found = [self.pages.get(title, {"ns": 0, "title": title, "missing": True}) for title in dict.fromkeys(titles)]
        found += [by_id.get(page_id, {"pageid": page_id, "missing": True}) for page_id in ids]
        pages = [self._cut(page, start) for page in found]
        longest = max((len(value) for page in found for value in page.values() if isinstance(value, list)), default=0)
        more = {"continue": {"from": start + self.part, "continue": "-||"}} if start + self.part < longest else {}
        return as_json({"query": {"redirects": leads, "pages": pages}, **more})

    def _cut(self, page: dict[str, Any], start: int) -> dict[str, Any]:
        return {
            name: value[start : start + self.part] if isinstance(value, list) else value for name, value in page.items()
        }


class RunningStandIn:
    """A stand-in that runs: the wiki as the builder sees it, and the questions that came."""

    def __init__(self, service: Service, directory: Path) -> None:
        self.service, self.path = service, directory / "wiki.warc.gz"
        self.url = service.url.removesuffix("/api")
        self._archives: list[Archive] = []

    def wiki(self, *, read_only: bool = False, path: str = "") -> Wiki:
        """The wiki, through the one archive; what was opened before is closed."""
        self.close()
        self._archives.append(Archive(self.path, software="tests", read_only=read_only))
        return Wiki(self.url + path, self._archives[-1], user_agent="tests (+nobody)")

    def close(self) -> None:
        """Closes the archive."""
        while self._archives:
            self._archives.pop().close()

    @property
    def forms(self) -> list[dict[str, str]]:
        """The questions so far, without those about the wiki itself."""
        return [asked.form for asked in self.service.requests if "siprop" not in asked.form]


@contextmanager
def running(standin: StandIn, directory: Path) -> Iterator[RunningStandIn]:
    """A stand-in that answers while the block runs."""
    with serving(standin) as service:
        server = RunningStandIn(service, directory)
        try:
            yield server
        finally:
            server.close()
