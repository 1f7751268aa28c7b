"""Kept connections: used again only if nothing was left over on them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, cast
from weakref import WeakSet

import aiohttp

from shadowprobe.net.failures import BrokenResponseError

CUT_OFF = "an answer that breaks off"


class WatchedRequest(aiohttp.ClientRequest):
    """A request that knows whether its connection was used before."""

    on_kept_connection = False
    _used: ClassVar[WeakSet[Any]] = WeakSet()

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        """Sends the request, but not after leftovers that would be taken for its response."""
        self.on_kept_connection = conn.protocol in self._used
        self._used.add(conn.protocol)
        if conn.protocol.should_close:
            conn.close()
            raise aiohttp.ServerDisconnectedError
        return await super().send(conn)


async def send_on_open_connection(
    request: aiohttp.ClientRequest, handler: Callable[[aiohttp.ClientRequest], Awaitable[aiohttp.ClientResponse]]
) -> aiohttp.ClientResponse:
    """Sends a request again if its kept connection was closed; on a new connection that is an error."""
    while True:
        try:
            return await handler(request)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
            if isinstance(error, aiohttp.ClientConnectorError):
                raise
            if not cast("WatchedRequest", request).on_kept_connection:
                # Not as aiohttp's own error, for which it would send some requests a second time.
                raise BrokenResponseError(CUT_OFF, str(error), passing=True) from None
