"""One web service: requests side by side, sent again where that helps, until the service is given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from shadowprobe.base.secrets import shorten_url
from shadowprobe.errors import ItemError, LinkerError
from shadowprobe.net.failures import ConnectionFailedError, NoResponseError, OtherServerError, RedirectError
from shadowprobe.net.limits import Limits
from shadowprobe.net.retries import pause_before, retry_after

if TYPE_CHECKING:
    import httpx

    from shadowprobe.systems.web_linker import WebLinker

BUSY = 429
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# A longer pause than this is not waited for.
LONGEST_RETRY_AFTER = 300.0
# A service that answered before is given up after so many snippets in a row without a useful response.
GONE = 8
# After so many failures in a row it is the service that is in trouble, and not one request: all requests pause.
IN_TROUBLE = 4


class Request(NamedTuple):
    """What goes out for one snippet: as `httpx.Request` takes it."""

    method: str
    url: str
    params: Mapping[str, str] | None = None
    json: Any = None
    data: Mapping[str, str] | None = None
    content: str | bytes | None = None
    headers: Mapping[str, str] | None = None


class ServiceClient:
    """The service of a linker; it belongs to one event loop.

    The linker says which responses are final (`refuse`), and hides its token in messages.
    """

    def __init__(self, linker: WebLinker) -> None:
        from shadowprobe.net.client import Client

        self._linker, self._client = linker, Client()
        self._slots = asyncio.Semaphore(linker.concurrency)
        self._not_before = self._next_slot = 0.0
        self._ever_reached = self.has_answered = False
        self._fruitless = self._retried = 0
        self._retry_reason = ""
        # Why no further request is sent; empty as long as there is no reason.
        self.gone = ""

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    @property
    def status(self) -> str:
        """How often a request was sent again, and why the last time."""
        if not self._retried:
            return ""
        return f"{self._retried} {'retry' if self._retried == 1 else 'retries'}, last after {self._retry_reason}"

    async def send(self, request: Request) -> httpx.Response:
        """The response to a request, after as many tries as are needed and allowed."""
        linker = self._linker
        where, problem, body, busy = shorten_url(request.url), "", "", 0
        limits, has_token = Limits(seconds=linker.timeout), bool(linker.optional_token)
        async with _Slot(self._slots) as slot:
            for attempt in range(linker.retries + 1):
                await slot.take()
                await self._turn()
                request = linker.adapt(request)
                built = _build(request)
                pause, all_wait = pause_before(attempt, FIRST_PAUSE, LONGEST_PAUSE), False
                try:
                    response = await self._client.send(built, limits, stay=has_token)
                except NoResponseError as error:
                    reason = error.message
                    problem = f"{where}: {reason}"
                    self._refuse_failure(error, where)
                else:
                    self._ever_reached = True
                    if response.is_success:
                        self.has_answered, self._fruitless = True, 0
                        return response
                    reason = f"{response.status_code} {response.reason_phrase}"
                    problem = f"{where}: {reason}"
                    if (other := linker.adapt(request, response)) != request:
                        slot.release()
                        return await self.send(other)
                    linker.refuse(response, problem)
                    body = linker.beginning_of(response)
                    wanted = retry_after(response.headers)
                    pause = wanted or pause
                    if wanted is None and response.status_code != BUSY:
                        self._note_fruitless(quote_response(problem, body))
                    else:
                        all_wait = True
                        busy += 1
                    if pause > LONGEST_RETRY_AFTER:
                        raise LinkerError(f"{problem}: it asks for a pause of {pause:.0f} s; try again later")
                if all_wait or self._fruitless >= IN_TROUBLE:
                    self._not_before = max(self._not_before, time.monotonic() + pause)
                else:
                    slot.release()
                if attempt < linker.retries:
                    self._retried, self._retry_reason = self._retried + 1, linker.without_token(reason)
                    await asyncio.sleep(pause)
        raise self._explain_failure(problem, body, busy)

    def _refuse_failure(self, error: NoResponseError, where: str) -> None:
        """Raises for a failure that trying again would not change: ItemError, or LinkerError for all."""
        problem = f"{where}: {error.message}"
        if isinstance(error, OtherServerError):
            target = shorten_url(error.target)
            raise LinkerError(f"{where}: redirects to {target}, which is not sent the token: -o url=... to trust it")
        if isinstance(error, RedirectError):
            raise LinkerError(f"{problem}: -o url=... names another address")
        if isinstance(error, ConnectionFailedError):
            self._note_unreached(problem)
        elif error.passing:
            self._note_fruitless(problem)
        else:
            raise ItemError(problem)

    def _explain_failure(self, problem: str, body: str, busy: int) -> ItemError:
        """The failure of a snippet that has had all its tries, at so many of which the service was busy."""
        if busy:
            # That says nothing, but a service that stays so for snippet after snippet lets nobody in any more.
            self._note_fruitless(quote_response(problem, body), busy)
        times = f"{self._linker.retries + 1} times" if self._linker.retries else "once"
        return ItemError(f"{problem}, {times}" + (f"; at last: {body!r}" if body else ""))

    async def _turn(self) -> None:
        """Waits for the end of a pause that the service wants, then for the next slot under the rate."""
        if self.gone:
            raise ItemError(self.gone)
        while (wait := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        if self._linker.rate:
            now = time.monotonic()
            slot = max(now, self._next_slot)
            self._next_slot = slot + 1 / self._linker.rate
            await asyncio.sleep(slot - now)

    def _note_unreached(self, problem: str) -> None:
        """Gives a service up that was never there, or that has gone away for good."""
        if not self._ever_reached:
            raise LinkerError(
                f"{problem}: is the service of `{self._linker.name}` running? -o url=... names another address"
            )
        self._note_fruitless(problem)

    def _note_fruitless(self, problem: str, tries: int = 1) -> None:
        """Gives a service up that says nothing useful: a text that it cannot bear is one, and not many in a row."""
        self._fruitless += tries
        # Two rounds of all that is under way for one that never answered.
        patience = GONE * (self._linker.retries + 1) if self.has_answered else 2 * max(GONE, self._linker.concurrency)
        if self._fruitless >= patience:
            before = "answered before, and does so no more" if self.has_answered else "has not answered once"
            raise LinkerError(f"{problem}: the service {before}; run the command again later")


class _Slot:
    """A place among the requests under way: a request that pauses alone leaves it to another."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots, self._is_taken = slots, False

    async def __aenter__(self) -> _Slot:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()

    async def take(self) -> None:
        """Waits for a free place, unless this request still has one."""
        if not self._is_taken:
            await self._slots.acquire()
            self._is_taken = True

    def release(self) -> None:
        """Leaves the place."""
        if self._is_taken:
            self._is_taken = False
            self._slots.release()


@lru_cache(64)
def _parse_url(url: str) -> httpx.URL:
    """A URL as httpx reads it; most services have one for all requests."""
    import httpx

    return httpx.URL(url)


def _build(request: Request) -> httpx.Request:
    import httpx

    try:
        return httpx.Request(**request._asdict() | {"url": _parse_url(request.url)})
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ItemError(f"{shorten_url(request.url)}: the request cannot be made ({why})") from None


def quote_response(problem: str, body: str) -> str:
    """A problem with the beginning of the response, if there is any."""
    return f"{problem}: {body!r}" if body else problem
