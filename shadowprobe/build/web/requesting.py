"""Requests pages politely until the archive lacks nothing of some visits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping
from queue import SimpleQueue

from msgspec import Struct

from shadowprobe.build.archive import key_of
from shadowprobe.build.records import Crawled
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.fetch import Fetcher
from shadowprobe.build.web.outcomes import GONE, Outcomes, Visit
from shadowprobe.build.web.politeness import Frontier, Host, Manners, host_of, origin_of
from shadowprobe.build.web.silence import Silence
from shadowprobe.net.blocking import LoopThread
from shadowprobe.net.failures import NoResponseError
from shadowprobe.net.retries import PASSING, pause_before, retry_after
from shadowprobe.net.urls import REDIRECTS

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
# A longer pause than this is not waited for.
LONGEST_RETRY_AFTER = 120.0
# A host that leaves so many pages in a row without any answer gets no further requests.
SILENCE = 3


class HostState(Struct, frozen=True):
    """What the next part must know of a host: how often in a row it was silent, and how long it must be left alone."""

    silent: int = 0
    seconds: float = 0.0


class Share(Struct, frozen=True):
    """The share of one of several workers: its hosts, what is known of them, and the seconds until it should end.

    Each host gets its pause before the first request too: an earlier worker may have asked it a moment ago.
    """

    is_own: Callable[[str], bool]
    hosts: Mapping[str, HostState]
    seconds: float


class _Request(Struct, eq=False):
    """A request: for a page of a visit, or for the robots.txt of an origin."""

    url: str
    visit: Visit | None = None
    origin: str = ""
    tries: int = 0


class Requester:
    """One crawl: what the archive has, and what is still to be requested.

    With a share, a visit that leads to a host of another worker ends there without an outcome.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        manners: Manners,
        *,
        is_online: Callable[[], bool],
        share: Share | None = None,
    ) -> None:
        self._outcomes, self._archive, self._manners = outcomes, outcomes.archive, manners
        self._silence, self._share = Silence(outcomes, is_online), share
        self._frontier: Frontier[_Request] = Frontier()
        self._waiting: dict[str, list[Visit]] = {}
        self._fetcher: Fetcher | None = None
        self._report: Callable[[int, Crawled], None] = lambda number, outcome: None
        # True when a share has to end: then only what was tried before is requested.
        self._is_ending = False

    def run_in_thread(self, visits: Iterable[Visit]) -> Generator[tuple[int, Crawled], None, None]:
        """Yields the outcomes as they become known; the caller may have an event loop of its own."""
        results: SimpleQueue[tuple[int, Crawled] | None] = SimpleQueue()
        self._report = lambda number, outcome: results.put((number, outcome))
        thread = LoopThread("crawl")
        crawling = thread.start(self._run(visits))
        crawling.add_done_callback(lambda _: results.put(None))
        try:
            while (result := results.get()) is not None:
                yield result
            crawling.result()
        finally:
            crawling.cancel()
            thread.run(self._close())
            thread.close()

    def list_hosts(self, now: float) -> dict[str, HostState]:
        """Lists the hosts that had a turn, with what the next part must know of them from now on."""
        return {
            name: HostState(host.silent, max(0.0, host.not_before - now)) for name, host in self._frontier.hosts.items()
        }

    async def _run(self, visits: Iterable[Visit]) -> None:
        """Requests pages until the archive lacks nothing of the visits."""
        self._fetcher = fetcher = Fetcher(self._manners)
        loop = asyncio.get_running_loop()
        end = None if self._share is None else loop.time() + self._share.seconds
        running: dict[asyncio.Task[Stored | NoResponseError], tuple[Host[_Request], _Request]] = {}
        has_requested = False
        try:
            for visit in visits:
                self._go_on(visit)
            while running or self._frontier.next_due() is not None:
                # Every share makes at least one request, so that it goes on at all.
                if end is not None and has_requested and not self._is_ending and loop.time() >= end:
                    self._begin_end()
                while len(running) < self._manners.total and (turn := self._frontier.take(loop.time())):
                    if self._is_settled(*turn):
                        self._end(*turn, 0.0)
                    else:
                        running[loop.create_task(_ask(fetcher, turn[1]))] = turn
                        has_requested = True
                due = self._frontier.next_due() if len(running) < self._manners.total else None
                pause = None if due is None else max(0.0, due - loop.time())
                if not running:
                    await asyncio.sleep(pause or 0.0)
                    continue
                done, _ = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._receive(*running.pop(task), task.result(), loop.time())
                if self._silence.is_long:
                    await self._silence.make_sure()
            if self._outcomes.doubtful:
                await self._silence.make_sure()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _close(self) -> None:
        """Closes the connections."""
        if self._fetcher is not None:
            await self._fetcher.close()

    def _begin_end(self) -> None:
        """Drops what was not tried yet; a pause that a host asked for is still waited for."""
        self._is_ending = True
        self._frontier.drop(lambda request: not request.tries)

    def _go_on(self, visit: Visit) -> None:
        """Follows a visit as far as the archive goes, and queues the next request."""
        while not isinstance(url := self._outcomes.look_up(visit), Crawled):
            origin = origin_of(url)
            if not self._outcomes.has_rules(origin):
                others = self._waiting.setdefault(origin, [])
                others.append(visit)
                if len(others) == 1:
                    self._ask_robots(origin)
                return
            if not self._is_own(url):
                return
            why = self._outcomes.read_rules(origin).refusal(url, self._manners.longest_delay)
            if not why:
                self._queue(_Request(url, visit))
                return
            self._silence.fail(url, why, doubtful=self._outcomes.has_doubtful_rules(origin))
        self._report(visit.number, url)

    def _ask_robots(self, origin: str) -> None:
        """Follows the redirects of a robots.txt; at their end the visits that waited for it continue."""
        end = self._outcomes.follow_robots(origin)
        if not end.is_known:
            if self._is_own(end.url):
                self._queue(_Request(end.url, origin=origin), first=True)
            else:
                self._waiting.pop(origin, None)
            return
        for visit in self._waiting.pop(origin, ()):
            self._go_on(visit)

    def _is_own(self, url: str) -> bool:
        return self._share is None or self._share.is_own(url)

    def _queue(self, request: _Request, *, first: bool = False) -> None:
        if self._is_ending and not request.tries:
            return
        name = host_of(request.url)
        if self._share is not None and name not in self._frontier.hosts:
            state = self._share.hosts.get(name, HostState())
            pause = max(state.seconds, self._delay(request))
            self._frontier.hosts[name] = Host(state.silent, asyncio.get_running_loop().time() + pause)
        self._frontier.add(name, request, first=first)

    def _is_settled(self, host: Host[_Request], request: _Request) -> bool:
        """True where a request is not needed any more, or is of no use."""
        if self._outcomes.find(request.url) is None and host.silent >= SILENCE:
            self._silence.fail(request.url, GONE, doubtful=bool(self._outcomes.doubtful))
        return self._outcomes.find(request.url) is not None

    def _receive(self, host: Host[_Request], request: _Request, answer: Stored | NoResponseError, now: float) -> None:
        """Stores a response, or queues the request again."""
        pause = self._pause(request, answer)
        if pause is not None:
            request.tries += 1
            self._queue(request, first=True)
            self._frontier.release(host, now + pause)
            return
        if isinstance(answer, NoResponseError) and answer.silent:
            host.silent += 1
            self._silence.add(request.url, str(answer))
        else:
            host.silent = 0
            self._silence.end()
            self._store(request, answer)
        self._end(host, request, now + self._delay(request))

    def _end(self, host: Host[_Request], request: _Request, not_before: float) -> None:
        self._frontier.release(host, not_before)
        if request.visit is not None:
            self._go_on(request.visit)
        else:
            self._ask_robots(request.origin)

    def _pause(self, request: _Request, answer: Stored | NoResponseError) -> float | None:
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
        origin = request.origin or origin_of(request.url)
        wanted = self._outcomes.read_rules(origin).delay if self._outcomes.has_rules(origin) else 0.0
        return max(self._manners.delay, min(wanted, self._manners.longest_delay))

    def _store(self, request: _Request, answer: Stored | NoResponseError) -> None:
        url = request.url
        if isinstance(answer, NoResponseError):
            self._silence.fail(url, str(answer))
        elif answer.status in REDIRECTS and "location" not in answer.headers:
            self._silence.fail(url, "a redirect to nowhere")
        elif answer.status in REDIRECTS or 200 <= answer.status < 300:
            self._archive.put(key_of("GET", url), answer)
        else:
            self._silence.fail(url, str(answer.status))


async def _ask(fetcher: Fetcher, request: _Request) -> Stored | NoResponseError:
    """Sends a request; returns the error if there is no answer."""
    try:
        return await fetcher.get(request.url, robots=bool(request.origin))
    except NoResponseError as error:
        return error
