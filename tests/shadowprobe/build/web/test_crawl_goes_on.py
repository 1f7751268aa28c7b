"""A crawl that was left, cut off or killed goes on from what the archive has."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import crawling
import pytest
from crawling import crawl, manners, outcome, outcomes, references
from web_pages import Page, Send, Web, answer, html, redirect, web

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.records import WebReference
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.outcomes import MISSING
from shadowprobe.errors import BuildError

archive, short_pauses = crawling.archive, crawling.short_pauses


def test_a_second_crawl_asks_nothing_and_says_the_same(archive: Archive) -> None:
    pages: dict[str, Page | list[Page]] = {"/": html("x"), "/moved": redirect("/"), "/pdf": answer("200 OK")}
    with web(pages) as served:
        asked = [WebReference("E", served.url(path)) for path in ("/", "/moved", "/gone", "/pdf", "/a b")]
        first = list(crawl(asked, archive, manners()))
        before = len(served.asked)
        assert list(crawl(asked, archive, manners())) == first
        assert len(served.asked) == before


def test_an_archive_that_is_only_read_never_asks_the_web(tmp_path: Path, archive: Archive) -> None:
    with web({"/": html("x"), "/moved": redirect("/later"), "/later": html("y")}) as served:
        first = outcome(archive, served.url("/"))
        archive.put(key_of("GET", served.url("/moved")), Stored(served.url("/moved"), 302, {"location": "/later"}, b""))
        archive.close()
        before = len(served.asked)
        with closing(Archive(tmp_path / "archive.warc.gz", software="tests", read_only=True)) as read:
            urls = [served.url(path) for path in ("/", "/new", "/moved")]
            assert outcomes(read, urls) == [first, "not in the archive", "not in the archive"]
        assert len(served.asked) == before


def test_a_crawl_can_be_left_early_and_taken_up_again(archive: Archive) -> None:
    async def stuck(send: Send) -> None:
        await asyncio.sleep(30)

    under_way = threading.Event()
    with web({"/1": html("x"), "/2": [stuck, html("y")]}) as served:
        served.watch = lambda path: under_way.set() if path == "/2" else None
        urls = [served.url("/1"), served.url("/2")]
        started = crawl(references(*urls), archive, manners())
        assert next(started).page
        assert under_way.wait(30)
        started.close()  # type: ignore[attr-defined]
        assert "crawl" not in {thread.name for thread in threading.enumerate()}
        assert all(found.startswith("GET") for found in outcomes(archive, urls))
        assert served.paths().count("/1") == 1


def test_a_host_that_falls_silent_is_not_asked_for_all_its_pages(archive: Archive) -> None:
    async def slow(send: Send) -> None:
        await asyncio.sleep(0.3)
        await send(html("x"))

    pages: dict[str, Page | list[Page]] = {f"127.0.0.1/{number}": silent for number in range(8)}
    pages |= {f"127.0.0.2/{number}": slow for number in range(8)}
    with web(pages, hosts=2) as served:
        urls = [served.url(f"/{number}", host) for host in (1, 2) for number in range(8)]
        found = outcomes(archive, urls, timeout=1.0, retries=0)
    assert found[:8] == ["no answer in 1 s"] * 3 + ["the host answers no more"] * 5
    assert all(page.startswith("GET") for page in found[8:])
    lines = archive.path.with_name("archive.warc.gz.index").read_text().splitlines()
    # Who made the file, two robots.txt, sixteen pages: each is stored once.
    assert len(lines) == 19


async def silent(send: Send) -> None:
    await asyncio.sleep(30)


def crawled(archive: Archive, urls: list[str], *, retry: bool = False, online: bool = True) -> list[str]:
    """What became of the URLs in a hurry, where `online` is what the caller of the crawl knows."""
    hurried = manners(total=8, timeout=1.0, retries=0)
    found = crawl(references(*urls), archive, hurried, retry=retry, is_online=lambda: online)
    return [each.page or each.failed for each in found]


@pytest.fixture
def three_silent_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a crawl doubt its connection after three silent hosts."""
    monkeypatch.setattr("shadowprobe.build.web.silence.SILENT_HOSTS", 3)


