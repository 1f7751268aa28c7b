"""The HTTP client for code that has no event loop: it runs in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import httpx

    from shadowprobe.net.client import Client
    from shadowprobe.net.limits import Limits

T = TypeVar("T")
# How long the end of the program waits for a loop that was left running.
LAST_SECONDS = 2.0
_RUNNING: dict[threading.Thread, asyncio.AbstractEventLoop] = {}
_CLIENTS: weakref.WeakSet[BlockingClient] = weakref.WeakSet()


class LoopThread:
    """An event loop in a thread; a loop that the caller runs, as a notebook does, is left alone."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run, args=(self._loop,), name=name, daemon=True)
        _RUNNING[self._thread] = self._loop
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts some work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Waits for some work; an interrupt ends it."""
        future = self.start(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Lets the loop end, without waiting for it."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)

    def close(self) -> None:
        """Ends the loop and whatever still runs in it."""
        self.stop()
        self._thread.join()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.run_until_complete(_cancel_others())
    loop.close()
    _RUNNING.pop(threading.current_thread(), None)


async def _cancel_others() -> None:
    """Ends what an interrupt has left running."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class BlockingClient:
    """The client of `net/client.py`, one request at a time; `settings` are its settings."""

    def __init__(self, **settings: Any) -> None:
        from shadowprobe.net.client import Client

        self._thread, self._client = LoopThread("http-client"), Client(**settings)
        # Whoever forgets to close it leaves no thread behind.
        self._finalizer = weakref.finalize(self, _end, self._thread, self._client)
        _CLIENTS.add(self)

    def send(self, request: httpx.Request, limits: Limits, **options: Any) -> httpx.Response:
        """The response to a request, with its whole body."""
        return self._thread.run(self._client.send(request, limits, **options))

    def run(self, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """Waits for some work with the client itself."""
        return self._thread.run(work(self._client))

    def close(self) -> None:
        """Closes the connections and ends the thread."""
        if self._finalizer.detach():
            self._thread.run(self._client.close())
            self._thread.close()


def _end(thread: LoopThread, client: Client) -> None:
    """Closes a client without waiting, since this may be called inside the thread itself."""
    thread.start(client.close()).add_done_callback(lambda _: thread.stop())


@atexit.register
def _end_all() -> None:
    """Ends what was left open: a thread that still runs when Python ends can crash it."""
    for client in list(_CLIENTS):
        client.close()
    for thread, loop in list(_RUNNING.items()):
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        thread.join(LAST_SECONDS)
