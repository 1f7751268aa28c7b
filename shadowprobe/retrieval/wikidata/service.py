"""A service on the web, asked one question at a time; what it has answered once it is not asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.shapes import error_code
from shadowprobe.build.way_out import BUSY, CONNECT, TIMEOUT, StrangeError, WayOut, short
from shadowprobe.errors import BuildError, UsageError
from shadowprobe.masking import place

# Says what is wrong with an answer, given its status and body; nothing where it is one.
Fault = Callable[[int, bytes], str]
LATER = "the same command goes on later"


def checked_address(option: str, url: str, example: str) -> str:
    """An address that a user gives, without a slash at its end, or a word on why it cannot be."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if usable and "@" in parts.netloc:
        # Not repeated here: it may hold a password.
        raise UsageError(f"{option}: the address must not hold a user or password")
    if not usable:
        raise UsageError(f"{option} {url.rpartition('@')[2]}: is no address such as {example}")
    return url.rstrip("/")


class Service(WayOut):
    """What questions to a service go through: the archive first, then the service, as slowly as it wants.

    Pauses, further attempts and Retry-After are those of the builder's wiki.
    """

    def __init__(self, archive: Archive, user_agent: str) -> None:
        import requests

        super().__init__(archive, pause=0.0)
        self._session = requests.Session()
        self._session.headers["User-Agent"] = user_agent
        # Proxies and passwords of the environment are not for an archive that others may read.
        self._session.trust_env = False

    def get(self, url: str, fault: Fault, parameters: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        """Status and body of the answer to a question; BuildError where there is none in the end."""
        import requests

        where = place(url)
        try:
            address = str(requests.Request("GET", url, params=parameters).prepare().url)
            key = key_of("GET", address)
            stored = self.archive.get(key)
            if stored is not None and not fault(stored.status, stored.body):
                return stored.status, stored.body
            response = self._ask(lambda: self._sent(address))
        except requests.exceptions.ConnectionError:
            hint = LATER if self._reached else "is the address right?"
            raise BuildError(f"{where}: no connection; {hint}") from None
        except requests.exceptions.Timeout:
            raise BuildError(f"{where}: no answer within {TIMEOUT:.0f} seconds; {LATER}") from None
        except requests.exceptions.RequestException as error:
            raise BuildError(f"{where}: {short(error)}") from None
        self._refuse(where, response)
        wrong = fault(response.status_code, response.content)
        if wrong:
            raise StrangeError(where, wrong)
        self.archive.put(key, address, response.status_code, response.headers, response.content)
        return response.status_code, response.content

    def _sent(self, address: str) -> Any:
        return self._session.get(address, timeout=(CONNECT, TIMEOUT), allow_redirects=False)

    def _refuse(self, where: str, response: Any) -> None:
        """Raises for an answer that is none, whoever is asked."""
        status = response.status_code
        if response.is_redirect:
            raise BuildError(f"{where}: leads on to {place(response.headers['Location'])}: give that address")
        if code := error_code(response):
            said, later = f"{code}: {_info(response.content)}".removesuffix(": "), f"; {LATER}" if code in BUSY else ""
            raise BuildError(f"{where}: the API says {said}{later}")
        if status == 429 or status >= 500:
            raise BuildError(f"{where}: {status} {response.reason}; {LATER}")

    def close(self) -> None:
        """Lets go of the connection and of the archive."""
        self._session.close()
        self.archive.close()


class _Told(Struct):
    info: str = ""


class _Refusal(Struct):
    error: _Told


def _info(body: bytes) -> str:
    """What an error says of itself, cut to what a line has room for; nothing where only a header tells of it."""
    try:
        return " ".join(msgspec.json.decode(body, type=_Refusal).error.info.split())[:200]
    except ValueError:
        return ""
