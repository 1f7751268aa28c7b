"""One page at a time: what is requested, and within which limits it is read."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib

import pytest
from web_pages import LOOPBACK, Page, Send, answer, html, redirect, web

from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.fetch import Fetcher, may_pass
from shadowprobe.build.web.politeness import Manners
from shadowprobe.net.failures import NoResponseError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def fetched(page: Page, *, robots: bool = False, timeout: float = 10.0, max_bytes: int = 100_000) -> Stored:
    async def ask(url: str) -> Stored:
        manners = Manners(user_agent="tests/1", timeout=timeout, max_bytes=max_bytes, allow_private=LOOPBACK)
        fetcher = Fetcher(manners)
        try:
            return await fetcher.get(url, robots=robots)
        finally:
            await fetcher.close()

    with web({"/": page}) as served:
        return asyncio.run(ask(served.url("/")))


def reason(page: Page, *, robots: bool = False, timeout: float = 10.0, max_bytes: int = 100_000) -> NoResponseError:
    with pytest.raises(NoResponseError) as caught:
        fetched(page, robots=robots, timeout=timeout, max_bytes=max_bytes)
    return caught.value


def test_a_page_comes_with_its_status_headers_and_bytes() -> None:
    got = fetched(html("Köln 🦆"))
    assert (got.status, got.reason, got.body.decode()) == (200, "OK", "Köln 🦆")
    assert got.headers["content-type"] == "text/html; charset=utf-8"


def test_only_the_body_of_a_success_is_read() -> None:
    statuses = ("200 OK", "299 Odd", "300 Multiple Choices", "404 Not Found")
    bodies = [fetched(answer(status, b"body", Content_Type="text/html")).body for status in statuses]
    assert bodies == [b"body", b"body", b"", b""]


@pytest.mark.parametrize(
    ("robots", "accepted"), [(False, "text/html, application/xhtml+xml"), (True, "text/plain, */*;q=0.5")]
)
def test_a_request_says_what_it_can_read(robots: bool, accepted: str) -> None:
    async def ask(url: str) -> None:
        fetcher = Fetcher(Manners(user_agent="tests/1", allow_private=LOOPBACK))
        await fetcher.get(url, robots=robots)
        await fetcher.close()

    with web({"/": html("x")}) as served:
        asyncio.run(ask(served.url("/")))
        assert [asked.headers["accept"] for asked in served.asked] == [accepted]


def test_a_request_says_who_asks_and_carries_nothing_else_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    # A proxy of the environment would refuse the connection.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1/")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1/")

    async def ask(url: str) -> None:
        fetcher = Fetcher(Manners(user_agent="tests/1 (mail@example.org)", allow_private=LOOPBACK))
        await fetcher.get(url)
        await fetcher.get(url)
        await fetcher.close()

    with web({"/": html("x", Set_Cookie="id=1")}) as served:
        asyncio.run(ask(served.url("/")))
        sent = [set(asked.headers) for asked in served.asked]
        assert served.asked[0].headers["user-agent"] == "tests/1 (mail@example.org)"
    assert sent == [{"host", "user-agent", "accept", "accept-encoding"}] * 2


@pytest.mark.parametrize("packing", ["gzip", "x-gzip", "GZIP"])
def test_gzip_is_unpacked(packing: str) -> None:
    assert fetched(html(gzip.compress(b"a page"), Content_Encoding=packing)).body == b"a page"


def test_deflate_is_unpacked_with_and_without_its_header() -> None:
    bare = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    assert fetched(html(zlib.compress(b"a page"), Content_Encoding="deflate")).body == b"a page"
    packed = bare.compress(b"a page") + bare.flush()
    assert fetched(html(packed, Content_Encoding="deflate")).body == b"a page"


def test_a_gzip_file_of_several_parts_is_one_page_and_rubbish_behind_it_is_left() -> None:
    parts = gzip.compress(b"one ") + gzip.compress(b"two") + b"\0\0\0"
    assert fetched(html(parts, Content_Encoding="gzip")).body == b"one two"


def test_bytes_that_come_one_by_one_are_decompressed_all_the_same() -> None:
    async def one_by_one(send: Send) -> None:
        body = gzip.compress(b"first ") + gzip.compress(b"second")
        await send(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body))
        for byte in body:
            await send(bytes([byte]))

    assert fetched(one_by_one).body == b"first second"


def test_a_packing_that_nobody_asked_for_is_a_failure() -> None:
    assert str(reason(html(b"x", Content_Encoding="br"))) == "a compression that was not requested"


def test_a_broken_packing_is_a_failure() -> None:
    assert str(reason(html(b"this is not gzip", Content_Encoding="gzip"))) == "broken compression"


def test_a_packing_that_breaks_off_is_a_failure() -> None:
    assert str(reason(html(gzip.compress(b"a page")[:-9], Content_Encoding="gzip"))) == "an answer that breaks off"


def test_a_gzip_bomb_is_never_unpacked() -> None:
    # 200 MB of zeros, packed to about 200 kB; packed again they are a few kB, which is left packed.
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    bomb = b"".join(packer.compress(bytes(1_000_000)) for _ in range(200)) + packer.flush()
    assert len(bomb) < 250_000
    page = html(bomb, Content_Encoding="gzip")
    tracemalloc.start()
    try:
        why = reason(page, max_bytes=4_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (str(why), why.passing) == ("too large", False)
    # The body so far, its next piece and one more copy while they are put together.
    assert peak < 3 * 4_000_000 + 2_000_000


@pytest.mark.parametrize(("size", "fits"), [(1000, True), (1001, False)])
def test_a_page_may_be_as_large_as_the_limit_and_no_larger(size: int, fits: bool) -> None:
    for page in (html(b"x" * size), html(gzip.compress(b"x" * size), Content_Encoding="gzip")):
        if fits:
            assert len(fetched(page, max_bytes=1000).body) == size
        else:
            assert str(reason(page, max_bytes=1000)) == "too large"


async def endless(send: Send) -> None:
    await send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        await send(b"400\r\n" + b"x" * 1024 + b"\r\n")


def test_an_endless_answer_is_too_large() -> None:
    assert str(reason(endless)) == "too large"


async def endless_nothing(send: Send) -> None:
    """Packed blocks that unpack to nothing at all."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    first = packer.compress(b"") + packer.flush(zlib.Z_SYNC_FLUSH)
    await send(HEAD + b"Content-Encoding: gzip\r\n\r\n" + first)
    while True:
        await send(b"\x00\x00\x00\xff\xff" * 1000)


