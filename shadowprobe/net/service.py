"""A web application on a port of this machine, until a signal."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shadowprobe.errors import UsageError, missing_extra

if TYPE_CHECKING:
    from uvicorn import Server

# Seconds that current requests have to finish when the service is to stop.
GRACE = 10


@contextmanager
def bind_port(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that is bound and does not listen yet; port 0 chooses a free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror or error}") from error
    with bound:
        # The port of a service that has just stopped can be used at once.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
        except OSError as error:
            raise UsageError(f"{host}, port {port}: {error.strerror}; choose another with --port") from error
        yield bound


def make_server(app: Any, *, access_log: bool = False) -> Server:
    """A server that bounds how long a client may take to begin a request."""
    try:
        import uvicorn

        from shadowprobe.net.head_timeout import TimedProtocol
    except ImportError as error:
        raise missing_extra("serve") from error
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=access_log,
            http=TimedProtocol,
            lifespan="off",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=GRACE,
        )
    )


def run_server(server: Server, host: str, bound: socket.socket, announce: Callable[[str], None]) -> None:
    """Serves until a signal; says before at which address."""
    bound.listen(server.config.backlog)
    with _handle_signals(server):
        announce(f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}")
        server.run(sockets=[bound])


@contextmanager
def _handle_signals(server: Server) -> Iterator[None]:
    """Makes SIGINT and SIGTERM stop the server, which raises them again when it has stopped."""

    def stop(*_: object) -> None:
        # The server's own handlers are not enough: they are installed after the announcement.
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
