"""Which addresses of the web may be asked: those of the open internet, each checked right before the connection."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

if TYPE_CHECKING:
    import httpcore

# A host may have several addresses; one that is silent must leave time for the next.
CONNECT_SECONDS = 10.0
# Why a host is refused that is not of the open internet.
PRIVATE = "a private address"
_HOST = re.compile(r"[a-z0-9_-](?:[a-z0-9._-]*[a-z0-9_-])?\.?|[0-9a-f:.]+")
# Not part of the open internet, though not every version of Python knows: relays, local translation, documentation.
_SPECIAL = tuple(
    ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "2001::/23", "2001:db8::/32", "3fff::/20")
)
_UNICAST = ip_network("2000::/3")
# An IPv4 address stands in the last bits of these: as the mapped form, and behind a translator.
_MAPPED, _TRANSLATED = ip_network("::ffff:0:0/96"), ip_network("64:ff9b::/96")
_SIX_TO_FOUR = ip_network("2002::/16")
# What the system says of a name that it could not look up this time.
_PASSING = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})

Lookup = Callable[[str, int], list[tuple[Any, ...]]]


class RefusedError(Exception):
    """A URL or a host that is not asked; the text is the reason."""


class UnknownHostError(Exception):
    """A host name without an address; `passing` where that may be different later."""

    def __init__(self, why: str, *, passing: bool) -> None:
        super().__init__(why)
        self.passing = passing


def plain_url(url: str) -> str:
    """A URL in the one spelling under which its page is asked for; raises RefusedError where it cannot be."""
    import httpx

    try:
        scheme, colon, rest = urldefrag(url.strip())[0].partition(":")
    except ValueError:
        raise RefusedError("not a URL") from None
    if scheme.lower() not in {"http", "https"} or not colon:
        raise RefusedError("neither http nor https")
    try:
        parsed = httpx.URL(f"{scheme.lower()}:{rest}")
        host = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError):
        raise RefusedError("not a URL") from None
    if not _HOST.fullmatch(host) or len(host) > 253 or not 0 < (parsed.port or 80) < 65536:
        raise RefusedError("not a URL")
    if parsed.userinfo:
        raise RefusedError("a URL with a password")
    return str(parsed.copy_with(raw_path=parsed.raw_path))


def joined_url(url: str, location: str) -> str:
    """Where a redirect leads; raises RefusedError where nobody may go."""
    import httpx

    try:
        target = httpx.URL(url).join(location.strip())
    except (httpx.InvalidURL, ValueError):
        raise RefusedError("a redirect to no URL") from None
    try:
        return plain_url(str(target))
    except RefusedError as error:
        raise RefusedError(f"a redirect to {error}" if str(error).startswith("neither") else str(error)) from None


def is_public(address: str) -> bool:
    """True for an address of the open internet."""
    known = ip_address(address)
    if isinstance(known, IPv6Address):
        return _is_public_6(known)
    return known.is_global and not (known.is_multicast or known.is_reserved or any(known in net for net in _SPECIAL))


def _is_public_6(known: IPv6Address) -> bool:
    if known in _MAPPED or known in _TRANSLATED:
        return is_public(str(IPv4Address(int(known) & 0xFFFFFFFF)))
    if known in _SIX_TO_FOUR:
        return is_public(str(IPv4Address(int(known) >> 80 & 0xFFFFFFFF)))
    return known in _UNICAST and known.is_global and not any(known in net for net in _SPECIAL)


class PinnedBackend:
    """The way to the network, for httpcore: a name is looked up once, all its addresses are checked, one is taken.

    Nothing looks the name up a second time, so that a name server cannot show one address to the check and another
    to the connection. TLS still speaks to the host by its name.
    """

    def __init__(
        self, allowed: bool | Iterable[str] = False, *, lookups: int = 32, lookup: Lookup | None = None
    ) -> None:
        self._all = allowed is True
        self._allowed = () if isinstance(allowed, bool) else tuple(ip_network(network) for network in allowed)
        self._lookup = lookup or _look_up
        # The loop's own threads are few, and a name server may take its time over a name that is gone.
        self._threads = ThreadPoolExecutor(lookups, thread_name_prefix="lookup")

    def may_ask(self, address: str) -> bool:
        """True where an address is public, or in a network that was allowed."""
        if self._all or is_public(address):
            return True
        known = ip_address(address)
        return any(known in network for network in self._allowed)

    async def addresses(self, host: str, port: int) -> list[str]:
        """The addresses of a host, none of them private."""
        try:
            found = [str(ip_address(host))]
        except ValueError:
            found = await self._looked_up(host, port)
        if not all(self.may_ask(address) for address in found):
            raise RefusedError(PRIVATE)
        return found

    async def _looked_up(self, host: str, port: int) -> list[str]:
        try:
            rows = await asyncio.get_running_loop().run_in_executor(self._threads, self._lookup, host, port)
        except UnicodeError:
            rows = []
        except socket.gaierror as error:
            if error.errno in _PASSING:
                raise UnknownHostError("the host name cannot be looked up", passing=True) from None
            rows = []
        if not rows:
            raise UnknownHostError("no such host", passing=False)
        return list(dict.fromkeys(str(row[4][0]) for row in rows))

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first address of a host that takes one."""
        import httpcore

        addresses = await self.addresses(host, port)
        for number, address in enumerate(addresses, start=1):
            try:
                return await httpcore.AnyIOBackend().connect_tcp(
                    address, port, CONNECT_SECONDS, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise UnknownHostError("no such host", passing=False)

    async def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        """No page of the web is behind a socket of this machine."""
        raise RefusedError(PRIVATE)

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await asyncio.sleep(seconds)

    def close(self) -> None:
        """Lets go of the threads; a lookup under way ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str, port: int) -> list[tuple[Any, ...]]:
    return list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
