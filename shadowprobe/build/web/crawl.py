"""Stage 4: the pages of the references, requested politely and stored in the archive.

The outcome of a URL is read from the archive alone, and pages are requested until the archive lacks nothing. So a
crawl that was killed continues where it stopped, and one that is done requests nothing and has the same result.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import lru_cache
from queue import SimpleQueue
from typing import NamedTuple

from shadowprobe.build.archive import Entry, key_of
from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.shards import PageArchive
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.fetch import Fetcher, WebResponse, may_pass, not_html
from shadowprobe.build.web.politeness import REFUSALS, Frontier, Host, Manners, Rules, host_of, origin_of
from shadowprobe.errors import BuildError
from shadowprobe.net.addresses import PRIVATE
from shadowprobe.net.blocking import LoopThread
from shadowprobe.net.failures import NoResponseError, RefusedError
from shadowprobe.net.retries import PASSING, pause_before, retry_after
from shadowprobe.net.urls import REDIRECTS, join_url, normalise_url

__all__ = ["MISSING", "Manners", "crawl"]

Progress = Callable[[int, int], None]
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
# A longer pause than this is not waited for.
LONGEST_RETRY_AFTER = 120.0
# A host that leaves so many pages in a row without any answer gets no further requests.
SILENCE = 3
GONE = "the host answers no more"
# After so many silent hosts in a row we check that we are online, with at most so many hosts that answered before.
SILENT_HOSTS, WITNESSES = 50, 3
# The outcome of a page that a read-only archive does not have.
MISSING = "not in the archive"
# Reasons for which a page is not dead, so that an archived copy would be the same, or would go round a refusal.
_ALIVE = (*REFUSALS, "not HTML", "too large")
_RULES_KEPT = 256


class _End(NamedTuple):
    """The end of the redirects of a URL: a page, a reason why there is none, or a URL that must be requested."""

    url: str
    page: bool = False
    failed: str = ""
    captured: str = ""


class _Visit(NamedTuple):
    """A URL whose outcome is not known yet."""

    number: int
    url: str
    copy: str | None


class _Request:
    """A request: for a page of a visit, or for the robots.txt of an origin."""

    __slots__ = ("origin", "tries", "url", "visit")

    def __init__(self, url: str, visit: _Visit | None = None, origin: str = "") -> None:
        self.url, self.visit, self.origin, self.tries = url, visit, origin, 0


def crawl(
    references: Iterable[WebReference],
    archive: PageArchive,
    manners: Manners,
    progress: Progress | None = None,
    *,
    retry: bool = False,
    is_online: Callable[[], bool] | None = None,
) -> Iterator[Crawled]:
    """Yields the outcome of each URL once, in the order of the references; for a dead page, that of its copy.

    With `retry`, failures that may pass are requested again. `is_online` is called, in another thread, where many
    hosts were silent; without it a host that answered before gets a request.
    """
    copies: dict[str, str | None] = {}
    for reference in references:
        copies[reference.url] = copies.get(reference.url) or reference.archived
    work = _Crawl(archive, manners, retry=retry, is_online=is_online)
    # Outcomes that the archive has are looked up again when it is their turn: to keep all takes more memory than time.
    lacking = [
        visit
        for visit in _list_visits(copies)
        if not isinstance(work.look_up(visit), Crawled) and not archive.read_only
    ]
    awaited, ready = {visit.number for visit in lacking}, dict[int, Crawled]()
    done = len(copies) - len(lacking)
    if progress:
        progress(done, len(copies))
    coming = _in_a_thread(work, lacking)
    try:
        for visit in _list_visits(copies):
            while visit.number in awaited:
                number, outcome = next(coming)
                awaited.remove(number)
                ready[number] = outcome
                done += 1
                if progress:
                    progress(done, len(copies))
                if not awaited:
                    # The last outcome is known a moment before it is stored.
                    deque(coming, maxlen=0)
            yield ready.pop(visit.number) if visit.number in ready else _read_outcome(work, visit)
    finally:
        coming.close()


def _list_visits(copies: Mapping[str, str | None]) -> Iterator[_Visit]:
    return (_Visit(number, url, copy) for number, (url, copy) in enumerate(copies.items()))


def _read_outcome(work: _Crawl, visit: _Visit) -> Crawled:
    outcome = work.look_up(visit)
    return outcome if isinstance(outcome, Crawled) else Crawled(visit.url, failed=MISSING)


def _in_a_thread(work: _Crawl, visits: list[_Visit]) -> Generator[tuple[int, Crawled], None, None]:
    """Yields the outcomes as they become known; the caller may have an event loop of its own."""
    results: SimpleQueue[tuple[int, Crawled] | None] = SimpleQueue()
    thread = LoopThread("crawl")
    crawling = thread.start(work.run(visits, lambda number, outcome: results.put((number, outcome))))
    crawling.add_done_callback(lambda _: results.put(None))
    try:
        while (result := results.get()) is not None:
            yield result
        crawling.result()
    finally:
        crawling.cancel()
        thread.run(work.close())
        thread.close()


class _Crawl:
    """One crawl: what the archive has, and what is still to be requested."""

    def __init__(
        self, archive: PageArchive, manners: Manners, *, retry: bool, is_online: Callable[[], bool] | None
    ) -> None:
        self._archive, self._manners, self._is_online = archive, manners, is_online
        self._frontier: Frontier[_Request] = Frontier(manners.per_host)
        self._waiting: dict[str, list[_Visit]] = {}
        # Failures that could be those of our own connection; the next answer of anybody shows that they are not.
        self._doubtful: dict[str, tuple[str, str]] = {}
        self._silent: set[str] = set()
        # Failures of an earlier crawl that do not count in this one.
        self._again = set(filter(self._may_pass, archive.keys())) if retry and not archive.read_only else set()
        self._robots: set[str] = set()
        self._fetcher: Fetcher | None = None
        self._rules = lru_cache(_RULES_KEPT)(self._read_rules)

    def look_up(self, visit: _Visit) -> Crawled | str:
        """Returns the outcome of a visit, or the URL that must be requested next."""
        end = self._follow(visit.url)
        if end.failed and visit.copy and not end.failed.startswith(_ALIVE):
            copy = self._follow(visit.copy)
            end = copy._replace(failed=f"{end.failed}, its copy too") if copy.failed else copy
        if end.failed:
            return Crawled(visit.url, failed=end.failed)
        return Crawled(visit.url, key_of("GET", end.url), captured=end.captured) if end.page else end.url

    def _follow(self, url: str, *, robots: bool = False) -> _End:
        seen: set[str] = set()
        try:
            url = normalise_url(url)
            while (entry := self._find(url)) is not None:
                if entry.failed:
                    return _End(url, failed=entry.failed)
                if entry.status not in REDIRECTS:
                    why = "" if robots else not_html(entry.kind)
                    return _End(url, page=not why, failed=why, captured=entry.captured)
                seen.add(url)
                url = join_url(url, entry.location)
                if url in seen:
                    return _End(url, failed="redirect loop")
                if len(seen) > self._manners.redirects:
                    return _End(url, failed="too many redirects")
        except RefusedError as error:
            return _End(url, failed=str(error))
        return _End(url)

    def _find(self, url: str) -> Entry | None:
        key = key_of("GET", url)
        if key in self._doubtful:
            return Entry(key, 0, 0, self._doubtful[key][1])
        return None if key in self._again else self._archive.find(key)

    def _may_pass(self, key: str) -> bool:
        failed = self._archive.failure(key)
        # What was not allowed then may be allowed now.
        return failed == GONE or may_pass(failed) or (failed == PRIVATE and bool(self._manners.allow_private))

    async def run(self, visits: list[_Visit], report: Callable[[int, Crawled], None]) -> None:
        """Requests pages until the archive lacks nothing of the visits."""
        self._report = report
        self._fetcher = fetcher = Fetcher(self._manners)
        loop = asyncio.get_running_loop()
        running: dict[asyncio.Task[WebResponse | NoResponseError], tuple[Host[_Request], _Request]] = {}
        try:
            for visit in visits:
                self._go_on(visit)
            while running or self._frontier.next_due() is not None:
                while len(running) < self._manners.total and (turn := self._frontier.take(loop.time())):
                    if self._settled(*turn):
                        self._end(*turn, 0.0)
                    else:
                        running[loop.create_task(_ask(fetcher, turn[1]))] = turn
                due = self._frontier.next_due() if len(running) < self._manners.total else None
                pause = None if due is None else max(0.0, due - loop.time())
                if not running:
                    await asyncio.sleep(pause or 0.0)
                    continue
                done, _ = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._receive(*running.pop(task), task.result(), loop.time())
                if len(self._silent) >= SILENT_HOSTS:
                    await self._make_sure(fetcher)
            if self._doubtful:
                await self._make_sure(fetcher, at_the_end=True)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def close(self) -> None:
        """Closes the connections."""
        if self._fetcher is not None:
            await self._fetcher.close()

    async def _make_sure(self, fetcher: Fetcher, *, at_the_end: bool = False) -> None:
        """Believes that silent hosts are dead if we are online; at the end also if that cannot be known."""
        if self._is_online is not None:
            online: bool | None = await asyncio.to_thread(self._is_online)
        else:
            online = await self._is_heard(fetcher)
        if online is False or not (online or at_the_end):
            many = f"{len(self._silent)} hosts in a row were" if len(self._silent) > 1 else f"{min(self._silent)} was"
            raise BuildError(
                f"{many} silent, and nobody else can be reached: is there a way to the web? Once there is, the same"
                " command goes on from here"
            )
        self._believe()

    async def _is_heard(self, fetcher: Fetcher) -> bool | None:
        """True where a host answers that has answered before; None where there is no such host."""
        origins: dict[str, str] = {}
        for key in reversed(list(self._archive.keys())):
            failed, url = self._archive.failure(key), key.split(" ")[1]
            if (not failed or failed.isdecimal()) and host_of(url) not in self._silent and len(origins) < WITNESSES:
                origins[host_of(url)] = origin_of(url)
        for origin in origins.values():
            answer = await _ask(fetcher, _Request(f"{origin}/robots.txt", origin=origin))
            if isinstance(answer, WebResponse) or not answer.silent:
                return True
        return False if origins else None

    def _go_on(self, visit: _Visit) -> None:
        """Follows a visit as far as the archive goes, and queues the next request."""
        while not isinstance(url := self.look_up(visit), Crawled):
            origin = origin_of(url)
            rules = self._rules(origin) if self._robots_known(origin) else None
            if rules is None:
                others = self._waiting.setdefault(origin, [])
                others.append(visit)
                if len(others) == 1:
                    self._ask_robots(origin)
                return
            why = rules.refusal(url, self._manners.longest_delay)
            if not why:
                self._frontier.add(host_of(url), _Request(url, visit))
                return
            self._fail(url, why, doubtful=self._is_doubtful(origin))
        self._report(visit.number, url)

    def _ask_robots(self, origin: str) -> None:
        """Follows the redirects of a robots.txt; at their end the visits that waited for it continue."""
        end = self._follow(f"{origin}/robots.txt", robots=True)
        if not end.page and not end.failed:
            self._frontier.add(host_of(end.url), _Request(end.url, origin=origin), first=True)
            return
        for visit in self._waiting.pop(origin, ()):
            self._go_on(visit)

    def _robots_known(self, origin: str) -> bool:
        if origin not in self._robots:
            end = self._follow(f"{origin}/robots.txt", robots=True)
            if not end.page and not end.failed:
                return False
            self._robots.add(origin)
        return True

    def _is_doubtful(self, origin: str) -> bool:
        return key_of("GET", self._follow(f"{origin}/robots.txt", robots=True).url) in self._doubtful

    def _read_rules(self, origin: str) -> Rules:
        end = self._follow(f"{origin}/robots.txt", robots=True)
        stored = self._archive.get(key_of("GET", end.url)) if end.page else None
        return Rules(stored.body if stored else b"", end.failed)

    def _settled(self, host: Host[_Request], request: _Request) -> bool:
        """True where a request is not needed any more, or is of no use."""
        if self._find(request.url) is None and host.silent >= SILENCE:
            self._fail(request.url, GONE, doubtful=bool(self._doubtful))
        return self._find(request.url) is not None

    def _receive(
        self, host: Host[_Request], request: _Request, answer: WebResponse | NoResponseError, now: float
    ) -> None:
        """Stores a response, or queues the request again."""
        pause = self._pause(request, answer)
        if pause is not None:
            request.tries += 1
            self._frontier.add(host_of(request.url), request, first=True)
            self._frontier.release(host, now + pause)
            return
        if isinstance(answer, NoResponseError) and answer.silent:
            host.silent += 1
            self._silent.add(host_of(request.url))
            self._fail(request.url, str(answer), doubtful=True)
        else:
            host.silent = 0
            self._believe()
            self._store(request, answer)
        self._end(host, request, now + self._delay(request))

    def _end(self, host: Host[_Request], request: _Request, not_before: float) -> None:
        self._frontier.release(host, not_before)
        if request.visit is not None:
            self._go_on(request.visit)
        else:
            self._ask_robots(request.origin)

    def _pause(self, request: _Request, answer: WebResponse | NoResponseError) -> float | None:
        """How long to wait before the next try; None where there is none."""
        if request.tries >= self._manners.retries:
            return None
        pause = pause_before(request.tries, FIRST_PAUSE, LONGEST_PAUSE)
        if isinstance(answer, NoResponseError):
            return max(pause, self._delay(request)) if answer.passing else None
        if answer.status not in PASSING:
            return None
        wanted = retry_after(answer.headers)
        pause = max(pause if wanted is None else wanted, self._delay(request))
        return pause if pause <= LONGEST_RETRY_AFTER else None

    def _delay(self, request: _Request) -> float:
        """The pause that a host gets between two requests."""
        known = not request.origin or self._robots_known(request.origin)
        rules = self._rules(request.origin or origin_of(request.url)) if known else None
        wanted = rules.delay if rules is not None else 0.0
        return max(self._manners.delay, min(wanted, self._manners.longest_delay))

    def _store(self, request: _Request, answer: WebResponse | NoResponseError) -> None:
        url = request.url
        self._again.discard(key_of("GET", url))
        if isinstance(answer, NoResponseError):
            self._fail(url, str(answer))
        elif answer.status in REDIRECTS and "location" not in answer.headers:
            self._fail(url, "a redirect to nowhere")
        elif answer.status in REDIRECTS or 200 <= answer.status < 300:
            stored = Stored(url, answer.status, answer.headers, answer.body, reason=answer.reason)
            self._archive.put(key_of("GET", url), stored)
        else:
            self._fail(url, str(answer.status))

    def _fail(self, url: str, why: str, *, doubtful: bool = False) -> None:
        self._again.discard(key_of("GET", url))
        if doubtful:
            self._doubtful[key_of("GET", url)] = url, why
        else:
            self._archive.put_failure(key_of("GET", url), url, why)

    def _believe(self) -> None:
        """Stores the failures of others, now that it is known that we are online."""
        for key, (url, why) in self._doubtful.items():
            self._archive.put_failure(key, url, why)
        self._doubtful.clear()
        self._silent.clear()


async def _ask(fetcher: Fetcher, request: _Request) -> WebResponse | NoResponseError:
    try:
        return await fetcher.get(request.url, robots=bool(request.origin))
    except NoResponseError as error:
        return error
