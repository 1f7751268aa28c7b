"""The crawl: what becomes of a page, and the traps of the web one by one."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys

import crawling
import pytest
from crawling import ROBOTS, crawl, manners, outcome, outcomes, references
from web_pages import Page, Send, answer, html, redirect, web

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.web.charset import decode_page

archive, short_pauses = crawling.archive, crawling.short_pauses


def test_a_page_is_in_the_archive_under_the_key_that_is_told(archive: Archive) -> None:
    with web({"/": html("Köln 🦆")}) as served:
        url = served.url("/")
        assert list(crawl(references(url), archive, manners())) == [Crawled(url, page=key_of("GET", url))]
    stored = archive.get(key_of("GET", url))
    assert stored is not None
    assert decode_page(stored) == "Köln 🦆"


def test_results_come_in_the_order_of_the_references_and_each_url_once(archive: Archive) -> None:
    async def slow(send: Send) -> None:
        await asyncio.sleep(0.2)
        await send(html("slow"))

    async def slower(send: Send) -> None:
        await asyncio.sleep(0.4)
        await send(html("slower"))

    with web({"/slow": slow, "/slower": slower, "/fast": html("fast")}, hosts=3) as served:
        urls = [served.url("/slower", 1), served.url("/fast", 2), served.url("/slow", 3), served.url("/slower", 1)]
        found = list(crawl(references(*urls), archive, manners()))
    assert [each.url for each in found] == urls[:3]
    assert all(each.page for each in found)


def test_nothing_to_crawl_is_nothing_crawled(archive: Archive) -> None:
    assert list(crawl([], archive, manners())) == []


def test_progress_counts_up_to_all(archive: Archive) -> None:
    steps: list[tuple[int, int]] = []
    with web({"/1": html("x"), "/2": html("x")}) as served:
        urls = [served.url(path) for path in ("/1", "/2", "/3")]
        list(crawl(references(*urls), archive, manners(), lambda done, of: steps.append((done, of))))
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_crawl_works_where_an_event_loop_runs_already(archive: Archive) -> None:
    async def notebook(url: str) -> str:
        return outcome(archive, url)

    with web({"/": html("x")}) as served:
        assert asyncio.run(notebook(served.url("/"))).startswith("GET")


def test_a_redirect_leads_to_the_page_behind_it(archive: Archive) -> None:
    with web({"/a": redirect("/b", "301 Moved"), "/b": redirect("c"), "/c": html("x")}) as served:
        assert outcome(archive, served.url("/a")) == key_of("GET", served.url("/c"))
        assert served.paths() == ["/a", "/b", "/c"]


def test_two_urls_that_lead_to_one_page_ask_for_it_once(archive: Archive) -> None:
    with web({"/a": redirect("/c"), "/b": redirect("/c"), "/c": html("x")}) as served:
        assert len(set(outcomes(archive, [served.url("/a"), served.url("/b"), served.url("/c")]))) == 1
        assert served.paths().count("/c") == 1


def test_a_redirect_loop_ends(archive: Archive) -> None:
    with web({"/a": redirect("/b"), "/b": redirect("/a"), "/self": redirect("/self")}) as served:
        assert outcomes(archive, [served.url("/a"), served.url("/self")]) == ["redirect loop"] * 2
        assert sorted(served.paths()) == ["/a", "/b", "/self"]


def test_too_many_redirects_end(archive: Archive) -> None:
    pages: dict[str, Page | list[Page]] = {f"/{number}": redirect(f"/{number + 1}") for number in range(20)}
    with web({**pages, "/20": html("x")}) as served:
        assert outcome(archive, served.url("/0"), redirects=5) == "too many redirects"
        assert len(served.paths()) == 6
        # From /15 it is exactly five redirects to /20.
        assert outcome(archive, served.url("/15"), redirects=5) == key_of("GET", served.url("/20"))


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/html,x", "javascript:x"])
def test_a_redirect_to_another_scheme_is_refused(archive: Archive, location: str) -> None:
    with web({"/": redirect(location)}) as served:
        assert outcome(archive, served.url("/")) == "a redirect to neither http nor https"


def test_a_redirect_without_an_address_is_refused(archive: Archive) -> None:
    with web({"/": answer("302 Found"), "/odd": redirect("http://127.0.0.1:99999/")}) as served:
        assert outcomes(archive, [served.url("/"), served.url("/odd")]) == ["a redirect to nowhere", "not a URL"]


def test_a_redirect_with_letters_beyond_ascii_is_followed(archive: Archive) -> None:
    with web({"/": redirect("/x"), "/k%C3%B6ln": html("Köln")}) as served:
        served.pages["/"] = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /k\xc3\xb6ln\r\n\r\n"
        assert outcome(archive, served.url("/")) == key_of("GET", served.url("/k%C3%B6ln"))


def test_a_redirect_whose_reason_or_whole_address_is_beyond_ascii_is_followed(archive: Archive) -> None:
    with web({"/k%C3%B6ln": html("Köln")}) as served:
        moved = f"HTTP/1.1 302 D\xe9plac\xe9\r\nContent-Length: 0\r\nLocation: {served.url('/')}"
        served.pages["/"] = moved.encode("latin-1") + b"k\xc3\xb6ln\r\n\r\n"
        assert outcome(archive, served.url("/")) == key_of("GET", served.url("/k%C3%B6ln"))


def test_a_redirect_to_a_private_address_is_refused_before_any_connection(archive: Archive) -> None:
    with web({"/robots.txt": answer("404 No"), "127.0.0.2/": html("secret")}, hosts=2) as served:
        served.pages["127.0.0.1/"] = redirect(served.url("/", 2))
        assert outcome(archive, served.url("/"), allow_private=("127.0.0.1/32",)) == "a private address"
        assert {asked.host for asked in served.asked} == {"127.0.0.1"}


def test_a_name_of_loopback_is_refused_unless_it_is_allowed(archive: Archive) -> None:
    with web({"/": html("secret")}) as served:
        urls = [f"http://localhost:{served.port}/", served.url("/")]
        assert outcomes(archive, urls, allow_private=False) == ["a private address"] * 2
        assert served.asked == []


def test_a_host_that_does_not_exist_has_its_reason(archive: Archive) -> None:
    assert outcome(archive, "http://no-such-host.invalid/") in {"no such host", "the host name cannot be looked up"}


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ftp://example.org/x", "neither http nor https"),
        ("file:///etc/passwd", "neither http nor https"),
        ("http://example.org:99999/", "not a URL"),
        ("http://", "not a URL"),
        ("http://exa\u200bmple.org/", "not a URL"),
        ("http://me:secret@example.org/", "a URL with a password"),
    ],
)
def test_a_url_that_cannot_be_asked_has_its_reason(archive: Archive, url: str, why: str) -> None:
    assert outcome(archive, url) == why


def test_a_gzip_bomb_is_too_large(archive: Archive) -> None:
    with web({"/": html(gzip.compress(bytes(5_000_000)), Content_Encoding="gzip")}) as served:
        assert outcome(archive, served.url("/")) == "too large"
        assert served.paths() == ["/"]


def test_a_slow_answer_is_tried_again_and_then_given_up(archive: Archive) -> None:
    async def slow(send: Send) -> None:
        while True:
            await asyncio.sleep(0.02)
            await send(b"HTTP/1.1 103 Wait\r\n\r\n")

    with web({"/": slow, "/later": [slow, html("x")]}) as served:
        found = outcomes(archive, [served.url("/"), served.url("/later")], timeout=1.0, retries=1)
        assert found[0] == "no answer in 1 s"
        assert found[1].startswith("GET")


def test_an_answer_that_breaks_off_is_tried_again(archive: Archive) -> None:
    async def cut(send: Send) -> None:
        await send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\nhalf")

    with web({"/": [cut, html("whole")], "/never": cut}) as served:
        found = outcomes(archive, [served.url("/"), served.url("/never")])
    assert found[0].startswith("GET")
    assert found[1] == "an answer that breaks off"


def test_what_is_not_html_has_its_type_as_the_reason(archive: Archive) -> None:
    with web({"/": answer("200 OK", b"%PDF", Content_Type="application/pdf")}) as served:
        assert outcome(archive, served.url("/")) == "not HTML: application/pdf"


def test_a_dead_page_gives_way_to_its_archived_copy(archive: Archive) -> None:
    with web({"127.0.0.2/copy": html("x")}, hosts=2) as served:
        url, copy = served.url("/dead"), served.url("/copy", 2)
        # The copy may stand beside only one of the references to a page.
        asked = [WebReference("A", url), WebReference("B", url, copy), WebReference("C", url)]
        assert list(crawl(asked, archive, manners())) == [Crawled(url, page=key_of("GET", copy))]


def test_a_dead_page_with_a_dead_copy_says_both(archive: Archive) -> None:
    with web({}, hosts=2) as served:
        (found,) = crawl([WebReference("A", served.url("/dead"), served.url("/copy", 2))], archive, manners())
    assert (found.page, found.failed) == (None, "404, its copy too")


@pytest.mark.parametrize("why", ["robots.txt forbids it", "not HTML: image/png"])
def test_a_page_that_is_not_dead_has_no_use_for_a_copy(archive: Archive, why: str) -> None:
    pages: dict[str, Page | list[Page]] = {"/": answer("200 OK", b"", Content_Type="image/png"), "/copy": html("x")}
    with web(pages, hosts=2) as served:
        if "robots" in why:
            served.pages["127.0.0.1/robots.txt"] = answer("200 OK", f"{ROBOTS}Disallow: /".encode())
        (found,) = crawl([WebReference("A", served.url("/"), served.url("/copy", 2))], archive, manners())
        assert found.failed == why
        assert "/copy" not in served.paths()


def test_a_living_page_leaves_its_copy_alone(archive: Archive) -> None:
    with web({"/": html("x"), "/copy": html("y")}, hosts=2) as served:
        (found,) = crawl([WebReference("A", served.url("/"), served.url("/copy", 2))], archive, manners())
        assert found.page == key_of("GET", served.url("/"))
        assert served.paths() == ["/"]


def test_the_network_is_imported_only_where_it_is_used() -> None:
    heavy = "{'httpx', 'httpcore', 'anyio', 'protego', 'warcio', 'requests'}"
    program = f"import sys, shadowprobe.build.web.crawl; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
