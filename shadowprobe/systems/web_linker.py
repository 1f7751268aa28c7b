"""The base class of linkers that are web services."""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec.structs import replace

from shadowprobe.base.model import Failure, Prediction, Snippet
from shadowprobe.base.secrets import mask_url, read_password, shorten_url
from shadowprobe.errors import ItemError, LinkerError, ShadowprobeError, format_error
from shadowprobe.net.blocking import LoopThread
from shadowprobe.net.failures import RefusedError
from shadowprobe.net.retries import PASSING
from shadowprobe.net.urls import check_url
from shadowprobe.systems.linker import Linker
from shadowprobe.systems.masking import mask_content, mask_prediction, mask_secrets
from shadowprobe.systems.replies import Reply, ReplyWriter, question_key, read_replies
from shadowprobe.systems.service_client import Request, ServiceClient, quote_response

if TYPE_CHECKING:
    import httpx

MOST_AT_ONCE, SLOWEST = 1024, 0.001
# So many snippets for each request that may be under way: others go on while some pause before they are sent again.
AHEAD = 4
# Answers that arrive within this time are stored together: to wake up for each of them costs as much as to send it.
GATHER_SECONDS = 0.005
SHOWN = 120


class WebLinker(Linker):
    """A linker behind a URL: a wrapper writes `request` and `parse`, the rest is done here.

    Requests go out side by side, no more than `concurrency` at a time and `rate` a second. What may pass (429, 5xx,
    time-outs, broken connections) is tried again after a growing, jittered pause, or after the one that Retry-After
    asks for. All requests pause after a 429, a Retry-After or several failures in a row; otherwise only the one that
    failed. What does not pass is a failure of its one snippet. A service that cannot be reached at all stops the run
    at once. A token comes from the environment variable `SHADOWPROBE_NAME_TOKEN` and reaches no message.

    With `keep_replies` every reply that `parse` gets is kept in a file as it came, and with `from_replies` such a file
    takes the place of the service.
    """

    endpoint: ClassVar[str] = ""
    keep_replies: Path | None = None
    from_replies: Path | None = None
    _is_open: bool = False
    _service: ServiceClient
    batch_size: ClassVar[int] = 256
    # A run may go on with other values of these.
    incidental: ClassVar[frozenset[str]] = frozenset({"concurrency", "rate", "timeout", "retries"})
    # True for a service that answers nobody without a token: it is missed before the first request.
    needs_token: ClassVar[bool] = False
    # Where a user gets one.
    token_source: ClassVar[str] = ""
    # True where `parse` may wait for something; it is then called in other threads, while the loop goes on.
    parse_may_wait: ClassVar[bool] = False
    option_help: ClassVar[dict[str, str]] = {
        "url": "the address of the service",
        "concurrency": "requests under way at once",
        "rate": "requests per second; 0 is no limit",
        "timeout": "seconds for one request",
        "retries": "how often a failed request is sent again",
    }

    def __init__(
        self, url: str = "", concurrency: int = 8, rate: float = 0.0, timeout: float = 30.0, retries: int = 4
    ) -> None:
        if not 1 <= concurrency <= MOST_AT_ONCE:
            raise ValueError(f"concurrency must be from 1 to {MOST_AT_ONCE}")
        if retries < 0 or not 0 < timeout < math.inf:
            raise ValueError("timeout must be a number above 0, and retries not below 0")
        if rate != 0 and not SLOWEST <= rate < math.inf:
            raise ValueError(f"rate must be at least {SLOWEST:g} requests a second, or 0 for no limit")
        self.url = url or self.endpoint
        self.concurrency, self.rate, self.timeout, self.retries = concurrency, rate, timeout, retries

    def request(self, snippet: Snippet) -> Request:
        """What to send for a snippet."""
        raise NotImplementedError(f"{type(self).__name__} must define request()")

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        """What an answer with a status of 2xx says of the snippet; any error in here is the snippet's failure."""
        raise NotImplementedError(f"{type(self).__name__} must define parse()")

    def adapt(self, request: Request, response: httpx.Response | None = None) -> Request:
        """The request as this service takes it; `response` is given if the service has refused that very request.

        A wrapper that knows another way to ask returns another request, which is sent at once.
        """
        return request

    def ready(self) -> str:
        """The address, and whether there is a token."""
        known = f", token from {self.token_variable}" if self.optional_token else ""
        return f"{shorten_url(self.url)}{known}"

    def outgoing(self, snippet: Snippet) -> str:
        """The request as it goes out, without the token."""
        request = self._request(snippet)
        shown = [f"{request.method} {shorten_url(request.url)}"]
        shown += [msgspec.json.encode(part).decode() for part in (request.params, request.data, request.json) if part]
        if request.content:
            content = request.content
            shown.append(content if isinstance(content, str) else content.decode("utf-8", "replace"))
        return self.without_token("\n".join(shown).strip())

    @property
    def token_variable(self) -> str:
        """The environment variable that holds the token."""
        return f"SHADOWPROBE_{self.name.upper().replace('-', '_')}_TOKEN"

    @property
    def token(self) -> str:
        """The token, for `request` to send; never to be shown."""
        if not self.optional_token:
            source = f" ({self.token_source})" if self.token_source else ""
            raise LinkerError(
                f"`{self.name}` needs a token{source}: set the environment variable {self.token_variable}"
            )
        return self.optional_token

    @property
    def optional_token(self) -> str:
        """The token, or nothing, where not everybody needs one; a line break at its end is no part of it."""
        return os.environ.get(self.token_variable, "").strip()

    @property
    def _secrets(self) -> list[str]:
        """What must be in no file and no message: the token, and the password in the URL."""
        return [secret for secret in (self.optional_token, read_password(self.url)) if secret]

    def _check_token(self) -> None:
        """Refuses a token that is missed, or that no header can carry, before the first request."""
        secret = self.token if self.needs_token else self.optional_token
        if not secret.isascii() or not secret.isprintable():
            raise LinkerError(f"{self.token_variable} holds what no token can: a line break, or other than ASCII")

    def _check_url(self) -> None:
        try:
            check_url(self.url, allow_password=True)
        except RefusedError:
            given = f", and {shorten_url(self.url)!r} is none" if self.url else ""
            raise LinkerError(
                f"`{self.name}` needs the URL of its service{given}: add -o url=http://HOST:PORT/PATH"
            ) from None

    def setup(self) -> None:
        """Starts the loop in which requests wait for their responses."""
        self._stored = read_replies(self.from_replies) if self.from_replies is not None else None
        if self._stored is None:
            self._check_url()
            self._check_token()
        else:
            self.note(f"answers were read from replies that {shorten_url(self.url)} gave to an earlier run")
        self._kept = ReplyWriter(self.keep_replies) if self.keep_replies is not None else None
        self._service, self._thread = ServiceClient(self), LoopThread(f"{self.name}-requests")
        self._tasks: set[asyncio.Task[Prediction | Failure]] = set()
        self._is_open = True

    def close(self) -> None:
        """Closes the connections and ends the loop."""
        if self._is_open:
            self._is_open = False
            self._thread.run(self._service.close())
            self._thread.close()
            if self._kept is not None:
                self._kept.close()

    @property
    def is_reached(self) -> bool:
        """True if the service has answered with success."""
        return hasattr(self, "_service") and self._service.has_answered

    @property
    def streams(self) -> bool:
        """True unless a wrapper has its own `link`, which must see every snippet."""
        return type(self).link is WebLinker.link

    @property
    def status(self) -> str:
        """How often a request was sent again, and why the last time."""
        # A run in which nothing was missing has not started it.
        return self._service.status if hasattr(self, "_service") else ""

    def answer_without_request(self, snippet: Snippet) -> Prediction | None:
        """A prediction for a snippet that the service need not be asked about; None for all others."""
        return None

    def link(self, snippets: list[Snippet]) -> list[Prediction | Failure]:
        """Asks for every snippet; what was answered before a service went away is still returned."""
        self._raise_if_gone()
        answers = {answer.id: answer for part in self._ask(snippets) for answer in part}
        if not any(isinstance(answer, Prediction) for answer in answers.values()):
            self._raise_if_gone()
        return [answers.get(snippet.id) or self.fail(snippet, self._service.gone) for snippet in snippets]

    def link_each(self, snippets: Iterable[Snippet]) -> Iterator[list[Prediction | Failure]]:
        """Asks for every snippet and returns answers as they arrive; one slow answer holds up no other."""
        self._raise_if_gone()
        for part in self._ask(snippets):
            # Failures of a service that went away say nothing about their snippets.
            if answers := [
                answer for answer in part if isinstance(answer, Prediction) or answer.error != self._service.gone
            ]:
                yield answers
        self._raise_if_gone()

    def _raise_if_gone(self) -> None:
        if self._service.gone:
            raise LinkerError(self._service.gone)

    def _ask(self, snippets: Iterable[Snippet]) -> Iterator[list[Prediction | Failure]]:
        """Keeps a window of snippets under way; where the service is gone, no further snippet is taken."""
        source, arrived, under_way = iter(snippets), SimpleQueue[Prediction | Failure](), 0
        try:
            while True:
                room = 0 if self._service.gone else AHEAD * self.concurrency - under_way
                if more := list(islice(source, room)):
                    under_way += len(more)
                    self._thread.start(self._start(more, arrived))
                if not under_way:
                    return
                first = arrived.get()
                time.sleep(GATHER_SECONDS)
                answers = [first, *(arrived.get_nowait() for _ in range(arrived.qsize()))]
                under_way -= len(answers)
                yield answers
        finally:
            if under_way:
                self._thread.run(self._cancel())

    async def _start(self, snippets: list[Snippet], arrived: SimpleQueue[Prediction | Failure]) -> None:
        """Starts to ask for snippets; each answer goes into the queue as soon as it is there."""
        for snippet in snippets:
            task = asyncio.create_task(self._link_one(snippet))
            # The loop itself keeps no task alive.
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            task.add_done_callback(lambda done: None if done.cancelled() else arrived.put(done.result()))

    async def _cancel(self) -> None:
        """Ends what an interrupt has left under way."""
        for task in self._tasks:
            task.cancel()

    async def _link_one(self, snippet: Snippet) -> Prediction | Failure:
        try:
            if (known := self.answer_without_request(snippet)) is not None:
                return known
            response = await self._reply(snippet)
            if self.parse_may_wait:
                return await asyncio.to_thread(self._parse, response, snippet)
            return self._parse(response, snippet)
        except ItemError as error:
            return self.fail(snippet, self.without_token(str(error)))
        except ShadowprobeError as error:
            self._service.gone = self._service.gone or self.without_token(str(error))
            return self.fail(snippet, self._service.gone)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            # Even a wrapper that calls exit() must not end the loop, for whose answers the run waits.
            return self.fail(snippet, self.without_token(format_error(error)))

    async def _reply(self, snippet: Snippet) -> httpx.Response:
        """The response of the service, or the stored one."""
        if self._stored is not None:
            reply = self._stored.get(question_key(snippet))
            if reply is None:
                raise ItemError(f"{self.from_replies} has no reply to this snippet")
            if reply.request and reply.request != self._digest(self._request(snippet)):
                raise LinkerError(
                    f"{self.from_replies} has the reply to another request for {snippet.id!r}:"
                    " give the same options as the run that kept it"
                )
            return reply.response()
        request = self._request(snippet)
        response = await self._service.send(request)
        if self._kept is not None:
            content = mask_content(self._secrets, response.content)
            url, kind = (
                self.without_token(text) for text in (mask_url(self.url), response.headers.get("Content-Type", ""))
            )
            reply = Reply.of(self.name, url, response.status_code, kind, content)
            self._kept.add(snippet, replace(reply, request=self._digest(request)))
        return response

    def _digest(self, request: Request) -> str:
        """A digest of what a request asks, without address and token: options that change it need new replies."""
        asked = msgspec.json.encode(request._replace(url="", headers=None))
        return hashlib.sha256(mask_content(self._secrets, asked)).hexdigest()[:16]

    def _request(self, snippet: Snippet) -> Request:
        try:
            return self.request(snippet)
        except LinkerError:
            raise
        except Exception as error:
            raise ItemError(f"the request cannot be made ({format_error(error)})") from error

    def _parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        try:
            return mask_prediction(self._secrets, self.parse(response, snippet))
        except LinkerError:
            raise
        except Exception as error:
            problem = format_error(error)
            raise ItemError(f"the answer cannot be read ({problem}): {self.beginning_of(response)!r}") from error

    def refuse(self, response: httpx.Response, problem: str) -> None:
        """Raises for an answer without success that trying again would not change: ItemError, or LinkerError for all.

        A wrapper whose service says more in such an answer writes its own, and calls this one for the rest.
        """
        if response.status_code in {401, 403}:
            raise LinkerError(f"{problem}: is the token in {self.token_variable} right?")
        if response.status_code not in PASSING:
            raise ItemError(quote_response(problem, self.beginning_of(response)))

    def beginning_of(self, response: httpx.Response) -> str:
        """The beginning of an answer, on one line; the token goes before the cut, which could leave half of it."""
        return " ".join(self.without_token(response.text)[:SHOWN].split())

    def without_token(self, text: str) -> str:
        """A message without the token and the password, should a service or a library repeat them."""
        return mask_secrets(self._secrets, text)
