"""A GERBIL instance and its requests over HTTP."""

from __future__ import annotations

import json
import math
import re
import time
from typing import TYPE_CHECKING, Any

from shadowprobe.base.secrets import mask_url, shorten_url
from shadowprobe.errors import GerbilError, UsageError, nearest, shorten
from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.failures import ConnectionFailedError, NoResponseError, OtherServerError, TimeLimitError
from shadowprobe.net.limits import Limits
from shadowprobe.net.urls import check_option

if TYPE_CHECKING:
    import httpx

# D2KB offers no other matching.
TYPE, MATCHING = "D2KB", "Ma - strong annotation match"
TIMEOUT = 60.0
# GERBIL reads the whole dataset, or waits for the other service, before it answers.
LONG_TIMEOUT = 600.0
# So long a request gets where no time is left at all: the last look is at the deadline.
LAST_LOOK = 1.0
EXAMPLE = "http://gerbil.aksw.org/gerbil"
# A date and a number, as the id of an experiment.
_EXPERIMENT = re.compile("[0-9]{9,40}")


class UnreachableError(GerbilError):
    """An instance that gave no answer, or a passing fault; the next try may fare better."""


class Instance:
    """One GERBIL, by the address under which its pages are."""

    def __init__(self, url: str) -> None:
        if cut := re.search("[?#]", url):
            # The paths of its pages go behind the address.
            before = mask_url(url[: cut.start()])
            raise UsageError(f"--url {before}{cut[0]}...: give the address without `{cut[0]}` and what follows it")
        self._url = check_option("--url", url, EXAMPLE, allow_password=True)
        self.url = mask_url(self._url)
        self._deadline = math.inf
        # An experiment that is started twice would run twice.
        self._client = BlockingClient(keep_alive=False)

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
            # The first request to any instance.
            raise UnreachableError(f"{error}; does GERBIL run there? --url names another address") from None
        names = _json(response)
        if response.is_success and isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
        raise GerbilError(
            f"{self.url} does not answer as GERBIL does ({_show(response)}): give the address that stands before"
            f" `/config`, such as {EXAMPLE}"
        )

    def check_annotator(self, name: str, offered: list[str]) -> None:
        """Refuses an annotator that the instance does not offer."""
        if name not in offered:
            close = nearest(name, offered)
            rest = "" if close else f"; there are {shorten(', '.join(offered)) or 'none'}"
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
            raise GerbilError(f"{self.url} cannot use the NIF service {mask_url(url)}: {shorten(why)}")

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
            why = shorten(str(faults[0])) if faults else f"{response.status_code} {response.reason_phrase}"
            raise GerbilError(f"{self.url} refuses the upload of {name}: {why}")
        count = re.search(r"[0-9]{1,18}", str(listed[0].get("description") or ""))
        return int(count[0]) if count else None

    def start(self, annotators: list[str], datasets: list[str]) -> tuple[str, str]:
        """Starts an experiment, each annotator on each dataset; returns its id, and what GERBIL complained of."""
        experiment_data = {"type": TYPE, "matching": MATCHING, "annotator": annotators, "dataset": datasets}
        try:
            response = self._ask("GET", "execute", LONG_TIMEOUT, params={"experimentData": json.dumps(experiment_data)})
        except UnreachableError as error:
            # Not tried again: it may have heard, and would then run everything twice.
            raise GerbilError(f"{error}; if it has started all the same, {self.url}/running shows it") from None
        answer = _json(response)
        if isinstance(answer, dict) and "errorMessage" in answer:
            complaint = shorten(f"{answer['errorMessage']} {answer.get('detailMessage') or ''}")
            if _EXPERIMENT.fullmatch(str(answer.get("experimentId"))):
                # Some of its tasks run, and only the others do not.
                return str(answer["experimentId"]), complaint
            raise GerbilError(f"{self.url} does not start the experiment: {complaint}")
        experiment = response.text.strip().strip('"')
        if not experiment and response.is_success:
            # All that it says to an experiment type it does not know.
            raise GerbilError(f"{self.url} does not start the experiment: it seems to have no {TYPE}")
        if not response.is_success or not _EXPERIMENT.fullmatch(experiment):
            raise self._surprise("execute", response)
        return experiment, ""

    def page(self, experiment: str) -> str:
        """The page of an experiment."""
        response = self._ask("GET", "experiment", params={"id": experiment})
        if not response.is_success:
            raise self._surprise("experiment", response)
        return response.text

    def _ask(self, method: str, path: str, timeout: float = TIMEOUT, **what: Any) -> httpx.Response:
        import httpx

        where = f"{self.url}/{path}"
        left = max(LAST_LOOK, self._deadline - time.monotonic())
        request = httpx.Request(method, f"{self._url}/{path}", **what)
        try:
            response = self._client.send(request, Limits(seconds=min(timeout, left)), stay=True)
        except TimeLimitError:
            hint = ": --timeout SECONDS gives it longer" if left < timeout else ""
            raise UnreachableError(f"{where} took too long to answer{hint}") from None
        except OtherServerError as error:
            target = shorten_url(error.target)
            raise GerbilError(f"{where}: redirects to {target}, another server: give its address with --url") from None
        except NoResponseError as error:
            kind = UnreachableError if error.passing or isinstance(error, ConnectionFailedError) else GerbilError
            raise kind(f"{where}: {error.message}") from None
        if response.status_code >= 500 or response.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise UnreachableError(f"{where}: {response.status_code} {response.reason_phrase}")
        return response

    def _surprise(self, path: str, response: httpx.Response) -> GerbilError:
        return GerbilError(f"{self.url}/{path} does not answer as GERBIL does: {_show(response)}")


def _json(response: httpx.Response) -> Any:
    """The body as JSON, or None."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _show(response: httpx.Response) -> str:
    """A status and the beginning of a body."""
    body = shorten(response.text, 60)
    return f"{response.status_code} {response.reason_phrase}{f', {body!r}' if body else ', an empty body'}"
