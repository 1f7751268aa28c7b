"""The popularity of entities: the views of an article in a month, or the links to it."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import msgspec
from msgspec import Struct

from shadowprobe.base.compressed import read_compressed_lines
from shadowprobe.base.files import open_for_reading
from shadowprobe.build.funnel import Progress, ignore_progress
from shadowprobe.dataset.dataset import Dataset
from shadowprobe.errors import InputError, UsageError, shorten
from shadowprobe.net.urls import check_option
from shadowprobe.sets.service import Service

# Wikimedia's service, and the month of the page views in the paper.
PAGEVIEWS_API = "https://wikimedia.org/api/rest_v1"
MONTH = "2019-10"
# The first month of Wikimedia's service.
FIRST_MONTH = (2015, 7)
# No article has more views, and Python converts no number of thousands of digits.
MOST_DIGITS = 18
# The name of a wiki in a dump, such as `en.z` or `en.wikipedia`.
_PROJECT = re.compile(r"[a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)+")


class Popularity(Protocol):
    """A source of popularity counts."""

    def count(self, titles: Mapping[str, str], progress: Progress = ignore_progress) -> dict[str, int]:
        """Returns the count of each known entity; `titles` has the titles of their articles by QID."""

    def describe(self) -> dict[str, Any]:
        """Returns the entry in a card."""


def compute_popularity(count: int) -> float:
    """Returns the popularity for a count as in the released sets: its logarithm to the base of ten."""
    return math.log10(max(count, 1))


def read_month(text: str) -> tuple[int, int]:
    """Parses a month such as `2019-10` into year and month."""
    year, dash, month = text.partition("-")
    if not (dash and len(year) == 4 and len(month) == 2 and (year + month).isdecimal() and 1 <= int(month) <= 12):
        raise UsageError(f"--month {text}: a month is written as {MONTH}")
    if (int(year), int(month)) < FIRST_MONTH:
        raise UsageError(f"--month {text}: page views are counted since {FIRST_MONTH[0]}-{FIRST_MONTH[1]:02}")
    return int(year), int(month)


class FileViews:
    """Page views from a file: `title<TAB>views`, or a monthly dump of Wikimedia; a missing article has no views.

    The lines of a dump are `en.z Title 42` until 2020 and `en.wikipedia Title 736 desktop 42 A1B2` since then. The
    views of a title on all devices are added.
    """

    def __init__(self, path: Path, language: str) -> None:
        # A missing file is reported now, and not after hours.
        with open_for_reading(path):
            self.path = path
        self._projects = frozenset({f"{language}.z", f"{language}.wikipedia"})

    def count(self, titles: Mapping[str, str], progress: Progress = ignore_progress) -> dict[str, int]:
        """Counts the views of some articles."""
        wanted = set(titles.values())
        views: Counter[str] = Counter()
        for number, (title, count) in enumerate(self._read(wanted), start=1):
            views[title] += count
            if number % 1000 == 0:
                progress("page views", number, None)
        return {qid: views[title] for qid, title in titles.items()}

    def describe(self) -> dict[str, Any]:
        """Names the file."""
        return {"measure": "page views", "file": self.path.name}

    def _read(self, wanted: set[str]) -> Iterator[tuple[str, int]]:
        for number, raw in enumerate(read_compressed_lines(self.path), start=1):
            # No wanted title contains bytes that are not UTF-8.
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if views := self._parse_line(line, number):
                title = views[0].replace("_", " ")
                if title in wanted:
                    yield title, views[1]

    def _parse_line(self, line: str, number: int) -> tuple[str, int] | None:
        title, tab, count = line.partition("\t")
        if not tab:
            fields = line.split(" ")
            if not line.strip() or line.startswith("#"):
                return None
            if not _PROJECT.fullmatch(fields[0]):
                raise InputError(self.path, "is neither title<TAB>views nor a line of a page views dump", line=number)
            # A few lines of the dumps have a title with spaces, or no title: these are not articles.
            if fields[0] not in self._projects or len(fields) not in {3, 6}:
                return None
            title, count = fields[1], fields[2] if len(fields) == 3 else fields[4]
        if not (count.isascii() and count.isdecimal() and len(count) <= MOST_DIGITS):
            raise InputError(self.path, f"{shorten(count, 40)!r} is not a number of views", line=number)
        return title, int(count)


class _Views(Struct):
    views: int


class _ViewsReply(Struct):
    items: list[_Views]


class ServiceViews:
    """Page views from Wikimedia's service or a compatible one; an unknown article has no views."""

    def __init__(self, url: str, service: Service, language: str, month: str = MONTH) -> None:
        self.url = check_option("--pageviews-api", url, PAGEVIEWS_API)
        self.month, self._service = month, service
        year, number = read_month(month)
        self._project = f"{language}.wikipedia"
        self._span = f"{year}{number:02}01/{year}{number:02}{monthrange(year, number)[1]}"

    def count(self, titles: Mapping[str, str], progress: Progress = ignore_progress) -> dict[str, int]:
        """Requests the views of each article."""
        views: dict[str, int] = {}
        for number, (qid, title) in enumerate(titles.items(), start=1):
            views[qid] = self._request_views(title)
            progress("page views", number, len(titles))
        return views

    def describe(self) -> dict[str, Any]:
        """Names the service and the month."""
        return {"measure": "page views", "service": self.url, "month": self.month}

    def _request_views(self, title: str) -> int:
        article = quote(title.replace(" ", "_"), safe="")
        place = f"metrics/pageviews/per-article/{self._project}/all-access/user/{article}/monthly/{self._span}"
        status, body = self._service.get(f"{self.url}/{place}", _find_fault)
        if status == 404:
            return 0
        return sum(item.views for item in msgspec.json.decode(body, type=_ViewsReply).items)


def _find_fault(status: int, body: bytes) -> str:
    """Describes what is wrong with a response; a 404 page in HTML does not come from the service."""
    if status not in {200, 404}:
        return f"status {status}"
    try:
        if status == 404:
            msgspec.json.decode(body, type=dict[str, Any])
        else:
            msgspec.json.decode(body, type=_ViewsReply)
    except ValueError as error:
        return f"status {status}, {error}"
    return ""


class Backlinks:
    """The commonness of a dataset's entities; that of other entities is not known."""

    def __init__(self, dataset: Dataset) -> None:
        self.name = dataset.name
        known = [entity for entity in dataset.entities.values() if entity.commonness is not None]
        if not known:
            raise UsageError(f"--backlinks {self.name}: none of its entities has a commonness")
        self._by_qid = {entity.qid: entity.commonness or 0 for entity in known if entity.qid is not None}
        self._by_title = {entity.title: entity.commonness or 0 for entity in known}

    def count(self, titles: Mapping[str, str], progress: Progress = ignore_progress) -> dict[str, int]:
        """Looks up the commonness of entities by QID, or else by title."""
        counts = {qid: self._by_qid.get(qid, self._by_title.get(title)) for qid, title in titles.items()}
        return {qid: count for qid, count in counts.items() if count is not None}

    def describe(self) -> dict[str, Any]:
        """Names the dataset."""
        return {"measure": "backlinks", "dataset": self.name}
