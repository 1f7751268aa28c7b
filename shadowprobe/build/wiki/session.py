"""Every request to a wiki: answered from the archive if possible, else by the wiki, as slowly as it wants."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.wiki.responses import error_code, find_fault
from shadowprobe.errors import BuildError
from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.failures import ConnectionFailedError, NoResponseError
from shadowprobe.net.limits import Limits
from shadowprobe.net.retries import retry_after

if TYPE_CHECKING:
    import httpx
    import requests

# Where api.php stands: Wikipedia's own place, that of a plain installation, and the two of older ones.
API_PATHS = ("/w/", "/", "/wiki/", "/mediawiki/")
# The seconds before each further attempt: half a minute in all, unless the wiki itself asks for more.
PAUSES = (2.0, 4.0, 8.0, 16.0)
# A wiki that wants a longer pause than this many seconds gets the request at the next run.
PATIENCE = 600.0
# Seconds for the first response, which costs a wiki nothing, and for any other.
FIRST, TIMEOUT = 20.0, 60.0
# The one error that is an answer: the page is gone, and stays so in the archive.
GONE = "missingtitle"
# Errors that pass: the wiki asks to be left alone for a while, or broke on a question that it can answer.
BUSY = frozenset({"maxlag", "ratelimited", "readonly"})
BROKE = "internal_api_error"
# What is counted, and kept in the archive, for a page that the wiki cannot show.
FAILED = "the wiki failed on the page"


class NotStoredError(BuildError):
    """An archive that is only read lacks the answer to a question."""


class StrangeError(BuildError):
    """An answer that no MediaWiki gives."""

    def __init__(self, url: str, fault: str) -> None:
        self.fault = fault
        super().__init__(f"{url}: no answer that a MediaWiki gives ({fault[:200]}); the same command asks again")


class FailedQuestionError(BuildError):
    """The wiki fails on a question, and may do better on another."""

    def __init__(self, message: str, code: str = "") -> None:
        self.code = code
        super().__init__(message)


class WikiClient:
    """Sends every request through the archive, then to the wiki, with pauses and retries."""

    def __init__(self, archive: Archive, user_agent: str) -> None:
        self.archive = archive
        self.may_send = not archive.read_only
        # Neither read from the archive nor stored in it.
        self.afresh = False
        self.searching = False
        self.last_request = ("", "")
        self.was_reached = False
        # Proxies and passwords of the environment are not for an archive that others may read.
        self._client = BlockingClient(user_agent=user_agent, use_environment=False)

    def answer(self, request: httpx.Request, url: str) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body for a request, from the archive if it has them; `url` as it stands there."""
        body = request.read()
        self.last_request = key, _ = key_of(request.method, url, body), url
        question = dict(parse_qsl(body.decode()))
        stored = None if self.afresh else self.archive.get(key)
        if stored is not None and stored.failed:
            raise FailedQuestionError(f"{url}: {stored.failed}", FAILED)
        if stored is not None and not find_fault(question, stored.body):
            return stored.status, stored.headers, stored.body
        if not self.may_send:
            raise NotStoredError(
                f"{self.archive.path} has no answer of {url} to this question; build without --from-archive"
            )
        response = self.send(request)
        if response.has_redirect_location:
            _refuse_redirect(url, response.headers["Location"])
        if response.status_code == 200:
            strange = find_fault(question, response.content)
            if strange:
                raise StrangeError(url, strange)
            if not self.afresh and error_code(response) in {"", GONE}:
                self.archive.put(key, Stored(url, 200, response.headers, response.content))
        return response.status_code, response.headers, response.content

    def send(self, request: httpx.Request) -> httpx.Response:
        """The response in the end; what may pass is tried again, but the first contact fails at once."""
        limits = Limits(seconds=FIRST if self.searching else TIMEOUT)
        pauses, began, again = iter(PAUSES), time.monotonic(), False
        while True:
            wait = next(pauses, None)
            try:
                # A question that follows a redirect would lose its fields.
                response = self._client.send(request, limits, follow=False)
            except NoResponseError as error:
                took_long = again and time.monotonic() - began > sum(PAUSES)
                may_pass = error.passing or isinstance(error, ConnectionFailedError)
                if wait is None or self.searching or not self.was_reached or took_long or not may_pass:
                    raise
            else:
                self.was_reached = True
                wait = self._wait(response, wait)
                # mwclient expects a Retry-After beside it, and fails without one.
                response.headers.pop("X-Database-Lag", None)
                if wait is None:
                    return response
            again = True
            time.sleep(wait)

    def _wait(self, response: httpx.Response, pause: float | None) -> float | None:
        """The seconds after which to ask again; None where the response counts."""
        code = error_code(response)
        passes = code in BUSY or code.startswith(BROKE) or "X-Database-Lag" in response.headers
        if pause is None or not (passes or response.status_code == 429 or response.status_code >= 500):
            return None
        wanted = retry_after(response.headers)
        # A place where the API is not may well be one that breaks: of four, only one need be right.
        if self.searching and wanted is None:
            return None
        seconds = max(wanted or 0.0, pause)
        return seconds if seconds <= PATIENCE else None

    def close(self) -> None:
        """Closes the connection."""
        self._client.close()


def make_session(client: WikiClient) -> requests.Session:
    """A session of `requests`, as mwclient needs one, that sends everything through a client."""
    import httpx
    import requests
    from requests.adapters import BaseAdapter

    class ClientAdapter(BaseAdapter):
        """Where requests hands a request over."""

        def send(self, request: Any, *_: Any, **__: Any) -> requests.Response:
            sent = httpx.Request(request.method, request.url, headers=request.headers, content=request.body)
            response = requests.Response()
            response.status_code, headers, response._content = client.answer(sent, request.url)
            response.url, response.request = request.url, request
            response.reason = httpx.codes.get_reason_phrase(response.status_code)
            response.headers.update(headers)
            response.encoding = "utf-8"
            return response

        def close(self) -> None:
            """Nothing is open here."""

    session = requests.Session()
    session.headers.clear()
    session.trust_env = False
    for scheme in ("http://", "https://"):
        session.mount(scheme, ClientAdapter())
    return session


def _refuse_redirect(url: str, location: str) -> None:
    """Raises with the new address of a wiki that has moved."""
    try:
        here, there = urlsplit(url), urlsplit(urljoin(url, location))
        moved = (there.scheme, there.hostname, there.port) != (here.scheme, here.hostname, here.port)
    except ValueError:
        raise StrangeError(url, "a redirect to what is no URL") from None
    if not moved or there.scheme not in {"http", "https"} or not there.path.endswith("/api.php"):
        raise StrangeError(url, f"a redirect to {there.path or '/'}")
    path = there.path.removesuffix("api.php")
    address = f"{there.scheme}://{there.netloc.rpartition('@')[2]}{'' if path in API_PATHS else path}"
    raise BuildError(f"{here.scheme}://{here.netloc}: the wiki is at {address}: give that address")


def short(error: Exception) -> str:
    """An error in as many words as a line has room for."""
    if isinstance(error, NoResponseError):
        return error.message[:200]
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".removesuffix(": ")
