"""The crawl's manners: robots.txt, pauses, and what is not asked for again."""

from __future__ import annotations

import asyncio
import itertools
import threading

import crawling
import pytest
from crawling import ROBOTS, crawl, manners, outcome, outcomes
from web_pages import Send, answer, html, redirect, web

from shadowprobe.build.archive import Archive, key_of
from shadowprobe.build.records import WebReference

archive, short_pauses = crawling.archive, crawling.short_pauses


def test_what_robots_txt_forbids_is_not_asked_for(archive: Archive) -> None:
    robots = answer("200 OK", f"{ROBOTS}Disallow: /private".encode(), Content_Type="text/plain")
    with web({"/robots.txt": robots, "/private": html("x"), "/public": html("y")}) as served:
        private, public = outcomes(archive, [served.url("/private"), served.url("/public")])
        assert private == "robots.txt forbids it"
        assert public.startswith("GET")
        assert served.paths() == ["/public"]


def test_robots_txt_is_asked_for_once_by_host_and_kept(archive: Archive) -> None:
    with web({"/1": html("x"), "/2": html("y")}, hosts=2) as served:
        outcomes(archive, [served.url(path, host) for path in ("/1", "/2") for host in (1, 2)])
        assert served.paths(robots=True).count("/robots.txt") == 2
        outcome(archive, served.url("/3"))
        assert served.paths(robots=True).count("/robots.txt") == 2
        assert archive.failure(key_of("GET", served.url("/robots.txt"))) == "404"


def test_a_robots_txt_elsewhere_is_followed_to(archive: Archive) -> None:
    forbids = answer("200 OK", f"{ROBOTS}Disallow: /".encode())
    with web({"127.0.0.1/robots.txt": redirect("/r"), "/r": forbids, "/": html("x")}) as served:
        assert outcome(archive, served.url("/")) == "robots.txt forbids it"


def test_robots_files_that_lead_to_each_other_stop_nothing(archive: Archive) -> None:
    with web({"/": html("x")}, hosts=2) as served:
        served.pages["127.0.0.1/robots.txt"] = redirect(served.url("/robots.txt", 2))
        served.pages["127.0.0.2/robots.txt"] = redirect(served.url("/robots.txt", 1))
        assert all(page.startswith("GET") for page in outcomes(archive, [served.url("/", 1), served.url("/", 2)]))


def test_a_broken_robots_txt_forbids_all_pages(archive: Archive) -> None:
    with web({"/robots.txt": answer("503 Busy"), "/": html("x")}) as served:
        assert outcome(archive, served.url("/"), retries=0) == "robots.txt: 503"
        assert served.paths() == []


def test_what_a_broken_robots_txt_forbids_is_not_taken_from_a_copy(archive: Archive) -> None:
    with web({"127.0.0.1/robots.txt": answer("503 Busy"), "127.0.0.2/copy": html("x")}, hosts=2) as served:
        asked = [WebReference("A", served.url("/"), served.url("/copy", 2))]
        (found,) = crawl(asked, archive, manners(retries=0))
        assert found.failed == "robots.txt: 503"
        assert served.paths() == []


def test_a_crawl_delay_is_kept_between_two_requests(archive: Archive) -> None:
    robots = answer("200 OK", f"{ROBOTS}Crawl-delay: 0.3".encode())
    with web({"/robots.txt": robots, "/1": html("x"), "/2": html("y")}) as served:
        outcomes(archive, [served.url("/1"), served.url("/2")])
        gaps = [later.began - sooner.ended for sooner, later in itertools.pairwise(served.asked)]
    assert len(gaps) == 2
    assert min(gaps) >= 0.29


def test_too_long_a_crawl_delay_gives_the_host_up(archive: Archive) -> None:
    robots = answer("200 OK", f"{ROBOTS}Crawl-delay: 31".encode())
    with web({"/robots.txt": robots, "/": html("x")}) as served:
        assert outcome(archive, served.url("/")) == "robots.txt asks for too long a pause"
        assert served.paths() == []


