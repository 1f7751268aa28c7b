"""Which addresses may be connected to: those of the open internet, each checked right before the connection."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any

from shadowprobe.net.failures import RefusedError, UnknownHostError

if TYPE_CHECKING:
    from aiohttp.abc import ResolveResult

# Why a host is refused that is not on the open internet.
PRIVATE = "a private address"
# Not part of the open internet, though not every version of Python knows: relays, local translation, documentation.
_SPECIAL = tuple(
    ip_network(network)
    for network in ("192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "2001::/23", "2001:db8::/32", "3fff::/20")
)
_UNICAST = ip_network("2000::/3")
# An IPv4 address stands in the last bits of these: as the mapped form, and behind a translator.
_MAPPED, _TRANSLATED = ip_network("::ffff:0:0/96"), ip_network("64:ff9b::/96")
_SIX_TO_FOUR = ip_network("2002::/16")
# Errors of the system for a name that it could not look up this time.
_PASSING = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL})

Lookup = Callable[[str, int], list[tuple[Any, ...]]]


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


class PinnedResolver:
    """Looks a host name up once, checks all its addresses and gives them to aiohttp's connector.

    Nothing looks the name up a second time, so that a name server cannot show one address to the check and another
    to the connection. TLS still uses the name of the host.
    """

    def __init__(
        self, allow_private: bool | Iterable[str] = False, *, lookups: int = 32, lookup: Lookup | None = None
    ) -> None:
        self._all = allow_private is True
        self._networks = () if isinstance(allow_private, bool) else tuple(map(ip_network, allow_private))
        self._lookup = lookup or _look_up
        # The loop's own threads are few, and a name server may be slow for a name that no longer exists.
        self._threads = ThreadPoolExecutor(lookups, thread_name_prefix="lookup")

    def is_allowed(self, address: str) -> bool:
        """True where an address is public, or in a network that was allowed."""
        if self._all:
            return True
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return is_public(address) or any(parsed in network for network in self._networks)

    def check_host(self, host: str) -> None:
        """Refuses what the name of a host alone shows to be private: an address, or this machine."""
        try:
            address = str(ip_address(host))
        except ValueError:
            address = "127.0.0.1" if host.rstrip(".").rpartition(".")[2] == "localhost" else ""
        if address and not self.is_allowed(address):
            raise RefusedError(PRIVATE)

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_UNSPEC) -> list[ResolveResult]:
        """The addresses of a host, if all of them are allowed."""
        rows = await self._look_up(host, port)
        if not all(self.is_allowed(str(row[4][0])) for row in rows):
            raise RefusedError(PRIVATE)
        return [
            {
                "hostname": host,
                "host": address,
                "port": port,
                "family": row[0],
                "proto": row[2],
                "flags": socket.AI_NUMERICHOST,
            }
            for address, row in {str(row[4][0]): row for row in rows}.items()
        ]

    def open_socket(self, address: tuple[Any, ...]) -> socket.socket:
        """A socket for one address; the last check, which also sees addresses that nobody looked up."""
        family, kind, protocol, _, target = address
        if not self.is_allowed(str(target[0])):
            raise RefusedError(PRIVATE)
        return socket.socket(family, kind, protocol)

    async def _look_up(self, host: str, port: int) -> list[tuple[Any, ...]]:
        try:
            rows = await asyncio.get_running_loop().run_in_executor(self._threads, self._lookup, host, port)
        except UnicodeError:
            rows = []
        except socket.gaierror as error:
            if error.errno in _PASSING:
                raise UnknownHostError("the host name cannot be looked up", passing=True, silent=True) from None
            rows = []
        if not rows:
            raise UnknownHostError("no such host")
        return rows

    async def close(self) -> None:
        """Releases the threads; a lookup that is running ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str, port: int) -> list[tuple[Any, ...]]:
    return list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
