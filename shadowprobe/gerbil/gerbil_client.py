"""A GERBIL instance: what can be asked of it over HTTP."""

from __future__ import annotations

import json
import math
import re
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from shadowprobe.errors import GerbilError, UsageError, nearest
from shadowprobe.masking import public_url

if TYPE_CHECKING:
    import ssl

    import httpx

# D2KB offers no other matching.
TYPE, MATCHING = "D2KB", "Ma - strong annotation match"
TIMEOUT = 60.0
# GERBIL reads the whole dataset, or waits for the other service, before it answers.
LONG_TIMEOUT = 600.0
# So long a request gets where no time is left at all: the last look is at the deadline.
LAST_LOOK = 1.0
EXAMPLE = "http://gerbil.aksw.org/gerbil"
SHOWN = 200


class UnreachableError(GerbilError):
    """An instance that gave no answer, or a passing fault; the next try may fare better."""


class Started(NamedTuple):
    """The id of an experiment, and what GERBIL complained of when it started it."""

    id: str
    complaint: str = ""


def public(url: str) -> str:
    """An address as it may stand in a file or a message: without passwords and tokens."""
    return public_url(url)


def checked_url(url: str, option: str) -> str:
    """An address without its last slash; says what is wrong with one that cannot be."""
    try:
        parts = urlsplit(url)
        fit = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fit = False
    if not fit or re.search(r"\s", url):
        raise UsageError(f"{option} {public(url)}: an address is needed, such as {EXAMPLE}")
    return url.rstrip("/")