@pytest.mark.usefixtures("three_silent_hosts")
def test_a_web_that_is_gone_as_a_whole_stops_the_crawl_and_is_not_blamed_on_the_pages(archive: Archive) -> None:
    with web({"/robots.txt": silent, "/": html("x")}, hosts=6) as served:
        urls = [served.url("/", host) for host in range(1, 7)]
        with pytest.raises(BuildError, match="hosts in a row were silent, and nobody else"):
            crawled(archive, urls, online=False)
        assert len(archive) == 0
        served.pages["/robots.txt"] = answer("404 Not Found")
        assert all(page.startswith("GET") for page in outcomes(archive, urls))


@pytest.mark.usefixtures("three_silent_hosts")
def test_silent_hosts_are_dead_where_we_are_online_and_stay_so(archive: Archive) -> None:
    with web({"/robots.txt": silent}, hosts=7) as served:
        urls = [served.url("/", host) for host in range(1, 8)]
        assert crawled(archive, urls, online=True) == ["no answer in 1 s"] * 7
        # Each with its robots.txt; the next crawl needs no connection at all.
        assert len(archive) == 14
        assert crawled(archive, urls, online=False) == ["no answer in 1 s"] * 7


@pytest.mark.usefixtures("three_silent_hosts")
def test_hosts_are_counted_and_not_their_pages(archive: Archive) -> None:
    pages: dict[str, Page | list[Page]] = {f"/{number}": silent for number in range(3)}
    with web(pages, hosts=2) as served:
        urls = [served.url(f"/{number}", host) for host in (1, 2) for number in range(3)]
        assert crawled(archive, urls) == ["no answer in 1 s"] * 6


def test_a_connection_lost_at_the_end_is_not_blamed_on_the_last_pages(archive: Archive) -> None:
    with web({"127.0.0.1/": html("x"), "127.0.0.2/robots.txt": silent, "127.0.0.2/": html("y")}, hosts=2) as served:
        urls = [served.url("/", 1), served.url("/", 2)]
        assert outcome(archive, urls[0]).startswith("GET")
        with pytest.raises(BuildError, match=r"127\.0\.0\.2 was silent, and nobody else can be reached"):
            crawled(archive, urls, online=False)
        served.pages["127.0.0.2/robots.txt"] = answer("404 No")
        assert all(page.startswith("GET") for page in crawled(archive, urls))


def test_a_retry_asks_again_for_what_may_have_passed_and_for_nothing_else(archive: Archive) -> None:
    pages: dict[str, Page | list[Page]] = {"/busy": answer("503 Busy"), "/": html("x"), "/slow": silent}
    with web({**pages, "127.0.0.2/robots.txt": answer("500 Broken")}, hosts=2) as served:
        urls = [*(served.url(path) for path in ("/busy", "/gone", "/", "/slow")), served.url("/", 2)]
        first = crawled(archive, urls)
        assert first[:2] == ["503", "404"]
        assert first[3:] == ["no answer in 1 s", "robots.txt: 500"]
        served.pages |= {"/busy": html("y"), "/gone": html("z"), "/slow": html("w")}
        served.pages["127.0.0.2/robots.txt"] = answer("404 No")
        asked = len(served.asked)
        assert crawled(archive, urls) == first
        assert len(served.asked) == asked
        second = crawled(archive, urls, retry=True)
        assert second[1] == "404"
        assert [page[:3] for page in second] == ["GET", "404", "GET", "GET", "GET"]
        again = [(each.host, each.path) for each in served.asked[asked:] if each.path != "/robots.txt"]
        assert sorted(again) == [("127.0.0.1", "/busy"), ("127.0.0.1", "/slow"), ("127.0.0.2", "/")]
        assert crawled(archive, urls) == second


def test_a_retry_with_leave_asks_for_pages_that_were_refused_without_it(archive: Archive) -> None:
    def found(*allowed: str) -> list[str]:
        given = manners(allow_private=allowed)
        return [page.page or page.failed for page in crawl(references(url), archive, given, retry=True)]

    with web({"/": html("x")}) as served:
        url = served.url("/")
        assert found() == ["a private address"]
        # Leave for another network is none.
        assert found("10.0.0.0/8") == ["a private address"]
        assert served.asked == []
        assert found("127.0.0.0/8") == [f"GET {url}"]


