"""What an archive says of URLs: where their redirects end, and the rules of their hosts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from shadowprobe.build.archive import Entry, key_of
from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.shards import PageArchive
from shadowprobe.build.warc_record import RecordPlace
from shadowprobe.build.web.fetch import may_pass, not_html
from shadowprobe.build.web.politeness import REFUSALS, Manners, Rules
from shadowprobe.net.addresses import PRIVATE
from shadowprobe.net.failures import RefusedError
from shadowprobe.net.urls import REDIRECTS, join_url, normalise_url

# The outcome of a page that a read-only archive does not have.
MISSING = "not in the archive"
# The outcome of a page whose host left others without an answer.
GONE = "the host answers no more"
# Reasons for which a page is not dead, so that an archived copy would be the same, or would go round a refusal.
_ALIVE = (*REFUSALS, "not HTML", "too large")
_RULES_KEPT = 256


class End(NamedTuple):
    """The end of the redirects of a URL: a page, a reason why there is none, or a URL that must be requested."""

    url: str
    is_page: bool = False
    failed: str = ""
    captured: str = ""

    @property
    def is_known(self) -> bool:
        """False if the URL must be requested."""
        return self.is_page or bool(self.failed)


class Visit(NamedTuple):
    """A URL whose outcome is wanted; the copy is requested if the page is dead."""

    number: int
    url: str
    copy: str | None


class Known(Struct, frozen=True):
    """A record of another partition: its line of the index, and the content if it is a robots.txt."""

    entry: Entry
    body: bytes = b""


def list_visits(copies: Mapping[str, str | None]) -> Iterator[Visit]:
    """Yields the visits of URLs with their copies."""
    return (Visit(number, url, copy) for number, (url, copy) in enumerate(copies.items()))


def collect_copies(references: Iterable[WebReference]) -> dict[str, str | None]:
    """Returns each URL once, in the order of the references, with the first archived copy that one of them names."""
    copies: dict[str, str | None] = {}
    for reference in references:
        copies[reference.url] = copies.get(reference.url) or reference.archived
    return copies


def find_passing(archive: PageArchive, manners: Manners) -> frozenset[RecordPlace]:
    """Finds the stored failures that need not come again."""

    def is_passing(key: str) -> bool:
        failed = archive.failure(key)
        # What was not allowed then may be allowed now.
        return failed == GONE or may_pass(failed) or (failed == PRIVATE and bool(manners.allow_private))

    return frozenset(map(archive.locate, filter(is_passing, archive.keys())))


class Outcomes:
    """The outcomes of visits, from an archive alone.

    `again` are records that do not count, because their pages are requested again. `others` are records of other
    partitions by their keys.
    """

    def __init__(
        self,
        archive: PageArchive,
        manners: Manners,
        *,
        again: Collection[RecordPlace] = frozenset(),
        others: Mapping[str, Known] | None = None,
    ) -> None:
        self.archive, self._manners, self._again, self._others = archive, manners, again, others or {}
        # Failures that could be those of our own connection; the next answer of anybody shows that they are not.
        self.doubtful: dict[str, tuple[str, str]] = {}
        # The keys of all records that were found since it was emptied, for the one who gives out the visits.
        self.passed: list[str] | None = None
        self._robots: set[str] = set()
        self.read_rules = lru_cache(_RULES_KEPT)(self._read_rules)

    def look_up(self, visit: Visit) -> Crawled | str:
        """Returns the outcome of a visit, or the URL that must be requested next."""
        end = self.follow(visit.url)
        if end.failed and visit.copy and not end.failed.startswith(_ALIVE):
            copy = self.follow(visit.copy)
            end = copy._replace(failed=f"{end.failed}, its copy too") if copy.failed else copy
        if end.failed:
            return Crawled(visit.url, failed=end.failed)
        return Crawled(visit.url, key_of("GET", end.url), captured=end.captured) if end.is_page else end.url

    def read_outcome(self, visit: Visit) -> Crawled:
        """Returns the outcome of a visit as the archive has it in the end."""
        outcome = self.look_up(visit)
        return outcome if isinstance(outcome, Crawled) else Crawled(visit.url, failed=MISSING)

    def follow(self, url: str, *, robots: bool = False) -> End:
        """Follows the redirects of a URL as far as the archive goes."""
        seen: set[str] = set()
        try:
            url = normalise_url(url)
            while (entry := self.find(url)) is not None:
                if entry.failed:
                    return End(url, failed=entry.failed)
                if entry.status not in REDIRECTS:
                    why = "" if robots else not_html(entry.kind)
                    return End(url, is_page=not why, failed=why, captured=entry.captured)
                seen.add(url)
                url = join_url(url, entry.location)
                if url in seen:
                    return End(url, failed="redirect loop")
                if len(seen) > self._manners.redirects:
                    return End(url, failed="too many redirects")
        except RefusedError as error:
            return End(url, failed=str(error))
        return End(url)

    def find(self, url: str) -> Entry | None:
        """Finds what is known of a URL."""
        key = key_of("GET", url)
        if key in self.doubtful:
            return Entry(key, 0, 0, self.doubtful[key][1])
        entry = self._others[key].entry if key in self._others else self.archive.find(key)
        if entry is not None and self._again and key not in self._others and self.archive.locate(key) in self._again:
            return None
        if entry is not None and self.passed is not None:
            self.passed.append(key)
        return entry

    def follow_robots(self, origin: str) -> End:
        """Follows the redirects of the robots.txt of an origin."""
        return self.follow(f"{origin}/robots.txt", robots=True)

    def has_rules(self, origin: str) -> bool:
        """True if it is known what the robots.txt of an origin says, or that there is none."""
        if origin not in self._robots and self.follow_robots(origin).is_known:
            self._robots.add(origin)
        return origin in self._robots

    def has_doubtful_rules(self, origin: str) -> bool:
        """True if the robots.txt of an origin may have failed because of our own connection."""
        return key_of("GET", self.follow_robots(origin).url) in self.doubtful

    def read_robots(self, url: str) -> bytes:
        """Reads the content of a stored robots.txt."""
        key = key_of("GET", url)
        if key in self._others:
            return self._others[key].body
        stored = self.archive.get(key)
        return stored.body if stored else b""

    def _read_rules(self, origin: str) -> Rules:
        end = self.follow_robots(origin)
        return Rules(self.read_robots(end.url) if end.is_page else b"", end.failed)
