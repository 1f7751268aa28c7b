"""A service on the web: one request at a time, and what it has answered once is not requested again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from shadowprobe.base.secrets import shorten_url
from shadowprobe.build.archive import key_of
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.wiki.responses import error_code, error_info
from shadowprobe.build.wiki.session import BUSY, TIMEOUT, StrangeError, WikiClient, short
from shadowprobe.errors import BuildError
from shadowprobe.net.failures import ConnectionFailedError, NoResponseError, TimeLimitError

if TYPE_CHECKING:
    import httpx

# What is wrong with a response, given its status and body; empty where nothing is.
Fault = Callable[[int, bytes], str]
LATER = "the same command goes on later"


class Service(WikiClient):
    """A service on the web; pauses, retries and Retry-After are those of the wiki."""

    def get(self, url: str, fault: Fault, parameters: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        """Status and body of the response; raises BuildError if there is none in the end."""
        import httpx

        where = shorten_url(url)
        try:
            request = httpx.Request("GET", url, params=parameters)
            address = str(request.url)
            key = key_of("GET", address)
            stored = self.archive.get(key)
            if stored is not None and not fault(stored.status, stored.body):
                return stored.status, stored.body
            response = self.send(request)
        except ConnectionFailedError:
            hint = LATER if self.was_reached else "is the address right?"
            raise BuildError(f"{where}: no connection; {hint}") from None
        except TimeLimitError:
            raise BuildError(f"{where}: no answer within {TIMEOUT:.0f} seconds; {LATER}") from None
        except (NoResponseError, httpx.InvalidURL) as error:
            hint = f"; {LATER}" if getattr(error, "passing", False) else ""
            raise BuildError(f"{where}: {short(error)}{hint}") from None
        self._refuse(where, response)
        wrong = fault(response.status_code, response.content)
        if wrong:
            raise StrangeError(where, wrong)
        self.archive.put(key, Stored(address, response.status_code, response.headers, response.content))
        return response.status_code, response.content

    def _refuse(self, where: str, response: httpx.Response) -> None:
        """Raises if the service did not return an answer."""
        status = response.status_code
        if response.has_redirect_location:
            raise BuildError(f"{where}: leads on to {shorten_url(response.headers['Location'])}: give that address")
        if code := error_code(response):
            problem = f"{code}: {' '.join(error_info(response.content).split())[:200]}".removesuffix(": ")
            later = f"; {LATER}" if code in BUSY else ""
            raise BuildError(f"{where}: the API says {problem}{later}")
        if status == 429 or status >= 500:
            raise BuildError(f"{where}: {status} {response.reason_phrase}; {LATER}")

    def close(self) -> None:
        """Closes the connection and the archive."""
        super().close()
        self.archive.close()