def test_a_retry_that_fails_again_asks_once_and_says_the_new_reason(archive: Archive) -> None:
    busy: list[Page] = [answer("503 Busy"), answer("502 Bad Gateway"), html("x")]
    with web({"127.0.0.1/": busy, "127.0.0.2/robots.txt": busy}, hosts=2) as served:
        urls = [served.url("/", 1), served.url("/", 2)]
        assert crawled(archive, urls) == ["503", "robots.txt: 503"]
        assert crawled(archive, urls, retry=True) == ["502", "robots.txt: 502"]
    assert served.paths() == ["/"] * 2


def test_an_archive_that_is_only_read_retries_nothing(tmp_path: Path, archive: Archive) -> None:
    with web({"/": answer("503 Busy")}) as served:
        url = served.url("/")
        assert crawled(archive, [url]) == ["503"]
    archive.close()
    with closing(Archive(tmp_path / "archive.warc.gz", software="tests", read_only=True)) as read:
        assert crawled(read, [url, f"{url}new"], retry=True) == ["503", MISSING]


KILLED = """
import json, sys
from pathlib import Path
from shadowprobe.build.archive import Archive
from shadowprobe.build.web.crawl import crawl
from shadowprobe.build.web.politeness import Manners
from shadowprobe.build.records import WebReference

path, *urls = sys.argv[1:]
archive = Archive(Path(path), software="tests")
manners = Manners(user_agent="tests", delay=0.0, total=4, allow_private=("127.0.0.0/8",))
for found in crawl([WebReference("E", url) for url in urls], archive, manners, is_online=lambda: True):
    print(json.dumps([found.url, found.page, found.failed]), flush=True)
"""


def crawl_and_kill(served: Web, path: Path, urls: list[str], after: int) -> list[list[str]]:
    """Runs a crawl in a process of its own, and kills it in the middle of so many answers."""
    count = 0
    started = threading.Event()

    def watch(asked: str) -> None:
        nonlocal count
        count += 1
        if count == after:
            started.wait(30)
            os.kill(process.pid, signal.SIGKILL)

    served.watch = watch
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path), *urls], stdout=subprocess.PIPE, text=True)
    started.set()
    out, _ = process.communicate(timeout=120)
    return [json.loads(line) for line in out.splitlines() if line.endswith("]")]


def test_a_crawl_that_is_killed_again_and_again_loses_and_repeats_nothing(tmp_path: Path) -> None:
    pages: dict[str, Page | list[Page]] = {f"/{number}": html(f"page {number} " * 500) for number in range(40)}
    pages |= {"/1": redirect("/2"), "/3": answer("404 Not Found"), "/5": answer("200 OK", b"x", Content_Type="a/b")}
    path = tmp_path / "killed.warc.gz"
    with web(pages, hosts=3) as served:
        urls = [served.url(f"/{number}", number % 3 + 1) for number in range(40)]
        for after in (2, 9, 5, 14, 1, 10_000):
            known = set()
            if path.exists():
                with closing(Archive(path, software="tests")) as reopened:
                    known = set(reopened.keys())
            before = len(served.asked)
            told = crawl_and_kill(served, path, urls, after)
            again = {f"GET http://{asked.host}:{served.port}{asked.path}" for asked in served.asked[before:]}
            assert not again & known
        served.watch = lambda path: None
        assert len(told) == 40
        with closing(Archive(tmp_path / "whole.warc.gz", software="tests")) as whole:
            undisturbed = list(crawl(references(*urls), whole, manners()))
            assert told == [[found.url, found.page, found.failed] for found in undisturbed]
            with closing(Archive(path, software="tests")) as killed:
                for found in filter(lambda found: found.page, undisturbed):
                    one, other = killed.get(found.page or ""), whole.get(found.page or "")
                    assert one is not None
                    assert other is not None
                    assert one.body == other.body
