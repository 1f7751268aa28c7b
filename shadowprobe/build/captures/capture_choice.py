"""Which capture of a page is taken: the same URL before the same key, and then the newest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from shadowprobe.build.captures.surt import make_surt


class Capture(NamedTuple):
    """A row of an index: a page as a crawl has stored it."""

    url: str
    key: str
    # Microseconds since 1970, UTC.
    moment: int
    filename: str
    offset: int
    # 0 where the index does not say it.
    length: int

    @property
    def time(self) -> str:
        """The time of the capture as a WARC file writes it."""
        return datetime.fromtimestamp(self.moment // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class WantedPages:
    """The pages that are looked up, and the best capture of each so far."""

    def __init__(self, urls: Iterable[str]) -> None:
        self.keys: dict[str, list[str]] = {}
        self.urls: set[str] = set(urls)
        for url in sorted(self.urls):
            self.keys.setdefault(make_surt(url), []).append(url)
        self._best: dict[str, tuple[tuple[bool, int, str, int], Capture]] = {}

    def offer(self, captures: Iterable[Capture]) -> None:
        """Remembers each capture for the pages for which it is better than the earlier ones."""
        for capture in captures:
            same = (capture.url,) if capture.url in self.urls else ()
            for url in {*same, *self.keys.get(capture.key, ())}:
                self.keep(url, capture)

    def keep(self, url: str, capture: Capture) -> None:
        """Remembers a capture of a page if it is better than the earlier ones."""
        # The place decides between captures of the same moment, so that the choice is always the same.
        rank = (url == capture.url, capture.moment, capture.filename, capture.offset)
        if url not in self._best or rank > self._best[url][0]:
            self._best[url] = rank, capture

    def choose(self) -> Iterator[tuple[str, Capture]]:
        """Yields the pages that were found with their captures, in the order of the WARC files."""
        found = [(url, capture) for url, (_, capture) in self._best.items()]
        return iter(sorted(found, key=lambda pair: (pair[1].filename, pair[1].offset, pair[0])))
