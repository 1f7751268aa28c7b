"""A report taken apart as a browser does it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Read(HTMLParser):
    """A page as a browser takes it apart: its elements, their texts, and the cells of its tables."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.tables: dict[str, list[list[str]]] = {}
        self._table = ""
        self.feed(content)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        if tag == "table":
            self._table = dict(attrs)["id"] or ""
            self.tables[self._table] = []
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in {"td", "th"}:
            self.tables[self._table][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._table = ""

    def handle_data(self, data: str) -> None:
        tag = self.elements[-1][0] if self.elements else ""
        if tag:
            self.texts[tag][-1] += data.strip("\n")
        # The name of a system stands in an element of its own inside of its cell.
        if tag in {"td", "th", "bdi"} and self._table and self.tables[self._table]:
            self.tables[self._table][-1][-1] += data

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.elements)

    @property
    def data(self) -> Any:
        return json.loads(self.texts["script"][0])