def test_our_own_delay_is_kept_by_host_and_hosts_do_not_wait_for_each_other(archive: Archive) -> None:
    with web({"/1": html("x"), "/2": html("y")}, hosts=2) as served:
        outcomes(archive, [served.url(path, host) for host in (1, 2) for path in ("/1", "/2")], delay=0.2)
        first, second = ([each for each in served.asked if each.host.endswith(str(n))] for n in (1, 2))
    for asked in (first, second):
        gaps = [later.began - sooner.ended for sooner, later in itertools.pairwise(asked)]
        assert min(gaps) >= 0.19
    assert second[0].began < first[1].began


def test_one_host_has_one_request_at_a_time_and_hosts_go_side_by_side(archive: Archive) -> None:
    together = threading.Barrier(3, timeout=20)

    async def page(send: Send) -> None:
        # No host could answer if it had to wait for the others to be done.
        await asyncio.get_running_loop().run_in_executor(None, together.wait)
        await send(html("x"))

    with web({"/1": page, "/2": page}, hosts=3) as served:
        found = outcomes(archive, [served.url(path, host) for path in ("/1", "/2") for host in (1, 2, 3)])
        assert all(page.startswith("GET") for page in found)
        assert set(served.most_at_once.values()) == {1}


def test_no_more_requests_are_under_way_in_all_than_the_total(archive: Archive) -> None:
    async def slow(send: Send) -> None:
        await asyncio.sleep(0.1)
        await send(html("x"))

    with web({"/": slow}, hosts=6) as served:
        outcomes(archive, [served.url("/", host) for host in range(1, 7)], total=2)
    pages = [asked for asked in served.asked if asked.path == "/"]
    # Each with those that had started before it and were not over.
    at_once = [sum(other.began <= each.began < other.ended for other in pages) for each in pages]
    assert (len(pages), max(at_once)) == (6, 2)


def test_all_spellings_of_an_address_share_its_one_request_at_a_time(archive: Archive) -> None:
    async def slow(send: Send) -> None:
        await asyncio.sleep(0.1)
        await send(html("x"))

    with web({"/robots.txt": slow, "/": slow}) as served:
        urls = [f"http://{host}:{served.port}/" for host in ("127.0.0.1", "localhost", "0x7f.1", "0x7f000001")]
        assert all(page.startswith("GET") for page in outcomes(archive, urls))
        assert served.most_at_once == {"127.0.0.1": 1}


def test_a_busy_server_is_asked_again_after_the_pause_that_it_names(archive: Archive) -> None:
    with web({"/": [answer("429 Too Many Requests", Retry_After="1"), html("x")]}) as served:
        assert outcome(archive, served.url("/")).startswith("GET")
    # A host writes down what it was asked once it is done with its answer.
    first, second = (asked for asked in served.asked if asked.path == "/")
    assert second.began - first.ended >= 0.99


def test_a_server_that_stays_busy_is_given_up(archive: Archive) -> None:
    with web({"/": answer("429 Too Many Requests", Retry_After="0"), "/5": answer("503 Busy")}) as served:
        assert outcomes(archive, [served.url("/"), served.url("/5")], retries=2) == ["429", "503"]
        assert served.paths() == ["/"] * 3 + ["/5"] * 3


def test_too_long_a_pause_is_not_waited_for(archive: Archive) -> None:
    with web({"/": answer("503 Busy", Retry_After="86400")}) as served:
        assert outcome(archive, served.url("/")) == "503"
        assert served.paths() == ["/"]


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "410 Gone", "501 Not Implemented"])
def test_a_final_status_is_not_asked_for_again(archive: Archive, status: str) -> None:
    with web({"/": answer(status)}) as served:
        assert outcome(archive, served.url("/")) == status[:3]
        assert served.paths() == ["/"]


def test_the_robots_txt_of_the_host_behind_a_redirect_counts(archive: Archive) -> None:
    with web({"127.0.0.2/robots.txt": answer("200 OK", f"{ROBOTS}Disallow: /".encode())}, hosts=2) as served:
        served.pages["/a"] = redirect(served.url("/b", 2))
        assert outcome(archive, served.url("/a")) == "robots.txt forbids it"
        assert "/b" not in served.paths()


def test_a_robots_txt_that_is_itself_a_reference_is_no_page(archive: Archive) -> None:
    with web({"/robots.txt": answer("200 OK", b"", Content_Type="text/plain")}) as served:
        assert outcome(archive, served.url("/robots.txt")) == "not HTML: text/plain"