def test_an_endless_packed_answer_that_unpacks_to_nothing_is_too_large() -> None:
    assert str(reason(endless_nothing)) == "too large"


async def dripping(send: Send) -> None:
    """A page that would be whole after two seconds, as the next two would be."""
    await send(HEAD + b"Content-Length: 100\r\n\r\n")
    for _ in range(100):
        await asyncio.sleep(0.02)
        await send(b"x")


async def dripping_head(send: Send) -> None:
    await send(HEAD)
    for _ in range(100):
        await asyncio.sleep(0.02)
        await send(b"X-Slow: 1\r\n")
    await send(b"Content-Length: 0\r\n\r\n")


async def informing(send: Send) -> None:
    """The answer before the answer, again and again."""
    for _ in range(100):
        await asyncio.sleep(0.02)
        await send(b"HTTP/1.1 103 Early Hints\r\n\r\n")
    await send(HEAD + b"Content-Length: 0\r\n\r\n")


@pytest.mark.parametrize("page", [dripping, dripping_head, informing])
def test_a_time_limit_holds_for_the_whole_answer_and_not_for_each_byte(page: Page) -> None:
    why = reason(page, timeout=0.3)
    assert (str(why), why.passing) == ("no answer in 0.3 s", True)


def test_a_silent_host_is_told_from_a_slow_one() -> None:
    async def silent(send: Send) -> None:
        await asyncio.sleep(30)

    assert reason(silent, timeout=1.0).silent
    assert not reason(dripping, timeout=1.0).silent


