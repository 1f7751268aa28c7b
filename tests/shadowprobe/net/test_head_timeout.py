"""Connections whose request does not begin, against the real server on loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shadowprobe.errors import UsageError

pytest.importorskip("uvicorn", reason="the extra [serve] is not installed", exc_type=ImportError)

from shadowprobe.net import head_timeout
from shadowprobe.net.service import bind_port, make_server

ASK = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Answers `ok`; at `/slow` only after the time for a head is over."""
    if scope["path"] == "/slow":
        await asyncio.sleep(head_timeout.HEAD_TIMEOUT + 0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(head_timeout, "HEAD_TIMEOUT", 1.5)
    monkeypatch.setattr(head_timeout, "MOST_WAITING", 3)
    server = make_server(answer)
    with bind_port("127.0.0.1", 0) as bound:
        bound.listen()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        yield bound.getsockname()[1]
        server.should_exit = True
        thread.join(30)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def read_all(connection: socket.socket) -> bytes:
    """What the server sends until it closes the connection."""
    content = b""
    while piece := connection.recv(65536):
        content += piece
    return content


def ask(connection: socket.socket) -> None:
    """One request, which is answered."""
    connection.sendall(ASK)
    content = b""
    while not content.endswith(b"ok"):
        piece = connection.recv(65536)
        assert piece, content
        content += piece
    assert content.startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: he", ASK[:-2]])
def test_a_head_that_is_not_complete_in_time_is_late(port: int, sent: bytes) -> None:
    with connect(port) as connection:
        connection.sendall(sent)
        assert read_all(connection).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_a_slow_answer_is_waited_for(port: int) -> None:
    with connect(port) as connection:
        connection.sendall(ASK.replace(b"/ ", b"/slow ").replace(b"here", b"here\r\nConnection: close"))
        received = read_all(connection)
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert received.endswith(b"ok")


def test_a_connection_may_ask_again_and_has_as_much_time_again(port: int) -> None:
    with connect(port) as connection:
        for _ in range(2):
            ask(connection)
        connection.sendall(ASK[:10])
        assert b"408 Request Timeout" in read_all(connection)


def test_of_too_many_that_wait_the_oldest_is_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Far away, so that only their number closes a connection.
    monkeypatch.setattr(head_timeout, "HEAD_TIMEOUT", 600.0)
    first = connect(port)
    first.sendall(b"GET")
    time.sleep(0.2)
    others = [connect(port) for _ in range(3)]
    assert b"408 Request Timeout" in read_all(first)
    for connection in others:
        ask(connection)
        connection.close()
    first.close()


def test_a_port_that_is_taken_is_said_to_be() -> None:
    with bind_port("127.0.0.1", 0) as bound:
        bound.listen()
        port = bound.getsockname()[1]
        with pytest.raises(UsageError, match=rf"^127\.0\.0\.1, port {port}: .*; choose another with --port$"):
            bind_port("127.0.0.1", port).__enter__()
    # It can be used at once again.
    with bind_port("127.0.0.1", port) as again:
        assert again.getsockname()[1] == port
        assert again.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
