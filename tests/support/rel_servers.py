"""Both generations of REL's server, which answer as the real ones do, quirks included."""

from __future__ import annotations

import json
import re
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from service import Asked, Reply, Service
from wire import as_json
from world import NAMES, shadow, top

STATUS = {"schemaVersion": 1, "label": "status", "message": "up", "color": "green"}
TAGGERS = ("ner-fast", "ner-fast-with-lowercase")
# A sentence as segtok finds it: no white space around it.
SENTENCE = re.compile(r"\S.*?(?:[.?!](?=\s|$)|(?=\s*$))", re.DOTALL)


class Rel:
    """What both generations do with a text: candidates by name, the best by its sentence, NIL left out."""

    def __init__(self) -> None:
        # Title and the words that speak for it, most common first; 0.75 with such a word, 0.5 without.
        self.titles: dict[str, list[tuple[str, str]]] = {
            name: [(top(name).replace(" ", "_"), "anglers mill"), (shadow(name).replace(" ", "_"), "crew masts")]
            for name in NAMES
        }
        self.titles |= {"Ourika": [("Ourika", "novel")], "AT&T": [("AT&T", "phone")], "Nobody": [("NIL", "")]}
        self.titles["Nineteen Eighty-Four"] = [("1984", "year")]
        self.has_lr_model = True
        self.breaks_on = "\0"

    def link(self, text: str, spans: list[list[int]]) -> list[list[Any]]:
        if self.breaks_on in text:
            raise RuntimeError("out of memory")
        if not spans:
            # End to end: mentions of its own choice.
            spans = [[found.start(), len(name)] for name in self.titles for found in re.finditer(name, text)]
        return [row for start, length in spans for row in self._rows(text, start, length)]

    def _rows(self, text: str, start: int, length: int) -> list[list[Any]]:
        surface = text[start : start + length]
        sentence = next((found[0] for found in SENTENCE.finditer(text) if found.start() <= start < found.end()), None)
        if sentence is None or surface not in self.titles:
            return []
        words = set(re.findall(r"\w+", sentence.lower()))
        scored = [(0.75 if words & set(spoken.split()) else 0.5, title) for title, spoken in self.titles[surface]]
        confidence, title = max(scored, key=lambda pair: pair[0])
        kept = confidence if self.has_lr_model else 0.0
        return [] if title == "NIL" else [[start, length, surface, title, kept, 0.0, "NULL"]]


def handler_of_2020(rel: Rel) -> type[BaseHTTPRequestHandler]:
    """The older server: HTTP/1.0 without a length, any path, its 200 sent before the work, `&amp;` replaced."""

    class Handler(BaseHTTPRequestHandler):
        server: Service

        def do_GET(self) -> None:
            self._head(200)
            self.wfile.write(json.dumps(STATUS).encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with self.server.lock:
                self.server.requests.append(Asked(time.monotonic(), "POST", self.path, {}, headers, body))
            self._head(200)
            try:
                asked = json.loads(body.decode("utf-8"))
                answer = rel.link(asked["text"].replace("&amp;", "&"), asked.get("spans", []))
            except Exception:
                self._head(400)
                answer = []
            self.wfile.write(json.dumps(answer).encode())

        def _head(self, status: int) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    return Handler


class FastApi:
    """The newer server, mounted at /api as the public one is: checks what comes, and rewrites its own answer."""

    def __init__(self, rel: Rel) -> None:
        self.rel = rel
        self.loaded = set(TAGGERS)
        self.pydantic = 2

    def __call__(self, _: int, asked: Asked) -> Reply:
        path = asked.path.removeprefix("/api") or "/"
        if path == "/ne/":
            return 307, {"Location": asked.path.rstrip("/")}, b""
        if path not in {"/", "/ne"}:
            return as_json(404, {"detail": "Not Found"})
        if asked.method == "GET":
            return as_json(200, STATUS)
        if problem := self._problem(asked.json):
            return as_json(422, {"detail": [{"loc": ["body", problem], "msg": "not valid"}]})
        if asked.json.get("tagger", "ner-fast") not in self.loaded:
            return 500, {"Content-Type": "text/plain; charset=utf-8"}, b"Internal Server Error"
        rows = self.rel.link(asked.json["text"], asked.json.get("spans") or [])
        return as_json(
            200, rows if self.pydantic == 2 else [[_first_of_int_and_str(item) for item in row] for row in rows]
        )

    @staticmethod
    def _problem(body: dict[str, Any]) -> str | None:
        if not isinstance(body.get("text"), str):
            return "text"
        for span in body.get("spans") or []:
            if len(span) != 2 or not all(isinstance(number, int) for number in span):
                return "spans"
        return "tagger" if body.get("tagger", "ner-fast") not in TAGGERS else None


def _first_of_int_and_str(item: Any) -> int | str:
    """A value where int, str and float may stand in this order, as pydantic 1 reads it: the first that will do."""
    try:
        return int(item)
    except ValueError:
        return str(item)
