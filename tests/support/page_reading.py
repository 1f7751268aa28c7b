"""A report taken apart as a browser does it."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from html.parser import HTMLParser
from itertools import accumulate
from typing import Any

import msgspec

from shadowprobe.reporting.html.blocks import compress_data


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
        if tag in {"td", "th", "bdi", "span"} and self._table and self.tables[self._table]:
            self.tables[self._table][-1][-1] += data

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.elements)

    @property
    def data(self) -> Any:
        """The data of the page, with all blocks opened."""
        scripts = [attributes for tag, attributes in self.elements if tag == "script"]
        contents = {one.get("id"): text for one, text in zip(scripts, self.texts["script"], strict=True)}
        blocks = [content for name, content in contents.items() if (name or "").startswith("block-")]
        return _open(json.loads(contents["data"]), [base64.b85decode(block.replace(",", "<")) for block in blocks])

    @property
    def scripts(self) -> int:
        """How many script elements are no data."""
        return sum(tag == "script" and "type" not in attributes for tag, attributes in self.elements)


def unpack(data: Any) -> Any:
    """What is packed for a page, as its script reads it."""
    skeleton, blocks = compress_data(data)
    return _open(json.loads(msgspec.json.encode(skeleton)), blocks)


def _open(value: Any, blocks: list[bytes]) -> Any:
    """A value with all columns and running texts in the place of their blocks."""
    if isinstance(value, list):
        return [_open(one, blocks) for one in value]
    if not isinstance(value, Mapping):
        return value
    if "block" in value:
        content = json.loads(zlib.decompress(blocks[value["block"]]))
        return list(accumulate(content)) if value["delta"] else content
    if "starts" in value:
        opened = [json.loads(zlib.decompress(blocks[number])) for number in value["blocks"]]
        ends = list(accumulate(map(len, opened)))
        assert value["starts"] == [end - len(texts) for end, texts in zip(ends, opened, strict=True)]
        return [text for texts in opened for text in texts]
    return {key: _open(one, blocks) for key, one in value.items()}