def test_a_body_shorter_than_announced_is_a_failure() -> None:
    async def cut(send: Send) -> None:
        await send(HEAD + b"Content-Length: 1000\r\n\r\nonly this")

    why = reason(cut)
    assert (str(why), why.passing) == ("an answer that breaks off", True)


def test_endless_headers_are_a_failure() -> None:
    async def bomb(send: Send) -> None:
        await send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await send(b"X-More: " + b"x" * 8000 + b"\r\n")

    assert str(reason(bomb)) == "headers too large"


def test_what_is_not_http_is_a_failure() -> None:
    async def other(send: Send) -> None:
        await send(b"220 mail.example.org ESMTP\r\n")

    assert str(reason(other)) == "an answer that breaks off"


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("application/pdf", "not HTML: application/pdf"),
        ("Image/PNG; x=y", "not HTML: image/png"),
        ("", "not HTML: no content type"),
        ("what is this <b>", "not HTML: no content type"),
    ],
)
def test_what_is_not_html_is_left_unread(kind: str, why: str) -> None:
    async def typed(send: Send) -> None:
        await send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: 50\r\n\r\n".encode())
        # Whoever waits for the body waits in vain.
        await asyncio.sleep(30)

    assert str(reason(typed)) == why


def test_xhtml_is_html() -> None:
    assert fetched(answer("200 OK", b"<html/>", Content_Type="application/xhtml+xml")).body == b"<html/>"


def test_redirects_and_errors_come_without_a_body() -> None:
    moved, gone = fetched(redirect("/ä")), fetched(answer("410 Gone", b"gone", Content_Type="text/html"))
    assert (moved.status, moved.headers["location"], moved.body) == (302, "/ä", b"")
    assert (gone.status, gone.body) == (410, b"")


def test_a_robots_txt_of_any_type_is_read_and_a_long_one_cut() -> None:
    lines = b"Disallow: /x\n" * 50_000
    assert len(lines) > 512_000
    got = fetched(answer("200 OK", lines, Content_Type="text/html"), robots=True)
    assert got.body == lines[:512_000]


def test_nobody_there_is_no_connection() -> None:
    async def ask(url: str) -> None:
        fetcher = Fetcher(Manners(user_agent="tests", allow_private=LOOPBACK))
        try:
            await fetcher.get(url)
        finally:
            await fetcher.close()

    with web({}) as served:
        url = served.url("/")
    with pytest.raises(NoResponseError, match="no connection"):
        asyncio.run(ask(url))


def test_plain_http_on_the_other_side_is_no_secure_connection() -> None:
    async def ask(port: int) -> None:
        fetcher = Fetcher(Manners(user_agent="tests", timeout=5, allow_private=LOOPBACK))
        try:
            await fetcher.get(f"https://127.0.0.1:{port}/")
        finally:
            await fetcher.close()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"hello\r\n" * 9)
        writer.close()
        await writer.wait_closed()

    async def hello() -> None:
        async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
            await ask(server.sockets[0].getsockname()[1])

    with pytest.raises(NoResponseError, match="no secure connection"):
        asyncio.run(hello())


@pytest.mark.parametrize(
    ("failed", "passing"),
    [
        *((status, True) for status in ("408", "429", "500", "503", "521", "robots.txt: 503")),
        *((status, False) for status in ("403", "404", "410", "robots.txt forbids it", "")),
        *((why, True) for why in ("no answer in 30 s", "no connection", "an answer that breaks off")),
        *((why, False) for why in ("no such host", "not HTML: image/png", "a private address", "too large")),
    ],
)
def test_a_failure_that_may_pass_is_told_from_one_that_stays(failed: str, passing: bool) -> None:
    assert may_pass(failed) == passing
