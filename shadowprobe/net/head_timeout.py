"""Connections whose request does not begin: uvicorn itself would keep them open for ever."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request.
HEAD_TIMEOUT = 10.0
# So many connections may wait for a head at once; of more, the oldest is closed.
MOST_WAITING = 100
LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class TimedProtocol(H11Protocol):
    """uvicorn's protocol, with a time limit for the head of every request."""

    # In the order in which they began to wait.
    _waiting: ClassVar[dict[TimedProtocol, asyncio.TimerHandle]] = {}

    def connection_made(self, transport: Any) -> None:
        """Begins to wait for the first head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Waits for the rest of a head, and no longer if it is complete."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self not in self._waiting and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting[self] = self.loop.call_later(HEAD_TIMEOUT, self._give_up)
        if len(self._waiting) > MOST_WAITING:
            next(iter(self._waiting))._give_up()

    def _stop_waiting(self) -> None:
        if timer := self._waiting.pop(self, None):
            timer.cancel()

    def _give_up(self) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            self.transport.write(LATE)
            self.transport.close()
