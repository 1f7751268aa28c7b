"""Which addresses may be asked, and that what was checked is what is connected to."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from web_pages import LOOPBACK, html, web

from shadowprobe.build.web.fetch import Fetcher
from shadowprobe.build.web.politeness import Manners
from shadowprobe.net import client
from shadowprobe.net.addresses import PinnedResolver, is_public
from shadowprobe.net.failures import NoResponseError, RefusedError, UnknownHostError


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_an_address_of_the_open_internet_may_be_asked(address: str) -> None:
    assert is_public(address)


def test_a_public_address_behind_a_translator_may_be_asked() -> None:
    # 64:ff9b::/96 holds the IPv4 address in its last 32 bits: 8.8.8.8 is 0808:0808.
    assert is_public("64:ff9b::808:808")
    assert is_public("2002:808:808::1")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.9",
        "192.88.99.1",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b:1::808:808",
        "2002:7f00:1::",
        "2002:c0a8:101::",
        "2001::1",
        "2001:db8::1",
        "3fff::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%lo",
        "fec0::1",
        "ff02::1",
        "100::1",
        "5f00::1",
    ],
)
def test_every_other_address_is_refused(address: str) -> None:
    assert not is_public(address)


def test_a_network_can_be_allowed_without_the_others() -> None:
    resolver = PinnedResolver(("127.0.0.0/8",))
    assert resolver.is_allowed("127.0.0.5")
    assert not resolver.is_allowed("10.0.0.1")
    assert not resolver.is_allowed("::1")
    asyncio.run(resolver.close())


def test_all_private_addresses_can_be_allowed() -> None:
    resolver = PinnedResolver(True)
    assert resolver.is_allowed("10.0.0.1")
    asyncio.run(resolver.close())


def row(address: str) -> tuple[Any, ...]:
    return socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)


def addresses_of(host: str, *found: str) -> list[str]:
    resolver = PinnedResolver(lookup=lambda host, port: [row(address) for address in found])
    try:
        return [row["host"] for row in asyncio.run(resolver.resolve(host, 80))]
    finally:
        asyncio.run(resolver.close())


def test_a_host_with_public_addresses_gives_each_once() -> None:
    assert addresses_of("example.org", "8.8.8.8", "1.1.1.1", "8.8.8.8") == ["8.8.8.8", "1.1.1.1"]


def test_an_address_is_given_with_all_that_a_connection_needs() -> None:
    resolver = PinnedResolver(lookup=lambda host, port: [row("8.8.8.8")])
    assert asyncio.run(resolver.resolve("example.org", 80)) == [
        {
            "hostname": "example.org",
            "host": "8.8.8.8",
            "port": 80,
            "family": socket.AF_INET,
            "proto": 6,
            "flags": socket.AI_NUMERICHOST,
        }
    ]
    asyncio.run(resolver.close())
    with pytest.raises(RuntimeError, match="shutdown"):
        asyncio.run(resolver.resolve("example.org", 80))


def test_a_name_in_place_of_an_address_is_not_allowed() -> None:
    assert not PinnedResolver().is_allowed("example.org")


def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(RefusedError, match="a private address"):
        addresses_of("example.org", "8.8.8.8", "10.0.0.1")


@pytest.mark.parametrize("host", ["localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0"])
def test_every_way_to_write_loopback_is_refused(host: str) -> None:
    resolver = PinnedResolver()
    with pytest.raises((RefusedError, UnknownHostError)):
        asyncio.run(resolver.resolve(host, 80))
    asyncio.run(resolver.close())


def test_localhost_is_refused_as_private() -> None:
    resolver = PinnedResolver()
    with pytest.raises(RefusedError, match="a private address"):
        asyncio.run(resolver.resolve("localhost", 80))
    asyncio.run(resolver.close())


def test_a_name_without_an_address_is_told_from_one_that_cannot_be_looked_up() -> None:
    def failing(code: int) -> UnknownHostError:
        def lookup(host: str, port: int) -> list[tuple[Any, ...]]:
            raise socket.gaierror(code, "no")

        resolver = PinnedResolver(lookup=lookup)
        with pytest.raises(UnknownHostError) as caught:
            asyncio.run(resolver.resolve("example.org", 80))
        asyncio.run(resolver.close())
        return caught.value

    gone, passing = failing(socket.EAI_NONAME), failing(socket.EAI_AGAIN)
    assert (str(gone), gone.passing, gone.silent) == ("no such host", False, False)
    assert (str(passing), passing.passing, passing.silent) == ("the host name cannot be looked up", True, True)


def test_a_name_that_no_resolver_takes_is_no_such_host() -> None:
    resolver = PinnedResolver()
    with pytest.raises(UnknownHostError, match="no such host"):
        asyncio.run(resolver.resolve("a" * 64 + ".org", 80))
    asyncio.run(resolver.close())


def test_a_name_server_that_changes_its_mind_does_not_move_the_connection() -> None:
    answers = ["127.0.0.2", "127.0.0.1", "127.0.0.1"]
    looked_up = []

    def rebinding(host: str, port: int) -> list[tuple[Any, ...]]:
        looked_up.append(host)
        return [row(answers[len(looked_up) - 1])]

    async def ask(port: int) -> bytes:
        fetcher = Fetcher(Manners(user_agent="tests", allow_private=("127.0.0.2/32",)), lookup=rebinding)
        try:
            first = await fetcher.get(f"http://rebinding.example:{port}/")
            # A new connection is a new question, and its answer is checked as well.
            with pytest.raises(NoResponseError, match="a private address"):
                await fetcher.get(f"http://rebinding.example:{port + 1}/")
            return first.body
        finally:
            await fetcher.close()

    with web({"127.0.0.1/": html("the private page"), "127.0.0.2/": html("the checked page")}, hosts=2) as served:
        assert asyncio.run(ask(served.port)) == b"the checked page"
        assert [asked.host for asked in served.asked] == ["127.0.0.2"]
        # The server is asked for the name, and not for the address.
        assert served.asked[0].headers["host"] == f"rebinding.example:{served.port}"
    assert looked_up == ["rebinding.example", "rebinding.example"]


def test_the_next_address_is_taken_where_the_first_has_nobody() -> None:
    async def ask(port: int) -> bytes:
        rows = [row("127.0.0.77"), row("127.0.0.1")]
        fetcher = Fetcher(Manners(user_agent="tests", allow_private=LOOPBACK), lookup=lambda host, port: rows)
        try:
            return (await fetcher.get(f"http://two.example:{port}/")).body
        finally:
            await fetcher.close()

    with web({"/": html("here")}) as served:
        assert asyncio.run(ask(served.port)) == b"here"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed, which makes the certificate")
def test_tls_speaks_to_the_host_by_its_name_and_checks_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=right.example", "-addext", "subjectAltName=DNS:right.example"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", "-x509", *curve, *names, *files], check=True, capture_output=True)
    asked_for: list[str | None] = []
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate, key)
    server_side.sni_callback = lambda connection, name, context: asked_for.append(name)
    trusting = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(client, "_make_ssl_context", lambda use_environment: trusting)

    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(html("a secret page"))
        with suppress(ConnectionError):
            await reader.read()
        writer.close()

    async def ask() -> bytes:
        manners = Manners(user_agent="tests", allow_private=LOOPBACK)
        fetcher = Fetcher(manners, lookup=lambda host, port: [row("127.0.0.1")])
        async with await asyncio.start_server(page, "127.0.0.1", 0, ssl=server_side) as server:
            port = server.sockets[0].getsockname()[1]
            try:
                with pytest.raises(NoResponseError, match="a certificate that is not valid"):
                    await fetcher.get(f"https://wrong.example:{port}/")
                return (await fetcher.get(f"https://right.example:{port}/")).body
            finally:
                await fetcher.close()

    assert asyncio.run(ask()) == b"a secret page"
    assert asked_for == ["wrong.example", "right.example"]
