"""The crawl on a cluster: in rounds, each worker requests the pages of its own hosts.

A host belongs to one file of the archive, and a file to one worker in each round, so that no two workers request the
same host. A redirect to a host of another worker is followed in the next round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from shadowprobe.build.archive import key_of
from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.shards import Shards
from shadowprobe.build.web.crawl import Progress
from shadowprobe.build.web.outcomes import Known, Outcomes, Visit, collect_copies, find_passing, list_visits
from shadowprobe.build.web.partition import CrawlPart, crawl_part
from shadowprobe.build.web.politeness import Manners, host_of, origin_of
from shadowprobe.build.web.requesting import HostState
from shadowprobe.compute.executor import Executor
from shadowprobe.errors import BuildError

# A round ends after so many seconds: then it is known what was done, and lost machines are replaced.
SECONDS = 300.0
# The visits that a worker gets for a round, in all and of one host.
MOST_VISITS, MOST_OF_HOST = 20_000, 1_000
# So many rounds in a row without any new record mean that something is wrong.
IDLE_ROUNDS = 3


class _Step(NamedTuple):
    """The next request of a visit, and the keys of all records that lead to it."""

    url: str
    passed: list[str]
    # The origin whose robots.txt is requested, or empty.
    robots: str


class ClusterCrawl:
    """A crawl whose rounds are done by the workers of an executor."""

    def __init__(
        self, archive: Shards, manners: Manners, executor: Executor, *, online: str, retry: bool = False
    ) -> None:
        self._archive, self._manners, self._executor, self._online = archive, manners, executor, online
        # A worker has one file at least, and may send one request at least.
        self._workers = max(1, min(executor.workers, archive.place.count, manners.total))
        self._again = find_passing(archive, manners) if retry else frozenset()
        self._outcomes = Outcomes(archive, manners, again=self._again)
        self._hosts: dict[str, HostState] = {}

    def run(self, references: Iterable[WebReference], progress: Progress) -> Iterator[Crawled]:
        """Yields the outcome of each URL once, in the order of the references, as `crawl` does."""
        copies = collect_copies(references)
        lacking, idle = list(list_visits(copies)), 0
        while True:
            parts, lacking = self._divide(lacking)
            progress(len(copies) - len(lacking), len(copies))
            if not lacking:
                break
            before = self._count_records()
            self._run_round(parts)
            idle = idle + 1 if self._count_records() == before else 0
            if idle == IDLE_ROUNDS:
                raise BuildError(f"no page of {len(lacking)} was stored in {idle} rounds: the same command continues")
        yield from map(self._outcomes.read_outcome, list_visits(copies))

    def _count_records(self) -> int:
        """Counts the records; one that replaces another counts too."""
        return len(self._archive) - sum(self._archive.locate(place.key) in self._again for place in self._again)

    def _run_round(self, parts: list[CrawlPart]) -> None:
        self._archive.release()
        # A host without a turn in this round is left alone by then, but may still be silent.
        hosts = {name: HostState(state.silent) for name, state in self._hosts.items()}
        for done in self._executor.map(crawl_part, parts):
            hosts |= done
        self._hosts = {name: state for name, state in hosts.items() if state != HostState()}
        self._archive.refresh()

    def _divide(self, visits: list[Visit]) -> tuple[list[CrawlPart], list[Visit]]:
        """Gives the visits without an outcome to the workers of their next requests; returns all of these visits."""
        parts = [self._begin_part(worker) for worker in range(self._workers)]
        lacking: list[Visit] = []
        counts: Counter[str] = Counter()
        robots: set[str] = set()
        for place, visit in enumerate(visits):
            if all(len(part.visits) >= MOST_VISITS for part in parts):
                lacking += visits[place:]
                break
            step = self._find_step(visit)
            if step is None:
                continue
            lacking.append(visit)
            part, host = parts[self._choose(step.url)], host_of(step.url)
            # One visit is enough to learn the rules of an origin.
            if step.robots in robots or counts[host] >= MOST_OF_HOST or len(part.visits) >= MOST_VISITS:
                continue
            counts[host] += 1
            if step.robots and self._choose(step.robots) != self._choose(step.url):
                robots.add(step.robots)
            part.visits.append(visit)
            self._add_others(part, step)
        return self._share_out([part for part in parts if part.visits]), lacking

    def _share_out(self, parts: list[CrawlPart]) -> list[CrawlPart]:
        """Divides the number of requests at a time among the parts, which are all under way at once."""
        total = self._manners.total // max(1, len(parts))
        return [replace(part, manners=replace(self._manners, total=total)) for part in parts]

    def _begin_part(self, worker: int) -> CrawlPart:
        place = self._archive.place
        shards = tuple(range(worker, place.count, self._workers))
        hosts = {name: state for name, state in self._hosts.items() if place.choose_for_host(name) in shards}
        again = frozenset(each for each in self._again if self._choose(each.key.split(" ")[1]) == worker)
        return CrawlPart(place, shards, self._manners, [], {}, hosts, SECONDS, again, self._online)

    def _choose(self, url: str) -> int:
        """Returns the worker that requests a URL."""
        return self._archive.place.choose(url) % self._workers

    def _find_step(self, visit: Visit) -> _Step | None:
        """Finds the next request of a visit: for the page, or for the robots.txt of its origin; None if it is done."""
        passed: list[str] = []
        self._outcomes.passed = passed
        try:
            url = self._outcomes.look_up(visit)
            if isinstance(url, Crawled):
                return None
            origin = origin_of(url)
            end = self._outcomes.follow_robots(origin)
            return _Step(url, passed, "") if end.is_known else _Step(end.url, passed, origin)
        finally:
            self._outcomes.passed = None

    def _add_others(self, part: CrawlPart, step: _Step) -> None:
        """Adds the records of other workers that a visit needs."""
        worker = self._choose(step.url)
        rules = "" if step.robots else key_of("GET", self._outcomes.follow_robots(origin_of(step.url)).url)
        for key in step.passed:
            url = key.split(" ")[1]
            entry = self._archive.find(key)
            if self._choose(url) != worker and key not in part.others and entry is not None:
                body = self._outcomes.read_robots(url) if key == rules and not entry.failed else b""
                part.others[key] = Known(entry, body)
