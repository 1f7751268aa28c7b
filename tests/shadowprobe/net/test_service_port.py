"""A service on a port: how it begins to listen, what it says, and how it ends."""

from __future__ import annotations

import signal
import socket
from typing import Any

import pytest

from shadowprobe.errors import UsageError
from shadowprobe.net.service import bind_port, make_server, run_server


async def answer(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"here"})


def test_a_port_that_is_taken_and_a_host_that_is_unknown_are_one_line() -> None:
    with bind_port("127.0.0.1", 0) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with (
            pytest.raises(UsageError, match=rf"^127\.0\.0\.1, port {port}: .*; choose another with --port$"),
            bind_port("127.0.0.1", port),
        ):
            pass
    with pytest.raises(UsageError, match=r"^--host 300\.0\.0\.1: \S"), bind_port("300.0.0.1", 0):
        pass


def test_the_port_of_a_service_that_has_just_stopped_can_be_used_at_once() -> None:
    with bind_port("127.0.0.1", 0) as bound:
        bound.listen()
        address = bound.getsockname()
        with socket.create_connection(address), bound.accept()[0] as accepted:
            # The side that closes first keeps the port for a while.
            accepted.shutdown(socket.SHUT_RDWR)
    with bind_port(*address) as again:
        assert again.getsockname() == address


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_a_service_listens_before_it_says_so_and_ends_at_a_signal(
    host: str, shown: str, number: signal.Signals
) -> None:
    messages: list[str] = []
    before = signal.getsignal(number)

    def announce(message: str) -> None:
        messages.append(message)
        with socket.create_connection(bound.getsockname()):
            signal.raise_signal(number)

    server = make_server(answer)
    with bind_port("127.0.0.1", 0) as bound:
        port = bound.getsockname()[1]
        run_server(server, host, bound, announce)
    assert messages == [f"http://{shown}:{port}"]
    assert signal.getsignal(number) == before


def test_a_service_does_not_say_what_serves_it() -> None:
    config = make_server(answer).config
    assert not config.access_log
    config.load()
    assert config.encoded_headers == []
