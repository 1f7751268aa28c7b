"""How popular an entity is: the views of its article in a month, or the links to it."""

from __future__ import annotations

import math
import re
import zlib
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import msgspec
from msgspec import Struct

from shadowprobe.build.dumps.files import broken, open_dump
from shadowprobe.dataset import Dataset
from shadowprobe.errors import InputError, UsageError
from shadowprobe.jsonl import open_for_reading
from shadowprobe.retrieval.wikidata.dump import Progress
from shadowprobe.retrieval.wikidata.service import Service, checked_address

# Where Wikimedia counts, and the month whose views the paper took.
PAGEVIEWS_API = "https://wikimedia.org/api/rest_v1"
MONTH = "2019-10"
# The first month that Wikimedia's service knows.
FIRST_MONTH = (2015, 7)
# How a dump names a wiki, such as `en.z` or `en.wikipedia`.
_PROJECT = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)+")


class Popularity(Protocol):
    """Whoever knows how popular entities are."""

    def counts(self, titles: Mapping[str, str], progress: Progress | None = None) -> dict[str, int]:
        """The count of each entity that is known, given the titles of their articles by QID."""

    def described(self) -> dict[str, Any]:
        """What a card says of it."""


def logarithm(count: int) -> float:
    """The popularity that goes with a count, as the released sets have it: its logarithm to the base of ten."""
    return math.log10(max(count, 1))


def read_month(text: str) -> tuple[int, int]:
    """Year and month of `2019-10`."""
    year, dash, month = text.partition("-")
    if not (dash and len(year) == 4 and len(month) == 2 and (year + month).isdecimal() and 1 <= int(month) <= 12):
        raise UsageError(f"--month {text}: a month is written as {MONTH}")
    if (int(year), int(month)) < FIRST_MONTH:
        raise UsageError(f"--month {text}: page views are counted since {FIRST_MONTH[0]}-{FIRST_MONTH[1]:02}")
    return int(year), int(month)


class FileViews:
    """Page views from a file: `title<TAB>views`, or lines of Wikimedia's monthly dumps; what is not in it has none.

    Of these dumps there are two kinds, `en.z Title 42` until 2020 and `en.wikipedia Title 736 desktop 42 A1B2` since;
    the views of a title on all devices add up.
    """

    def __init__(self, path: Path, language: str) -> None:
        # Whether it is there is better known now than after hours.
        with open_for_reading(path):
            self.path = path
        self._projects = frozenset({f"{language}.z", f"{language}.wikipedia"})

    def counts(self, titles: Mapping[str, str], progress: Progress | None = None) -> dict[str, int]:
        """The views of some articles."""
        wanted = set(titles.values())
        views: Counter[str] = Counter()
        for number, (title, count) in enumerate(self._read(wanted), start=1):
            views[title] += count
            if progress is not None and number % 1000 == 0:
                progress("page views", number, None)
        return {qid: views[title] for qid, title in titles.items()}

    def described(self) -> dict[str, Any]:
        """Which file it was."""
        return {"measure": "page views", "file": self.path.name}

    def _read(self, wanted: set[str]) -> Iterator[tuple[str, int]]:
        with open_dump(self.path) as file:
            try:
                for number, raw in enumerate(file, start=1):
                    # A byte that is no UTF-8 stands in no title that is looked for.
                    line = raw.decode("utf-8", "replace").rstrip("\r\n")
                    if found := self._of_line(line, number):
                        title = found[0].replace("_", " ")
                        if title in wanted:
                            yield title, found[1]
            except (OSError, EOFError, zlib.error) as error:
                raise broken(self.path, error) from None

    def _of_line(self, line: str, number: int) -> tuple[str, int] | None:
        title, tab, count = line.partition("\t")
        if not tab:
            fields = line.split(" ")
            if not line.strip() or line.startswith("#"):
                return None
            if not _PROJECT.fullmatch(fields[0]):
                raise InputError(self.path, "is neither title<TAB>views nor a line of a page views dump", line=number)
            # A few lines of the dumps have titles of several words, or none: no article's.
            if fields[0] not in self._projects or len(fields) not in {3, 6}:
                return None
            title, count = fields[1], fields[2] if len(fields) == 3 else fields[4]
        if not (count.isascii() and count.isdecimal()):
            raise InputError(self.path, f"{count!r} is not a number of views", line=number)
        return title, int(count)


class _Views(Struct):
    views: int


class _Answer(Struct):
    items: list[_Views]


class ServiceViews:
    """Page views of readers from Wikimedia's service or one like it; an article that it does not know has none."""

    def __init__(self, url: str, service: Service, language: str, month: str = MONTH) -> None:
        self.url = checked_address("--pageviews-api", url, PAGEVIEWS_API)
        self.month, self._service = month, service
        year, number = read_month(month)
        self._project = f"{language}.wikipedia"
        self._span = f"{year}{number:02}01/{year}{number:02}{monthrange(year, number)[1]}"

    def counts(self, titles: Mapping[str, str], progress: Progress | None = None) -> dict[str, int]:
        """The views of some articles, asked for one by one."""
        views: dict[str, int] = {}
        for number, (qid, title) in enumerate(titles.items(), start=1):
            views[qid] = self._views(title)
            if progress is not None:
                progress("page views", number, len(titles))
        return views

    def described(self) -> dict[str, Any]:
        """Which service and month it was."""
        return {"measure": "page views", "service": self.url, "month": self.month}

    def _views(self, title: str) -> int:
        article = quote(title.replace(" ", "_"), safe="")
        place = f"metrics/pageviews/per-article/{self._project}/all-access/user/{article}/monthly/{self._span}"
        status, body = self._service.get(f"{self.url}/{place}", _fault)
        if status == 404:
            return 0
        return sum(item.views for item in msgspec.json.decode(body, type=_Answer).items)


def _fault(status: int, body: bytes) -> str:
    """What is wrong with an answer: a page that says 404 in HTML is no word of the service."""
    if status not in {200, 404}:
        return f"status {status}"
    try:
        if status == 404:
            msgspec.json.decode(body, type=dict[str, Any])
        else:
            msgspec.json.decode(body, type=_Answer)
    except ValueError as error:
        return f"status {status}, {error}"
    return ""


class Backlinks:
    """The commonness of a dataset's entities; of others it is not known."""

    def __init__(self, dataset: Dataset) -> None:
        self.name = dataset.name
        known = [entity for entity in dataset.entities.values() if entity.commonness is not None]
        if not known:
            raise UsageError(f"--backlinks {self.name}: none of its entities has a commonness")
        self._by_qid = {entity.qid: entity.commonness or 0 for entity in known if entity.qid is not None}
        self._by_title = {entity.title: entity.commonness or 0 for entity in known}

    def counts(self, titles: Mapping[str, str], progress: Progress | None = None) -> dict[str, int]:
        """The commonness of some entities, found by QID or else by title."""
        found = {qid: self._by_qid.get(qid, self._by_title.get(title)) for qid, title in titles.items()}
        return {qid: count for qid, count in found.items() if count is not None}

    def described(self) -> dict[str, Any]:
        """Which dataset it was."""
        return {"measure": "backlinks", "dataset": self.name}
