"""Everything of ours that sends requests, each as a function from the address of a server to what a user would read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import crawling
import httpx
import msgspec
import pytest
from asking import answers_of, marked
from namesake_sets import AVON

from shadowprobe import Failure, Knowledge, Prediction, Request, Snippet, WebLinker
from shadowprobe.build.archive import Archive
from shadowprobe.build.captures.capture_choice import Capture
from shadowprobe.build.captures.capture_index import find_captures
from shadowprobe.build.captures.warc_files import read_captures
from shadowprobe.build.web import requesting
from shadowprobe.build.web.crawl import crawl
from shadowprobe.build.wiki import session as wiki_session
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.catalogue import download
from shadowprobe.compute.executor import SerialExecutor
from shadowprobe.errors import ShadowprobeError
from shadowprobe.gerbil import gerbil_client
from shadowprobe.gerbil.experiment import fetch_tasks
from shadowprobe.net import parts_of_files
from shadowprobe.net.limits import MEGABYTE, Limits
from shadowprobe.plugins import make_linker, make_reader
from shadowprobe.retrieval import Query
from shadowprobe.sets.service import Service
from shadowprobe.systems import service_client
from shadowprobe.systems.chat_answerer import Asker

TOKEN = "s3cret-t0ken-of-a-user"
# A quarter of the real limit, to save time; the tests of commands use the real one.
MOST_BYTES = 8 * MEGABYTE
SITE = {
    "general": {
        "lang": "en",
        "generator": "MediaWiki 1.43",
        "sitename": "Wiki",
        "server": "http://127.0.0.1",
        "articlepath": "/wiki/$1",
        "case": "first-letter",
    },
    "extensions": [],
    "statistics": {"pages": 9},
}


class Setting(NamedTuple):
    """What a client needs besides an address."""

    knowledge: Knowledge
    directory: Path
    seconds: float


class Client(NamedTuple):
    """A client, and how a server must begin so that its hostile answer is reached."""

    name: str
    # Yields each message that a user would read, and each answer that would be written.
    ask: Callable[[str, Setting], Iterator[str]]
    kind: str = "application/json"
    welcome: tuple[bytes, ...] = ()
    has_token: bool = False
    # Where another server is that this client may not ask. The crawler may ask every server at 127.0.0.1.
    elsewhere: str = "127.0.0.1"
    # What it says instead, where it does not read an answer that others read.
    says: tuple[str, ...] = ()


class TokenLinker(WebLinker):
    """A linker that sends its token wherever a service may want it."""

    name = "titles"

    def request(self, snippet: Snippet) -> Request:
        headers = {"Authorization": f"Bearer {self.optional_token}"}
        return Request("POST", self.url, params={"key": self.optional_token}, json={}, headers=headers)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        return self.answer(snippet, response.text)


def ask_linker(linker: Callable[[str, str], WebLinker], url: str, setting: Setting) -> Iterator[str]:
    made = linker(url, f"{setting.seconds}")
    made.keep_replies = setting.directory / "replies.jsonl"
    yield from map(_show, answers_of(made, setting.knowledge, marked("Why not [Avon]?")))
    yield made.keep_replies.read_text()


def _make_named(name: str, url: str, seconds: str) -> WebLinker:
    model = {"model": "small"} if name in {"decisions", "llm"} else {}
    made = make_linker(name, {"url": url, "timeout": seconds, "retries": "1", **model})
    assert isinstance(made, WebLinker)
    return made


def _make_with_token(url: str, seconds: str) -> WebLinker:
    return TokenLinker(url, timeout=float(seconds), retries=1)


def ask_answerer(url: str, setting: Setting) -> Iterator[str]:
    asker = Asker("small", url=url, timeout=setting.seconds, retries=1)
    with asker.connect():
        for answers in asker.ask([AVON]):
            for answer in answers:
                yield answer.error if isinstance(answer, Failure) else answer.answer


def ask_reader(url: str, setting: Setting) -> Iterator[str]:
    options = {"url": url, "model": "small", "timeout": f"{setting.seconds}", "retries": "1"}
    reader = make_reader("chat", options)
    reader.setup()
    try:
        for reply in reader.write([Query("avon", "Write a question about Avon.")]):
            yield reply.error if isinstance(reply, Failure) else str(reply)
    finally:
        reader.close()


def ask_crawler(url: str, setting: Setting) -> Iterator[str]:
    with closing(Archive(setting.directory / "web.warc.gz", software="tests")) as archive:
        # Only this server, as only hosts on the open internet are allowed to a real crawl.
        (found,) = crawl(
            crawling.references(f"{url}/page"),
            archive,
            crawling.manners(timeout=setting.seconds, retries=1, max_bytes=MOST_BYTES, allow_private=("127.0.0.1/32",)),
            is_online=lambda: True,
        )
        yield found.page or found.failed


def ask_wiki(url: str, setting: Setting) -> Iterator[str]:
    with closing(Archive(setting.directory / "wiki.warc.gz", software="tests")) as archive:
        wiki = Wiki(url, archive, user_agent="tests")
        with closing(wiki._client):
            yield wiki.name
            yield str(wiki.html("Avon"))


def ask_wikidata(url: str, setting: Setting) -> Iterator[str]:
    archive = Archive(setting.directory / "sets.warc.gz", software="tests")
    with closing(Service(archive, "tests")) as service:
        _, body = service.get(url, lambda status, body: "" if status == 200 else f"a status of {status}")
        yield f"{len(body)} bytes"


def ask_gerbil(url: str, setting: Setting) -> Iterator[str]:
    instance = gerbil_client.Instance(url)
    calls: list[Callable[[], Any]] = [
        instance.annotators,
        lambda: instance.check_service("http://127.0.0.1/nif"),
        lambda: instance.upload("x.ttl", ""),
        lambda: instance.start(["AGDISTIS"], ["x"]),
        lambda: fetch_tasks(instance, "202111070000", ["AGDISTIS"]),
    ]
    with closing(instance._client):
        for call in calls:
            instance.limit(setting.seconds)
            try:
                yield msgspec.json.encode(call()).decode()
            except ShadowprobeError as error:
                yield str(error)


def ask_for_captures(url: str, setting: Setting) -> Iterator[str]:
    capture = Capture("http://example.org/", "org,example)/", 0, "crawl.warc.gz", 10, 1000)
    manners = crawling.manners(timeout=setting.seconds, max_bytes=MOST_BYTES)
    for found in read_captures([(capture.url, capture)], url, manners):
        yield found.failed


def ask_for_an_index(url: str, setting: Setting) -> Iterator[str]:
    for name in ("index.cdxj", "index.paths.gz"):
        try:
            yield str(list(find_captures(f"{url}/{name}", {"http://example.org/"}, "", SerialExecutor())))
        except ShadowprobeError as error:
            yield str(error)


def ask_download(url: str, setting: Setting) -> Iterator[str]:
    download._download(f"{url}/Top.json", setting.directory / "Top.json", download.Silent())
    yield ""


def _show(answer: Prediction | Failure) -> str:
    return answer.error if isinstance(answer, Failure) else msgspec.json.encode(answer).decode()


def _reply(status: str, body: bytes = b"") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status.encode(), len(body), body)


WEB_LINKERS = ("agdistis", "aida", "ambiverse", "decisions", "fox", "llm", "nif", "rel", "spotlight", "tagme", "wat")
WITH_TOKEN = ("decisions", "llm", "tagme", "wat")
_GOOD_SITE = _reply("200 OK", json.dumps({"batchcomplete": True, "query": SITE}).encode())
CLIENTS = [
    *(
        Client(name, partial(ask_linker, partial(_make_named, name)), has_token=name in WITH_TOKEN)
        for name in WEB_LINKERS
    ),
    Client("linker with a token", partial(ask_linker, _make_with_token), has_token=True),
    Client("answer", ask_answerer, has_token=True),
    Client("reader", ask_reader, has_token=True),
    Client("crawler", ask_crawler, "text/html", (_reply("404 Not Found"),), elsewhere="127.0.0.2"),
    Client("crawler on robots.txt", ask_crawler, "text/html", elsewhere="127.0.0.2"),
    Client("wiki", ask_wiki),
    Client("wiki, later", ask_wiki, welcome=(_GOOD_SITE, _GOOD_SITE)),
    Client("wikidata", ask_wikidata),
    Client("gerbil", ask_gerbil, "text/html"),
    Client("download", ask_download),
    Client("captures", ask_for_captures, says=("no parts of files",)),
    Client("index of captures", ask_for_an_index, says=("no parts of files",)),
]


def shorten_limits(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Gives every client this time limit and a smaller limit of bytes, and lets it try again at once."""
    for name in (
        "SHADOWPROBE_TITLES_TOKEN",
        "SHADOWPROBE_TAGME_TOKEN",
        "SHADOWPROBE_WAT_TOKEN",
        "SHADOWPROBE_LLM_TOKEN",
        "SHADOWPROBE_DECISIONS_TOKEN",
    ):
        patch.setenv(name, TOKEN)
    for module, name in [(wiki_session, "FIRST"), (wiki_session, "TIMEOUT"), (gerbil_client, "LAST_LOOK")]:
        patch.setattr(module, name, seconds)
    patch.setattr(wiki_session, "PAUSES", (0.01,))
    for module in (requesting, parts_of_files):
        patch.setattr(module, "FIRST_PAUSE", 0.01)
    patch.setattr(parts_of_files, "RETRIES", 1)
    patch.setattr(parts_of_files, "SECONDS", seconds)
    for module in (service_client, wiki_session, gerbil_client):
        patch.setattr(module, "Limits", partial(Limits, max_bytes=MOST_BYTES))
    patch.setattr(download, "LIMITS", Limits(max_bytes=MOST_BYTES, seconds=seconds))
    for module, name in [
        *((module, "LONGEST_RETRY_AFTER") for module in (service_client, requesting)),
        (wiki_session, "PATIENCE"),
    ]:
        patch.setattr(module, name, 0.5)
