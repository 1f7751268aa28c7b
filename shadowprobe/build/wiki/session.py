"""The way that every question to a wiki takes: the archive first, then the wiki, as slowly as it wants."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.fetch import retry_after
from shadowprobe.build.shapes import error_code, fault
from shadowprobe.errors import BuildError

if TYPE_CHECKING:
    import requests

# Where api.php stands: Wikipedia's own place, that of a plain installation, and the two of older ones.
API_PATHS = ("/w/", "/", "/wiki/", "/mediawiki/")
# The seconds before each further attempt: half a minute in all, unless the wiki itself asks for more.
PAUSES = (2.0, 4.0, 8.0, 16.0)
# A wiki that asks for more patience than this many seconds is asked again at the next run.
PATIENCE = 600.0
# Seconds for a connection, for the first answer, which costs a wiki nothing, and for any other.
CONNECT, FIRST, TIMEOUT = 10.0, 20.0, 60.0
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


class RefusedError(BuildError):
    """The wiki fails on a question, and may do better on another."""

    def __init__(self, message: str, code: str = "") -> None:
        self.code = code
        super().__init__(message)


class WayOut:
    """What every question goes through: the archive first, then the wiki, as slowly as it wants."""

    def __init__(self, archive: Archive, pause: float) -> None:
        self.archive, self.pause = archive, pause
        self.asks = not archive.read_only
        # Past the archive, in both directions.
        self.afresh = False
        self.searching = False
        self.asked = ("", "")
        self._reached = False
        self._next_call = 0.0

    def answer(self, request: Any, send: Callable[[], Any]) -> Any:
        """The answer to a question, from the archive if it has one."""
        self.asked = key, url = key_of(request.method, request.url, request.body), request.url
        body = request.body or ""
        question = dict(parse_qsl(body if isinstance(body, str) else body.decode()))
        stored = None if self.afresh else self.archive.get(key)
        if stored is not None and stored.failed:
            raise RefusedError(f"{url}: {stored.failed}", FAILED)
        if stored is not None and not fault(question, stored.body):
            return _answer(request, stored.status, stored.headers, stored.body)
        if not self.asks:
            raise NotStoredError(
                f"{self.archive.path} has no answer of {url} to this question; build without --from-archive"
            )
        response = self._ask(send)
        if response.is_redirect:
            _refuse_redirect(url, response.headers["Location"])
        if response.status_code == 200:
            strange = fault(question, response.content)
            if strange:
                raise StrangeError(url, strange)
            if not self.afresh and error_code(response) in {"", GONE}:
                self.archive.put(key, url, 200, response.headers, response.content)
        return response

    def _ask(self, send: Callable[[], Any]) -> Any:
        """What the wiki says in the end; what may pass is tried again, but first contact fails at once."""
        from requests.exceptions import ConnectionError, Timeout

        pauses, began, again = iter(PAUSES), time.monotonic(), False
        while True:
            time.sleep(max(0.0, self._next_call - time.monotonic()))
            wait = next(pauses, None)
            try:
                response = send()
            except (ConnectionError, Timeout):
                too_long = again and time.monotonic() - began > sum(PAUSES)
                if wait is None or self.searching or not self._reached or too_long:
                    raise
            else:
                self._reached = True
                wait = self._wait(response, wait)
                # mwclient expects a Retry-After beside it, and does not bear its absence.
                response.headers.pop("X-Database-Lag", None)
                if wait is None:
                    return response
            finally:
                self._next_call = time.monotonic() + self.pause
            again = True
            time.sleep(wait)

    def _wait(self, response: Any, pause: float | None) -> float | None:
        """The seconds after which to ask again; None where the answer stands."""
        code = error_code(response)
        passes = code in BUSY or code.startswith(BROKE) or "X-Database-Lag" in response.headers
        if pause is None or not (passes or response.status_code == 429 or response.status_code >= 500):
            return None
        asked = retry_after(response.headers)
        # A place where the API is not may well be one that breaks: of four, only one need be right.
        if self.searching and asked is None:
            return None
        seconds = max(asked or 0.0, pause)
        return seconds if seconds <= PATIENCE else None


def session_by(way_out: WayOut, user_agent: str) -> requests.Session:
    """A session whose questions all go by one way out."""
    import requests
    from requests.adapters import HTTPAdapter

    class ArchiveAdapter(HTTPAdapter):
        """Where requests hands a question over."""

        def send(self, request: Any, *arguments: Any, **options: Any) -> Any:
            options["timeout"] = (CONNECT, FIRST if way_out.searching else TIMEOUT)
            return way_out.answer(request, lambda: super(ArchiveAdapter, self).send(request, *arguments, **options))

    session = requests.Session()
    session.headers["User-Agent"] = user_agent
    # Proxies and passwords of the environment are not for an archive that others may read.
    session.trust_env = False
    for scheme in ("http://", "https://"):
        session.mount(scheme, ArchiveAdapter())
    return session


def _answer(request: Any, status: int, headers: dict[str, str], body: bytes) -> Any:
    import requests

    response = requests.Response()
    response.status_code, response.url, response.request = status, request.url, request
    response.headers.update(headers)
    response._content = body
    response.encoding = "utf-8"
    return response


def _refuse_redirect(url: str, location: str) -> None:
    """Tells where a wiki has moved to: followed, a question would lose its fields."""
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
    """What an error says, in as many words as a line has room for."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}".removesuffix(": ")
