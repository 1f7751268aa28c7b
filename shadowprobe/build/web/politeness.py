"""How a crawl behaves towards hosts: what robots.txt forbids, and how long it waits."""

from __future__ import annotations

import heapq
import itertools
import socket
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, field

T = TypeVar("T")
# The name under which a robots.txt has rules for us.
TOKEN = "shadowprobe"
# RFC 9309: a robots.txt is read so far, and what stands behind may be left.
ROBOTS_BYTES = 512_000
FORBIDDEN = "robots.txt forbids it"
TOO_PATIENT = "robots.txt asks for too long a pause"
# Before the status of a robots.txt that does not come though the host is there.
BROKEN_ROBOTS = "robots.txt: "
REFUSALS = (FORBIDDEN, TOO_PATIENT, BROKEN_ROBOTS)


class Manners(Struct, frozen=True, kw_only=True):
    """How to behave; times are in seconds."""

    user_agent: str
    # Requests at once; a host gets one at a time.
    total: int = 32
    # For the whole answer, from the look-up of the host to the last byte.
    timeout: float = 30.0
    # Of a page as it is read, after unpacking.
    max_bytes: int = 4_000_000
    redirects: int = 5
    retries: int = 2
    # Between two requests to a host; a Crawl-delay makes it longer, and above `longest_delay` a host is left alone.
    delay: float = 0.5
    longest_delay: float = 30.0
    # True, or networks such as 127.0.0.0/8 that may be requested though they are not on the open internet.
    allow_private: bool | tuple[str, ...] = False


def origin_of(url: str) -> str:
    """The scope of a robots.txt: scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


@lru_cache(4096)
def host_of(url: str) -> str:
    """The host of a URL, whatever scheme and port; one for all spellings of an address."""
    name = (urlsplit(url).hostname or "").rstrip(".")
    try:
        address = ip_address(name if ":" in name else socket.inet_ntoa(socket.inet_aton(name)))
    except (OSError, ValueError):
        return "127.0.0.1" if name == "localhost" else name
    return str(getattr(address, "ipv4_mapped", None) or address)


class Rules:
    """The rules of one robots.txt; `failed` is the reason if there is none."""

    def __init__(self, content: bytes = b"", failed: str = "") -> None:
        from protego import Protego

        self._refusal = ""
        # RFC 9309: where the server knows of none (4xx, an endless way to it), all is allowed.
        if failed and not _is_missing(failed):
            self._refusal = f"{BROKEN_ROBOTS}{failed}" if failed.isdecimal() else failed
        self._robots: Any = Protego.parse(content.decode("utf-8-sig", "replace"))
        self.delay = float(self._robots.crawl_delay(TOKEN) or 0.0)

    def refusal(self, url: str, longest_delay: float) -> str:
        """Why a page may not be requested; empty if it may."""
        if self._refusal:
            return self._refusal
        if not self._robots.can_fetch(url, TOKEN):
            return FORBIDDEN
        return TOO_PATIENT if self.delay > longest_delay else ""


def _is_missing(failed: str) -> bool:
    return failed in {"redirect loop", "too many redirects"} or (failed.isdecimal() and 400 <= int(failed) < 500)


class Host(Struct, Generic[T], eq=False):
    """The queue of one host, and when it may be requested next."""

    # How many requests in a row it has left without any answer.
    silent: int = 0
    not_before: float = 0.0
    is_busy: bool = False
    is_in_line: bool = False
    waiting: deque[T] = field(default_factory=deque)


class Frontier(Generic[T]):
    """Everything that is still to be requested, taken host by host as each is due."""

    def __init__(self) -> None:
        self.hosts: dict[str, Host[T]] = {}
        self._line: list[tuple[float, int, Host[T]]] = []
        self._count = itertools.count()

    def add(self, name: str, item: T, *, first: bool = False) -> None:
        """Puts something in the line of its host, at the end or before all others."""
        host = self.hosts.setdefault(name, Host())
        host.waiting.appendleft(item) if first else host.waiting.append(item)
        self._line_up(host)

    def take(self, now: float) -> tuple[Host[T], T] | None:
        """The next thing whose host is due; the host is busy until `release`."""
        if not self._line or self._line[0][0] > now:
            return None
        host = heapq.heappop(self._line)[2]
        host.is_in_line, host.is_busy = False, True
        return host, host.waiting.popleft()

    def release(self, host: Host[T], not_before: float) -> None:
        """Ends a request, and sets when the host may be requested again."""
        host.is_busy = False
        host.not_before = max(host.not_before, not_before)
        self._line_up(host)

    def next_due(self) -> float | None:
        """When the next host is due; None where all are busy or have nothing waiting."""
        return self._line[0][0] if self._line else None

    def drop(self, is_dropped: Callable[[T], bool]) -> None:
        """Drops what is waiting, except what is to be kept."""
        self._line = []
        for host in self.hosts.values():
            host.waiting = deque(item for item in host.waiting if not is_dropped(item))
            host.is_in_line = False
            self._line_up(host)

    def _line_up(self, host: Host[T]) -> None:
        if host.waiting and not host.is_in_line and not host.is_busy:
            host.is_in_line = True
            heapq.heappush(self._line, (host.not_before, next(self._count), host))
