"""Everything that sends requests has every limit: bytes, time, redirects, addresses and tokens."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import crawling
import httpx
import pytest
from asking import answers_of, marked

from shadowprobe import Dataset, Failure, Prediction, Request, Snippet, WebLinker
from shadowprobe.build.archive import Archive
from shadowprobe.build.wiki import session as wiki_session
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.catalogue import download
from shadowprobe.errors import ShadowprobeError
from shadowprobe.gerbil import gerbil_client as gerbil
from shadowprobe.net.limits import MEGABYTE, Limits
from shadowprobe.sets import service as sets_service

Send = Callable[[bytes], None]
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
# More than the limit of every user.
MANY = 40 * MEGABYTE
SECRET = "s3cret"


class Server:
    """Answers every request with the same behaviour, and remembers what it received."""

    def __init__(self, behave: Callable[[Send], None]) -> None:
        self.received: list[bytes] = []
        self._behave = behave
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            request = connection.recv(65536)
            self.received.append(request)
            if request.startswith(b"GET /robots.txt"):
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            else:
                self._behave(connection.sendall)

    def close(self) -> None:
        # Closing alone does not wake the thread that waits for a connection.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def server(behave: Callable[[Send], None]) -> Iterator[Server]:
    with closing(Server(behave)) as running:
        yield running


class Titles(WebLinker):
    """A linker that sends its token wherever a service may want it."""

    name = "titles"

    def request(self, snippet: Snippet) -> Request:
        headers = {"Authorization": f"Bearer {self.optional_token}"}
        return Request("POST", self.url, params={"key": self.optional_token}, json={}, headers=headers)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        return self.answer(snippet, response.text)


def ask_linker(url: str, seconds: float, world: Dataset, directory: Path) -> str:
    (answer,) = answers_of(Titles(url, timeout=seconds, retries=0), world.knowledge, marked("Why not [Avon]?"))
    assert isinstance(answer, Failure)
    return answer.error


def ask_crawler(url: str, seconds: float, world: Dataset, directory: Path) -> str:
    with closing(Archive(directory / "web.warc.gz", software="tests")) as archive:
        return crawling.outcome(archive, url.replace(f"me:{SECRET}@", ""), timeout=seconds, retries=0)


def ask_wiki(url: str, seconds: float, world: Dataset, directory: Path) -> str:
    with closing(Archive(directory / "wiki.warc.gz", software="tests")) as archive:
        Wiki(url.replace(f"me:{SECRET}@", ""), archive, user_agent="tests")
    return ""


def ask_wikidata(url: str, seconds: float, world: Dataset, directory: Path) -> str:
    archive = Archive(directory / "sets.warc.gz", software="tests")
    with closing(sets_service.Service(archive, "tests")) as service:
        service.get(url.replace(f"me:{SECRET}@", ""), lambda status, body: "")
    return ""


def ask_gerbil(url: str, seconds: float, world: Dataset, directory: Path) -> str:
    instance = gerbil.Instance(url)
    instance.limit(seconds)
    instance.annotators()
    return ""


def ask_download(url: str, seconds: float, world: Dataset, directory: Path) -> str:
    download._download(url, directory / "Top.json", download.Silent())
    return ""


USERS = [ask_linker, ask_crawler, ask_wiki, ask_wikidata, ask_gerbil, ask_download]


@pytest.fixture
def seconds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    """The time limit: short where it is what is tested."""
    seconds = 0.5 if "drips" in request.node.name else 30.0
    for module, name in [(wiki_session, "FIRST"), (wiki_session, "TIMEOUT"), (gerbil, "LAST_LOOK")]:
        monkeypatch.setattr(module, name, seconds)
    monkeypatch.setattr(download, "LIMITS", Limits(max_bytes=32 * MEGABYTE, seconds=seconds))
    monkeypatch.setattr(download, "TRIES", 1)
    return seconds


@pytest.fixture(params=USERS, ids=lambda user: user.__name__)
def ask(request: pytest.FixtureRequest, seconds: float, world: Dataset, tmp_path: Path) -> Callable[[Server], str]:
    """Sends one user's request to a server, with a password where it takes one, and returns its error."""

    def outcome(running: Server) -> str:
        password = f"me:{SECRET}@" if request.param in {ask_gerbil, ask_download} else ""
        try:
            error: str = request.param(f"http://{password}127.0.0.1:{running.port}", seconds, world, tmp_path)
        except ShadowprobeError as raised:
            error = str(raised)
        return error

    return outcome


def send_much(send: Send) -> None:
    send(OK + b"\r\n")
    for _ in range(MANY // MEGABYTE):
        send(bytes(MEGABYTE))


def send_much_with_a_length(send: Send) -> None:
    send(OK + b"Content-Length: %d\r\n\r\n" % MANY)


def send_bomb(send: Send) -> None:
    bomb = gzip.compress(bytes(MANY), 1)
    send(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(bomb), bomb))


@pytest.mark.parametrize("behave", [send_much, send_much_with_a_length, send_bomb])
def test_nobody_reads_more_bytes_than_allowed(ask: Callable[[Server], str], behave: Callable[[Send], None]) -> None:
    with server(behave) as running:
        assert "too large" in ask(running)


def drip_body(send: Send) -> None:
    send(OK + b"Content-Length: 1000\r\n\r\n")
    for _ in range(100):
        send(b" ")
        time.sleep(0.1)


def drip_head(send: Send) -> None:
    send(OK)
    for _ in range(100):
        send(b"X-Slow: 1\r\n")
        time.sleep(0.1)


@pytest.mark.parametrize("behave", [drip_body, drip_head])
def test_nobody_waits_for_a_response_that_drips(ask: Callable[[Server], str], behave: Callable[[Send], None]) -> None:
    with server(behave) as running:
        error = ask(running)
    assert any(words in error for words in ("no answer", "took too long")), error


def test_nobody_follows_redirects_for_ever(ask: Callable[[Server], str]) -> None:
    with server(lambda send: send(b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n")) as running:
        error = ask(running)
    assert "redirect" in error or "leads on to" in error
    # A robots.txt more, or the places where a wiki may be.
    assert len(running.received) <= 12


@pytest.mark.parametrize("status", [302, 307])
def test_nobody_carries_a_token_to_another_host(
    ask: Callable[[Server], str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_TITLES_TOKEN", SECRET)
    with server(lambda send: send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")) as other:
        target = f"http://localhost:{other.port}/w/api.php"
        head = f"HTTP/1.1 {status} Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
        with server(lambda send: send(head.encode())) as running:
            ask(running)
    assert running.received
    for request in other.received:
        assert SECRET.encode() not in request
        assert b"authorization" not in request.lower()


def test_the_crawler_follows_no_redirect_to_a_private_address(tmp_path: Path) -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2/\r\nContent-Length: 0\r\n\r\n"
    with server(lambda send: send(head)) as running, closing(Archive(tmp_path / "w.gz", software="tests")) as archive:
        url = f"http://127.0.0.1:{running.port}/"
        assert crawling.outcome(archive, url, allow_private=("127.0.0.1/32",)) == "a private address"
