"""The base class of linkers that are web services."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import threading
import time
from collections.abc import Coroutine, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import urlsplit, urlunsplit

from shadowprobe.errors import ItemError, LinkerError
from shadowprobe.linker import Linker
from shadowprobe.model import Failure, Prediction, Snippet

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
# Statuses that may be gone at the next try.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
# A service that asks for a longer pause than this is not waited for.
LONGEST_RETRY_AFTER = 300.0
# So many snippets in a row without any connection, and a service that once answered is given up.
GONE = 8
SHOWN = 120


class Request(NamedTuple):
    """What goes out for one snippet: as `httpx.Request` takes it."""

    method: str
    url: str
    params: Mapping[str, str] | None = None
    json: Any = None
    data: Mapping[str, str] | None = None
    content: str | bytes | None = None
    headers: Mapping[str, str] | None = None


class WebLinker(Linker):
    """A linker behind a URL: a wrapper writes `request` and `parse`, the rest is done here.

    Requests go out side by side, no more than `concurrency` at a time and `rate` a second. What may pass (429, 5xx,
    time-outs, broken connections) is tried again after a growing, jittered pause, or after the one that Retry-After
    asks for. What does not pass is a failure of its one snippet. A service that cannot be reached at all stops the
    run at once. A token comes from the environment variable `SHADOWPROBE_NAME_TOKEN` and reaches no message.
    """

    endpoint: ClassVar[str] = ""
    batch_size: ClassVar[int] = 256

    def __init__(
        self, url: str = "", concurrency: int = 8, rate: float = 0.0, timeout: float = 30.0, retries: int = 4
    ) -> None:
        if concurrency < 1 or retries < 0 or rate < 0 or timeout <= 0:
            raise ValueError("concurrency must be at least 1, timeout above 0, rate and retries not below 0")
        self.url = url or self.endpoint
        self.concurrency, self.rate, self.timeout, self.retries = concurrency, rate, timeout, retries

    def request(self, snippet: Snippet) -> Request:
        """What to send for a snippet."""
        raise NotImplementedError(f"{type(self).__name__} must define request()")

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """What an answer with a status of 2xx says of the snippet; any error in here is the snippet's failure."""
        raise NotImplementedError(f"{type(self).__name__} must define parse()")

    @property
    def token_variable(self) -> str:
        """The environment variable that holds the token."""
        return f"SHADOWPROBE_{self.name.upper().replace('-', '_')}_TOKEN"

    @property
    def token(self) -> str:
        """The token, for `request` to send; never to be shown."""
        token = os.environ.get(self.token_variable, "")
        if not token:
            raise LinkerError(f"`{self.name}` needs a token: set the environment variable {self.token_variable}")
        return token

    def setup(self) -> None:
        """Starts the loop in which requests wait for their answers; a notebook's own loop is left alone."""
        import httpx

        if not urlsplit(self.url).scheme.startswith("http"):
            raise LinkerError(f"`{self.name}` needs the URL of its service: add -o url=http://HOST:PORT/PATH")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"{self.name}-requests", daemon=True)
        self._thread.start()
        limits = httpx.Limits(max_connections=self.concurrency, max_keepalive_connections=self.concurrency)
        self._client = httpx.AsyncClient(limits=limits, timeout=self.timeout, follow_redirects=True)
        self._slots = asyncio.Semaphore(self.concurrency)
        self._not_before = self._next_slot = 0.0
        self._ever_reached, self._unreached, self._gone = False, 0, ""
        # httpx logs every URL with its query, where some services want the token.
        logging.getLogger("httpx").addFilter(self._clean_record)

    def close(self) -> None:
        """Lets go of the connections and ends the loop."""
        logging.getLogger("httpx").removeFilter(self._clean_record)
        if hasattr(self, "_loop") and not self._loop.is_closed():
            self._wait(self._client.aclose())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Asks for every snippet; what was answered before a service went away is still returned."""
        self._raise_if_gone()
        answers = self._wait(self._link_all(snippets))
        if not any(isinstance(answer, Prediction) for answer in answers):
            self._raise_if_gone()
        return answers

    def _raise_if_gone(self) -> None:
        if self._gone:
            raise LinkerError(self._gone)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _link_all(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._link_one(snippet)) for snippet in snippets]
        return [task.result() for task in tasks]

    async def _link_one(self, snippet: Snippet) -> Prediction | Failure:
        async with self._slots:
            try:
                if self._gone:
                    raise ItemError(self._gone)
                response = await self._send(self._request(snippet))
                return self._parse(response, snippet)
            except ItemError as error:
                return self.fail(snippet, self._clean(str(error)))
            except LinkerError as error:
                self._gone = self._clean(str(error))
                return self.fail(snippet, self._gone)

    def _request(self, snippet: Snippet) -> Request:
        try:
            return self.request(snippet)
        except LinkerError:
            raise
        except Exception as error:
            raise ItemError(f"the request cannot be made ({type(error).__name__}: {error})") from error

    def _parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        try:
            return self.parse(response, snippet)
        except LinkerError:
            raise
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
            raise ItemError(f"the answer cannot be read ({problem}): {self._shown(response)!r}") from error

    async def _send(self, request: Request) -> httpx.Response:
        """The answer to a request, after as many tries as it takes or may take."""
        import httpx

        where, problem = _without_query(request.url), ""
        try:
            built = self._client.build_request(
                request.method,
                request.url,
                params=request.params,
                json=request.json,
                data=request.data,
                content=request.content,
                headers=request.headers,
            )
        except httpx.InvalidURL as error:
            raise ItemError(f"{where}: {error}") from None
        for attempt in range(self.retries + 1):
            await self._turn()
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt) * random.uniform(0.5, 1.5)
            try:
                async with asyncio.timeout(self.timeout):
                    response = await self._client.send(built)
            except (TimeoutError, httpx.TimeoutException):
                problem = f"{where}: no answer in {self.timeout:g} s"
            except httpx.ConnectError as error:
                problem = f"{where}: no connection ({error})"
                self._note_unreached(problem)
            except httpx.HTTPError as error:
                problem = f"{where}: {type(error).__name__}: {error}"
            else:
                self._ever_reached, self._unreached = True, 0
                if response.is_success:
                    return response
                problem = f"{where}: {response.status_code} {response.reason_phrase}"
                self._raise_if_final(response, problem)
                pause = _retry_after(response) or pause
                if pause > LONGEST_RETRY_AFTER:
                    raise LinkerError(f"{problem}: it asks for a pause of {pause:.0f} s; try again later")
                # It is the service that is busy and not this snippet: everyone waits.
                self._not_before = max(self._not_before, time.monotonic() + pause)
                continue
            if attempt < self.retries:
                await asyncio.sleep(pause)
        raise ItemError(f"{problem}, {self.retries + 1} times")

    async def _turn(self) -> None:
        """Waits for the end of a pause that the service asked for, then for the next slot under the rate."""
        while (wait := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        if self.rate:
            now = time.monotonic()
            slot = max(now, self._next_slot)
            self._next_slot = slot + 1 / self.rate
            await asyncio.sleep(slot - now)

    def _note_unreached(self, problem: str) -> None:
        """Gives a service up that was never there, or that has gone away for good."""
        self._unreached += 1
        if not self._ever_reached:
            raise LinkerError(f"{problem}: is the service of `{self.name}` running? -o url=... names another address")
        if self._unreached >= GONE * (self.retries + 1):
            raise LinkerError(f"{problem}: the service answered before, and has gone away; run the command again later")

    def _raise_if_final(self, response: httpx.Response, problem: str) -> None:
        if response.status_code in {401, 403}:
            raise LinkerError(f"{problem}: is the token in {self.token_variable} right?")
        if response.status_code not in PASSING:
            raise ItemError(f"{problem}: {self._shown(response)!r}")

    def _shown(self, response: httpx.Response) -> str:
        """The beginning of an answer, on one line; the token goes before the cut, which could leave half of it."""
        return " ".join(self._clean(response.text)[:SHOWN].split())

    def _clean(self, text: str) -> str:
        """A message without the token, should a service or a library repeat it."""
        token = os.environ.get(self.token_variable, "")
        return text.replace(token, "***") if token else text

    def _clean_record(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._clean(record.getMessage()), ()
        return True


def _without_query(url: str) -> str:
    """A URL as it may be shown: without its query, where some services want the token, and without a password."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _retry_after(response: httpx.Response) -> float | None:
    """The pause in seconds that an answer asks for, given as a number or as a date."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
