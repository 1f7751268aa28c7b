"""One request at a time: connections, redirects, decompression, and the errors of each."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import httpx
import pytest
from service import Asked, Behaviour, Reply, serving

import shadowprobe
from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.client import DEFAULT, Client
from shadowprobe.net.decompression import MOST_MEMBERS
from shadowprobe.net.failures import (
    BrokenResponseError,
    ConnectionFailedError,
    NoResponseError,
    RedirectError,
    RefusedError,
    TimeLimitError,
    TooLargeError,
)
from shadowprobe.net.limits import Limits

T = TypeVar("T")


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


class Asking:
    """A client with the verbs that the tests need."""

    def __init__(self) -> None:
        self._client = Client()

    async def get(self, url: str) -> httpx.Response:
        return await self._client.send(httpx.Request("GET", url))

    async def post(self, url: str, content: str) -> httpx.Response:
        return await self._client.send(httpx.Request("POST", url, content=content))

    async def close(self) -> None:
        await self._client.close()


def ask(work: Callable[[Asking], Awaitable[T]]) -> T:
    async def asked() -> T:
        client = Asking()
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(asked())


def get(url: str) -> httpx.Response:
    return ask(lambda client: client.get(url))


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def test_a_connection_is_kept_for_the_next_request() -> None:
    ports = set()

    def note_port(number: int, asked: Asked) -> Reply:
        ports.add(threading.get_ident())
        return 200, {}, asked.body or asked.method.encode()

    with serving(note_port) as service:

        async def thrice(client: Asking) -> list[str]:
            return [(await client.post(service.url, content=text)).text for text in ("eins", "zwei", "")]

        assert ask(thrice) == ["eins", "zwei", "POST"]
    # One thread of the service for each connection.
    assert len(ports) == 1


def test_a_kept_connection_that_the_service_has_closed_is_opened_anew() -> None:
    with raw_server(OK, OK) as url:

        async def twice(client: Asking) -> httpx.Response:
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

    async def twice(client: Asking) -> httpx.Response:
        assert (await client.get(url)).text == "ok"
        with pytest.raises(BrokenResponseError):
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

    async def twice(client: Asking) -> httpx.Response:
        assert (await client.get(url)).text == "right 1"
        await asyncio.to_thread(sent.wait, 10)
        # The loop has to hear of what has come.
        await asyncio.sleep(0.05)
        return await client.get(url)

    answer = ask(twice)
    thread.join(10)
    listener.close()
    assert answer.text == "right 2"


@pytest.mark.parametrize("packing", ["gzip, gzip", "deflate,GZIP", "br", "zstd"])
def test_an_answer_is_unpacked_once_and_in_no_way_that_was_not_asked_for(packing: str) -> None:
    twice = gzip.compress(gzip.compress(b"[]"))
    with serving(lambda *_: (200, {"Content-Encoding": packing}, twice)) as service:
        with pytest.raises(BrokenResponseError) as refused:
            get(service.url)
        assert refused.value.message == f"a compression that was not requested ({packing})"
        assert service.requests[0].headers["accept-encoding"] == "gzip, deflate"


def test_a_charset_in_the_place_of_a_packing_is_passed_over() -> None:
    with serving(lambda *_: (200, {"Content-Encoding": "UTF-8"}, "Köln".encode())) as service:
        assert get(service.url).text == "Köln"


def test_what_a_redirect_carries_is_not_unpacked() -> None:
    def redirect(number: int, asked: Asked) -> Reply:
        # No unpacker takes this for gzip.
        return (302, {"Location": "/there", "Content-Encoding": "gzip"}, b"no") if number == 1 else (200, {}, b"there")

    with serving(redirect) as service:
        assert get(service.url).text == "there"


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
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00",
        b"I am no web server\r\n\r\n",
    ],
    ids=["nothing", "cut short", "a broken chunk", "half of a compressed body", "rubbish"],
)
def test_a_broken_answer_is_a_fault_of_the_other_side_and_may_pass(answer: bytes) -> None:
    with raw_server(answer) as url, pytest.raises(BrokenResponseError) as broken:
        get(url)
    assert broken.value.passing


def test_a_port_where_nobody_listens_is_no_connection() -> None:
    with pytest.raises(ConnectionFailedError):
        get("http://127.0.0.1:9/")


def test_a_request_that_is_given_up_leaves_nothing_for_the_next() -> None:
    release = threading.Event()

    def slow_once(number: int, asked: Asked) -> Reply:
        if number == 1:
            release.wait(10)
        return 200, {}, asked.body

    with serving(slow_once) as service:

        async def impatient(client: Asking) -> httpx.Response:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.post(service.url, content="first")
            release.set()
            return await client.post(service.url, content="second")

        assert ask(impatient).text == "second"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda number, asked: (200, {}, b"by the proxy")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/api"))
        assert get("http://linker.example/api").text == "by the proxy"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with serving(lambda number, asked: (200, {}, b"directly")) as service:
            assert get(service.url).text == "directly"


def test_a_password_of_the_url_is_sent_as_a_header() -> None:
    with serving(lambda *_: (200, {}, b"")) as service:
        get(service.url.replace("://", "://me:p%40ss@"))
    # The same as `printf 'me:p@ss' | base64`.
    assert service.requests[0].headers["authorization"] == "Basic bWU6cEBzcw=="


def test_cookies_are_not_sent_back() -> None:
    with serving(lambda *_: (200, {"Set-Cookie": "id=1"}, b"")) as service:

        async def twice(client: Asking) -> None:
            await client.get(service.url)
            await client.get(service.url)

        ask(twice)
    assert "cookie" not in service.requests[1].headers


def test_a_large_body_is_sent_whole() -> None:
    with serving(lambda number, asked: (200, {}, b"%d" % len(asked.body))) as service:
        assert ask(lambda client: client.post(service.url, "x" * 3_000_000)).text == "3000000"


def test_a_proxy_that_cannot_be_used_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:9")
    with pytest.raises(NoResponseError) as refused:
        get("http://linker.invalid/")
    assert "\n" not in refused.value.message


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "127.0.0.1/x"])
def test_only_http_is_sent(url: str) -> None:
    with pytest.raises(RefusedError, match="neither http nor https"):
        get(url)


def test_code_without_a_loop_has_the_same_client_also_inside_one() -> None:
    async def notebook(url: str) -> str:
        with closing(BlockingClient(user_agent="tests/1")) as client:
            return client.send(httpx.Request("GET", url), Limits()).text

    # Other tests may have left a client to the garbage collector.
    before = set(threading.enumerate())
    with serving(lambda number, asked: (200, {}, asked.headers["user-agent"].encode())) as service:
        assert asyncio.run(notebook(service.url)) == "tests/1"
    assert "http-client" not in {thread.name for thread in set(threading.enumerate()) - before}


def test_a_client_that_nobody_closed_ends_its_thread() -> None:
    before = set(threading.enumerate())
    with serving(lambda *_: (200, {}, b"")) as service:
        client = BlockingClient()
        client.send(httpx.Request("GET", service.url), Limits())
        (thread,) = [one for one in set(threading.enumerate()) - before if one.name == "http-client"]
        del client
        thread.join(10)
        assert not thread.is_alive()


def redirecting(target: str) -> Behaviour:
    return lambda *_: (307, {"Location": target}, b"")


def test_a_redirect_leads_to_no_private_address_that_nobody_has_named() -> None:
    with serving(lambda *_: (200, {}, b"inside")) as inner:
        for host in ("127.0.0.1", "localhost", "[::ffff:7f00:1]"):
            target = inner.url.replace("127.0.0.1", host)
            with (
                serving(redirecting(target)) as service,
                pytest.raises(RedirectError, match="a redirect to a private address") as refused,
            ):
                get(service.url)
            assert refused.value.detail == target
        assert inner.requests == []
        # The user has named this one.
        assert get(inner.url).text == "inside"


def test_behind_a_proxy_a_redirect_to_a_private_address_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    targets = ["http://127.0.0.2/", "http://localhost/", "http://[::1]/", "http://deep.localhost./"]

    def redirect(number: int, asked: Asked) -> Reply:
        return 307, {"Location": targets[number - 1]}, b""

    with serving(redirect) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/api"))
        monkeypatch.setenv("no_proxy", "")
        for target in targets:
            with pytest.raises(RedirectError) as refused:
                get("http://127.0.0.3/")
            assert refused.value.message == f"a redirect to a private address ({target})"
        assert len(proxy.requests) == len(targets)


@pytest.mark.parametrize("charset", ["undefined", "bz2_codec", "idna", "punycode", "unicode_escape", "no-such"])
def test_a_charset_that_is_none_is_read_as_utf_8(charset: str) -> None:
    kind = {"Content-Type": f"text/plain; charset={charset}"}
    with serving(lambda *_: (200, kind, "Müll\xff \\d".encode())) as service:
        assert get(service.url).text == "Müll\xff \\d"


def test_other_charsets_are_read_as_declared() -> None:
    with serving(lambda *_: (200, {"Content-Type": "text/plain; charset=latin-1"}, b"M\xfcll")) as service:
        assert get(service.url).text == "Müll"


def test_text_in_utf_16_is_read_with_and_without_a_mark() -> None:
    kind = {"Content-Type": "text/plain; charset=utf-16"}
    for charset in ("utf-16", "utf-16-le"):
        body = "Müll".encode(charset)
        with serving(lambda *_, body=body: (200, kind, body)) as service:
            assert get(service.url).text == "Müll"


def test_half_a_character_cannot_be_smuggled_in_by_a_charset() -> None:
    with serving(lambda *_: (200, {"Content-Type": "text/plain; charset=utf-7"}, b"+2AA-")) as service:
        assert get(service.url).text == "+2AA-"


@pytest.mark.parametrize("size", [2**20 - 1, 2**20, 2**20 + 1, 5 * 2**20])
def test_a_body_that_is_decompressed_in_pieces_is_whole(size: int) -> None:
    body = bytes(range(256)) * (size // 256) + bytes(size % 256)
    packed = gzip.compress(body[: size // 2]) + gzip.compress(body[size // 2 :])
    with serving(lambda *_: (200, {"Content-Encoding": "gzip"}, packed)) as service:
        assert get(service.url).content == body


def test_a_body_of_very_many_empty_gzip_files_is_refused() -> None:
    packed = gzip.compress(b"") * (MOST_MEMBERS + 1)
    with (
        serving(lambda *_: (200, {"Content-Encoding": "gzip"}, packed)) as service,
        pytest.raises(BrokenResponseError, match="broken compression"),
    ):
        get(service.url)


def send(url: str, limits: Limits = DEFAULT, **options: bool) -> httpx.Response:
    async def work() -> httpx.Response:
        client = Client()
        try:
            return await client.send(httpx.Request("GET", url), limits, **options)
        finally:
            await client.close()

    return asyncio.run(work())


def read(url: str, limits: Limits, *, cut: bool) -> bytes:
    async def work() -> bytes:
        client = Client()
        try:
            async with client.stream(httpx.Request("GET", url), limits) as incoming:
                return await incoming.read(cut=cut)
        finally:
            await client.close()

    return asyncio.run(work())


def test_a_body_may_be_as_large_as_the_limit_and_no_larger() -> None:
    limits = Limits(max_bytes=2**19)
    # With a length in its head, in pieces without one, and compressed.
    for body in (bytes(2**19), bytes(2**19 + 1)):
        packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(body)
        for answer in (titled(body), b"HTTP/1.1 200 OK\r\n\r\n" + body, packed):
            with raw_server(answer) as url:
                if len(body) == 2**19:
                    assert send(url, limits).content == body
                    continue
                with pytest.raises(TooLargeError) as large:
                    send(url, limits)
                assert large.value.message == "too large (more than 0.5 MB)"


def test_a_body_that_is_too_large_can_be_cut_at_the_limit() -> None:
    for answer in (titled(b"0123456789"), b"HTTP/1.1 200 OK\r\n\r\n0123456789"):
        for limit, text in ((9, b"012345678"), (10, b"0123456789"), (11, b"0123456789")):
            with raw_server(answer) as url:
                assert read(url, Limits(max_bytes=limit), cut=True) == text
    with raw_server(titled(b"0123456789")) as url, pytest.raises(TooLargeError):
        read(url, Limits(max_bytes=9), cut=False)


def test_a_compressed_body_counts_as_sent_too() -> None:
    # Twenty empty gzip files are nothing when decompressed.
    packed = gzip.compress(b"") * 20
    with raw_server(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed) as url, pytest.raises(TooLargeError):
        send(url, Limits(max_bytes=len(packed) - 1))


def counting_down(number: int, asked: Asked) -> Reply:
    """A redirect to the number below, and an answer at 0."""
    left = int(asked.path.rpartition("/")[2])
    return (302, {"Location": f"/{left - 1}"}, b"") if left else (200, {}, b"there")


def test_ten_redirects_are_followed_and_no_more() -> None:
    with serving(counting_down) as service:
        start = service.url.removesuffix("/api")
        assert send(f"{start}/10").text == "there"
        with pytest.raises(RedirectError, match="too many redirects"):
            send(f"{start}/11")
        assert send(f"{start}/1", Limits(redirects=1)).text == "there"
        with pytest.raises(RedirectError):
            send(f"{start}/1", Limits(redirects=0))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_kind_of_redirect_is_followed_if_it_is_wanted(status: int) -> None:
    def redirect(number: int, asked: Asked) -> Reply:
        return (200, {}, b"there") if asked.path == "/there" else (status, {"Location": "/there"}, b"here")

    with serving(redirect) as service:
        assert send(service.url).text == "there"
        assert (send(service.url, follow=False).status_code, send(service.url, follow=False).text) == (status, "here")


@pytest.mark.parametrize(
    ("status", "headers"), [(300, {"Location": "/there"}), (305, {"Location": "/there"}), (302, {})]
)
def test_what_is_no_redirect_is_the_answer(status: int, headers: dict[str, str]) -> None:
    with serving(lambda *_: (status, headers, b"here")) as service:
        assert send(service.url).status_code == status


@pytest.mark.parametrize(
    ("answer", "is_silent"),
    [(b"", True), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", False)],
    ids=["no head", "half a body"],
)
def test_the_whole_time_is_limited(answer: bytes, is_silent: bool) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)
            done.wait(60)

    threading.Thread(target=serve, daemon=True).start()
    with pytest.raises(TimeLimitError) as late:
        send(f"http://127.0.0.1:{listener.getsockname()[1]}/", Limits(seconds=0.5))
    done.set()
    listener.close()
    assert (late.value.message, late.value.passing, late.value.silent) == ("no answer in 0.5 s", True, is_silent)


def test_one_line_of_a_head_may_have_16_kilobytes() -> None:
    def answer(size: int) -> bytes:
        return b"HTTP/1.1 200 OK\r\nX: " + b"x" * size + b"\r\nContent-Length: 2\r\n\r\nok"

    with raw_server(answer(16_000)) as url:
        assert get(url).text == "ok"
    with raw_server(answer(17_000)) as url, pytest.raises(BrokenResponseError, match="headers too large"):
        get(url)


def test_the_headers_of_a_response_describe_what_was_read() -> None:
    packed = gzip.compress(b"text")
    head = b"HTTP/1.1 200 Quite Fine\r\nContent-Encoding: gzip\r\nX-Kept: yes\r\nContent-Length: %d\r\n\r\n" % len(
        packed
    )
    with raw_server(head + packed) as url:
        began = time.monotonic()
        response = get(url)
        took = time.monotonic() - began
    assert (response.content, response.headers["x-kept"], response.reason_phrase) == (b"text", "yes", "Quite Fine")
    assert "content-encoding" not in response.headers
    # httpx adds the length of what it was given.
    assert response.headers["content-length"] == "4"
    assert 0 < response.elapsed.total_seconds() <= took


def test_a_request_says_who_sends_it_and_what_it_takes() -> None:
    with serving(lambda *_: (200, {}, b"")) as service:
        get(service.url)
    headers = service.requests[0].headers
    assert headers["user-agent"] == f"shadowprobe/{shadowprobe.__version__}"
    assert (headers["accept"], headers["accept-encoding"]) == ("*/*", "gzip, deflate")
    assert "content-type" not in headers


def ask_twice(**settings: Any) -> int:
    """The number of connections for two requests."""
    threads = set()

    def note_thread(number: int, asked: Asked) -> Reply:
        threads.add(threading.current_thread())
        return 200, {}, b""

    with serving(note_thread) as service, closing(BlockingClient(**settings)) as client:
        for _ in range(2):
            client.send(httpx.Request("GET", service.url), Limits())
    return len(threads)


def test_a_client_keeps_its_connection_unless_told_otherwise() -> None:
    assert ask_twice() == 1
    assert ask_twice(keep_alive=False) == 2


def test_a_proxy_is_not_used_without_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    with serving(lambda *_: (200, {}, b"directly")) as service:
        with closing(BlockingClient(use_environment=False)) as client:
            assert client.send(httpx.Request("GET", service.url), Limits()).text == "directly"
        with closing(BlockingClient()) as client, pytest.raises(ConnectionFailedError):
            client.send(httpx.Request("GET", service.url), Limits())


def test_one_proxy_can_be_named_for_all_kinds_of_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda *_: (200, {}, b"by the proxy")) as proxy:
        monkeypatch.setenv("all_proxy", proxy.url.removesuffix("/api"))
        monkeypatch.setenv("no_proxy", "")
        assert get("http://linker.example/api").text == "by the proxy"


def test_a_server_without_https_is_no_secure_connection() -> None:
    with raw_server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url, pytest.raises(ConnectionFailedError) as failed:
        get(url.replace("http:", "https:"))
    assert str(failed.value) == "no secure connection"


def test_a_refused_connection_is_an_answer_of_the_machine() -> None:
    with pytest.raises(ConnectionFailedError) as failed:
        get("http://127.0.0.1:9/")
    assert (str(failed.value), failed.value.silent) == ("no connection", False)


def test_requests_are_logged_without_their_query(caplog: pytest.LogCaptureFixture) -> None:
    with serving(lambda *_: (204, {}, b"")) as service:
        get(f"{service.url}?token=s3cret")
        assert caplog.messages == []
        with caplog.at_level("DEBUG", "shadowprobe.net"):
            get(f"{service.url}?token=s3cret")
    (message,) = caplog.messages
    assert message.startswith(f"HTTP Request: GET {service.url}")
    assert message.endswith(" 204")
    assert "s3cret" not in message