class Instance:
    """One GERBIL, by the address under which its pages are."""

    def __init__(self, url: str) -> None:
        if cut := re.search("[?#]", url):
            # The paths of its pages go behind the address.
            before = public(url[: cut.start()])
            raise UsageError(f"--url {before}{cut[0]}...: give the address without `{cut[0]}` and what follows it")
        self._url = checked_url(url, "--url")
        self.url = public(self._url)
        self._deadline = math.inf

    def limit(self, seconds: float) -> None:
        """Lets no request wait for an answer beyond so many seconds from now."""
        self._deadline = time.monotonic() + seconds

    def address(self, experiment: str) -> str:
        """Where a person can look at an experiment."""
        return f"{self.url}/experiment?id={experiment}"

    def annotators(self) -> list[str]:
        """The annotators that it offers for D2KB."""
        try:
            response = self._ask("GET", "annotators", params={"experimentType": TYPE})
        except UnreachableError as error:
            # The first thing that is asked of any instance.
            raise UnreachableError(f"{error}; does GERBIL run there? --url names another address") from None
        names = _json(response)
        if response.is_success and isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
        raise GerbilError(
            f"{self.url} does not answer as GERBIL does ({_shown(response)}): give the address that stands before"
            f" `/config`, such as {EXAMPLE}"
        )

    def check_annotator(self, name: str, offered: list[str]) -> None:
        """Refuses an annotator that the instance does not offer."""
        if name not in offered:
            close = nearest(name, offered)
            rest = "" if close else f"; there are {', '.join(offered) or 'none'}"
            raise GerbilError(f"{self.url} has no annotator `{name}` for D2KB{close}{rest}")

    def check_service(self, url: str) -> None:
        """Refuses a NIF service that GERBIL cannot reach or read."""
        params = {"experimentType": TYPE, "url": url}
        response = self._ask("GET", "testNifWs", LONG_TIMEOUT, params=params)
        answer = _json(response)
        if not isinstance(answer, dict) or "testOk" not in answer:
            raise self._surprise("testNifWs", response)
        if answer["testOk"] is not True:
            why = str(answer.get("errorMsg") or "it does not say why")
            raise GerbilError(f"{self.url} cannot use the NIF service {public(url)}: {_line(why)}")

    def upload(self, name: str, content: str) -> int | None:
        """Stores a dataset under a file name, and returns how many documents GERBIL found in it, if it says so."""
        files = {"files[]": (name, content.encode(), "text/turtle")}
        response = self._ask("POST", "file/upload", LONG_TIMEOUT, files=files)
        answer = _json(response)
        listed = answer.get("files") if isinstance(answer, dict) else None
        if not isinstance(listed, list) or not all(isinstance(file, dict) for file in listed):
            raise self._surprise("file/upload", response)
        faults = [file["error"] for file in listed if file.get("error")]
        if faults or not response.is_success or not listed:
            why = _line(str(faults[0])) if faults else f"{response.status_code} {response.reason_phrase}"
            raise GerbilError(f"{self.url} refuses the upload of {name}: {why}")
        count = re.search(r"\d+", str(listed[0].get("description") or ""))
        return int(count[0]) if count else None

    def start(self, annotators: list[str], datasets: list[str]) -> Started:
        """Starts an experiment: each annotator on each dataset."""
        asked = {"type": TYPE, "matching": MATCHING, "annotator": annotators, "dataset": datasets}
        try:
            response = self._ask("GET", "execute", LONG_TIMEOUT, params={"experimentData": json.dumps(asked)})
        except UnreachableError as error:
            # Not tried again: it may have heard, and would then run everything twice.
            raise GerbilError(f"{error}; if it has started all the same, {self.url}/running shows it") from None
        answer = _json(response)
        if isinstance(answer, dict) and "errorMessage" in answer:
            complaint = _line(f"{answer['errorMessage']} {answer.get('detailMessage') or ''}")
            if answer.get("experimentId"):
                # Some of its tasks run, and only the others do not.
                return Started(str(answer["experimentId"]), complaint)
            raise GerbilError(f"{self.url} does not start the experiment: {complaint}")
        experiment = response.text.strip().strip('"')
        if not experiment and response.is_success:
            # All that it says to an experiment type it does not know.
            raise GerbilError(f"{self.url} does not start the experiment: it seems to have no {TYPE}")
        if not response.is_success or not re.fullmatch(r"[0-9]{9,}", experiment):
            raise self._surprise("execute", response)
        return Started(experiment)

    def page(self, experiment: str) -> str:
        """The page of an experiment."""
        response = self._ask("GET", "experiment", params={"id": experiment})
        if not response.is_success:
            raise self._surprise("experiment", response)
        return response.text

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        # Made once: it takes longer than a poll.
        import httpx

        return httpx.create_ssl_context()

    def _ask(self, method: str, path: str, timeout: float = TIMEOUT, **what: Any) -> httpx.Response:
        import httpx

        url = f"{self._url}/{path}"
        left = max(LAST_LOOK, self._deadline - time.monotonic())
        try:
            response = httpx.request(
                method, url, timeout=min(timeout, left), verify=self._certificates, follow_redirects=True, **what
            )
        except httpx.TimeoutException:
            hint = ": --timeout SECONDS gives it longer" if left < timeout else ""
            raise UnreachableError(f"{self.url}/{path} took too long to answer{hint}") from None
        except httpx.TransportError as error:
            raise UnreachableError(f"{self.url}/{path}: no connection ({error})") from None
        except (httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError) as error:
            # The last two come of a proxy in the environment that httpx cannot use.
            raise GerbilError(f"{self.url}/{path}: {error}") from None
        if response.status_code >= 500 or response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise UnreachableError(f"{self.url}/{path}: {response.status_code} {response.reason_phrase}")
        return response

    def _surprise(self, path: str, response: httpx.Response) -> GerbilError:
        return GerbilError(f"{self.url}/{path} does not answer as GERBIL does: {_shown(response)}")


def _json(response: httpx.Response) -> Any:
    """The body as JSON, or None."""
    try:
        return response.json()
    except ValueError:
        return None


def _shown(response: httpx.Response) -> str:
    """A status and the beginning of a body."""
    body = _line(response.text, 60)
    return f"{response.status_code} {response.reason_phrase}{f', {body!r}' if body else ', an empty body'}"


def _line(text: str, length: int = SHOWN) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[:length]}..."
