"""A plain connection does what httpx's own does, and reports what goes wrong in httpx's own words."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest
from service import Asked, Reply, serving

from shadowprobe import ItemError
from shadowprobe.connections import Connections, PlainConnection


@contextmanager
def raw_server(*answers: bytes) -> Iterator[str]:
    """A server that answers each connection with the next bytes, whatever it is asked, and closes it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    # Of a test that fails it may wait for ever.
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        thread.join(10)
        listener.close()


def ask(work: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]) -> httpx.Response:
    async def asked() -> httpx.Response:
        async with httpx.AsyncClient(transport=PlainConnection(), follow_redirects=True) as client:
            return await work(client)

    return asyncio.run(asked())


def get(url: str) -> httpx.Response:
    return ask(lambda client: client.get(url))


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def test_a_connection_is_kept_for_the_next_request() -> None:
    ports = set()

    def note_port(number: int, asked: Asked) -> Reply:
        ports.add(threading.get_ident())
        return 200, {}, asked.body or asked.method.encode()

    async def thrice(client: httpx.AsyncClient, url: str) -> list[str]:
        return [(await client.post(url, content=text)).text for text in ("eins", "zwei", "")]

    with serving(note_port) as service:

        async def asked() -> list[str]:
            async with httpx.AsyncClient(transport=PlainConnection()) as client:
                return await thrice(client, service.url)

        assert asyncio.run(asked()) == ["eins", "zwei", "POST"]
    # One thread of the service for each connection.
    assert len(ports) == 1


def test_a_kept_connection_that_the_service_has_closed_is_opened_anew() -> None:
    with raw_server(OK, OK) as url:

        async def twice(client: httpx.AsyncClient) -> httpx.Response:
            await client.get(url)
            return await client.get(url)

        assert ask(twice).text == "ok"


def test_a_kept_connection_that_breaks_in_the_midst_of_an_answer_is_the_callers_to_try_again() -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            for answer in (OK, OK[:-1]):
                connection.recv(65536)
                connection.sendall(answer)
        # Who asks once more of his own accord is answered.
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(OK)

    threading.Thread(target=serve, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"

    async def twice(client: httpx.AsyncClient) -> httpx.Response:
        assert (await client.get(url)).text == "ok"
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(url)
        return await client.get(url)

    assert ask(twice).text == "ok"
    listener.close()


def titled(title: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(title), title)


@pytest.mark.parametrize("pause", [0.0, 0.1], ids=["at once", "a moment later"])
def test_what_comes_unasked_after_an_answer_is_not_the_answer_to_the_next_request(pause: float) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    sent = threading.Event()

    def serve() -> None:
        for number in (1, 2):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(titled(b"right %d" % number) + (b"" if pause else titled(b"unasked")))
                if pause:
                    time.sleep(pause)
                    connection.sendall(titled(b"unasked"))
                sent.set()
                # Kept open: that it was closed is not what tells.
                connection.recv(65536)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"

    async def twice(client: httpx.AsyncClient) -> httpx.Response:
        assert (await client.get(url)).text == "right 1"
        await asyncio.to_thread(sent.wait, 10)
        # The loop has to hear of what has come.
        await asyncio.sleep(0.05)
        return await client.get(url)

    answer = ask(twice)
    thread.join(10)
    listener.close()
    assert answer.text == "right 2"


def through_connections(url: str) -> httpx.Response:
    async def asked() -> httpx.Response:
        connections = Connections(url, timeout=5, follow_redirects=True)
        try:
            return await connections.send(connections.build_request("GET", url))
        finally:
            await connections.aclose()

    return asyncio.run(asked())


@pytest.mark.parametrize("packing", ["gzip, gzip", "deflate,GZIP", "br", "zstd"])
def test_an_answer_is_unpacked_once_and_in_no_way_that_was_not_asked_for(packing: str) -> None:
    twice = gzip.compress(gzip.compress(b"[]"))
    with serving(lambda *_: (200, {"Content-Encoding": packing}, twice)) as service:
        with pytest.raises(ItemError, match=f"^the answer is packed as '{packing}', which was not asked for$"):
            through_connections(service.url)
        assert service.requests[0].headers["accept-encoding"] == "gzip, deflate"


def test_a_charset_in_the_place_of_a_packing_is_passed_over() -> None:
    with serving(lambda *_: (200, {"Content-Encoding": "UTF-8"}, "Köln".encode())) as service:
        assert through_connections(service.url).text == "Köln"


def test_what_a_redirect_carries_is_not_unpacked() -> None:
    def redirect(number: int, asked: Asked) -> Reply:
        # No unpacker takes this for gzip.
        return (302, {"Location": "/there", "Content-Encoding": "gzip"}, b"no") if number == 1 else (200, {}, b"there")

    with serving(redirect) as service:
        assert through_connections(service.url).text == "there"


def test_a_packed_answer_is_unpacked_and_one_in_pieces_put_together() -> None:
    packed = gzip.compress("Köln".encode())
    pieces = b"3\r\n" + packed[:3] + b"\r\n" + f"{len(packed) - 3:x}".encode() + b"\r\n" + packed[3:] + b"\r\n0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    with raw_server(head + pieces) as url:
        assert get(url).text == "Köln"


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    with raw_server(b"HTTP/1.1 200 OK\r\n\r\nall of it") as url:
        assert get(url).text == "all of it"


def test_a_word_before_the_answer_is_passed_over() -> None:
    with raw_server(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK) as url:
        assert get(url).text == "ok"


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf", b"I am no web server\r\n\r\n"],
    ids=["nothing", "cut short", "rubbish"],
)
def test_a_broken_answer_is_a_fault_of_the_other_side(answer: bytes) -> None:
    with raw_server(answer) as url, pytest.raises(httpx.RemoteProtocolError):
        get(url)


def test_a_port_where_nobody_listens_is_no_connection() -> None:
    with pytest.raises(httpx.ConnectError):
        get("http://127.0.0.1:9/")


def test_a_request_that_is_given_up_leaves_nothing_for_the_next() -> None:
    release = threading.Event()

    def slow_once(number: int, asked: Asked) -> Reply:
        if number == 1:
            release.wait(10)
        return 200, {}, asked.body

    with serving(slow_once) as service:

        async def impatient(client: httpx.AsyncClient) -> httpx.Response:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.post(service.url, content="first")
            release.set()
            return await client.post(service.url, content="second")

        assert ask(impatient).text == "second"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda number, asked: (200, {}, b"by the proxy")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/api"))
        assert through_connections("http://linker.example/api").text == "by the proxy"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with serving(lambda number, asked: (200, {}, b"directly")) as service:
            assert through_connections(service.url).text == "directly"
