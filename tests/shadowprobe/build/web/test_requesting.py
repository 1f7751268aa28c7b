"""When a page is requested again, and what is stored of an answer."""

from __future__ import annotations

import asyncio
from typing import Any

import crawling
import pytest
from crawling import manners, outcome
from web_pages import answer, html, web

from shadowprobe.build.archive import Archive
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.outcomes import GONE, Outcomes
from shadowprobe.build.web.politeness import Host
from shadowprobe.build.web.requesting import HostState, Requester, Share, _Request
from shadowprobe.net.failures import NoResponseError

archive = crawling.archive
URL = "http://host.example/page"


def make(archive: Archive, robots: bytes = b"", **changed: Any) -> Requester:
    archive.put("GET http://host.example/robots.txt", Stored("http://host.example/robots.txt", 200, {}, robots))
    polite = manners(**changed)
    return Requester(Outcomes(archive, polite), polite, is_online=lambda: True)


def pause(requester: Requester, status: int, tries: int = 0, wanted: str = "") -> float | None:
    """The pause before the next request, without the random part of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("random.uniform", lambda low, high: 1.0)
        return requester._pause(_Request(URL, tries=tries), Stored(URL, status, {"retry-after": wanted}, b""))


def test_the_first_pause_is_a_second_and_the_next_twice_as_long_up_to_half_a_minute(archive: Archive) -> None:
    requester = make(archive, retries=9)
    assert [pause(requester, 503, tries) for tries in range(9)] == [1, 2, 4, 8, 16, 30, 30, 30, 30]
    assert pause(requester, 503, 9) is None


def test_two_further_tries_are_usual_and_only_for_what_may_pass(archive: Archive) -> None:
    requester = make(archive)
    assert [pause(requester, 503, tries) is None for tries in range(4)] == [False, False, True, True]
    assert [pause(requester, status) for status in (200, 301, 404, 501)] == [None] * 4


def test_a_pause_that_a_host_asks_for_is_kept_up_to_two_minutes(archive: Archive) -> None:
    requester = make(archive)
    asked = {seconds: pause(requester, 429, wanted=str(seconds)) for seconds in (0, 7, 120, 121)}
    assert asked == {0: 0, 7: 7, 120: 120, 121: None}


def test_no_pause_is_shorter_than_that_between_two_requests(archive: Archive) -> None:
    slow = make(archive, b"User-agent: *\nCrawl-delay: 9", delay=0.5)
    assert pause(slow, 503) == pause(slow, 503, wanted="1") == 9
    own = make(archive, delay=3.0)
    assert pause(own, 503) == 3
    lost = NoResponseError("no connection")
    lost.passing = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("random.uniform", lambda low, high: 1.0)
        assert own._pause(_Request(URL), lost) == 3
    lost.passing = False
    assert own._pause(_Request(URL), lost) is None


def test_a_crawl_delay_above_the_longest_counts_as_the_longest(archive: Archive) -> None:
    requester = make(archive, b"User-agent: *\nCrawl-delay: 99", longest_delay=30.0)
    assert requester._delay(_Request(URL)) == 30
    assert requester._delay(_Request("http://other.example/")) == 0


def test_the_next_part_knows_how_silent_a_host_was_and_how_long_it_must_wait(archive: Archive) -> None:
    requester = make(archive)
    requester._frontier.hosts |= {"late.example": Host(2, 15.0), "free.example": Host(0, 9.0)}
    assert requester.list_hosts(10.0) == {"late.example": HostState(2, 5.0), "free.example": HostState(0, 0.0)}


def test_an_answer_ends_a_silence_and_lets_the_failures_in_it_be_stored(archive: Archive) -> None:
    requester = make(archive, retries=0, delay=4.0)
    host, origin, other = Host[_Request](1), "http://host.example", "http://host.example/other"
    requester._receive(host, _Request(URL, origin=origin), NoResponseError("no answer", silent=True), 100.0)
    assert (host.silent, host.not_before, f"GET {URL}" in archive) == (2, 104, False)
    requester._receive(host, _Request(other, origin=origin), Stored(other, 200, {}, b"page"), 110.0)
    assert (host.silent, host.not_before, archive.failure(f"GET {URL}")) == (0, 114, "no answer")
    stored = archive.get(f"GET {other}")
    assert stored is not None
    assert stored.body == b"page"


def test_a_page_that_may_be_had_later_is_the_next_of_its_host(archive: Archive) -> None:
    requester = make(archive)
    for page in ("a", "b"):
        requester._queue(_Request(f"http://host.example/{page}", origin="http://host.example"))
    turn = requester._frontier.take(0.0)
    assert turn is not None
    host, request = turn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("random.uniform", lambda low, high: 1.0)
        requester._receive(host, request, Stored(request.url, 503, {}, b""), 100.0)
    assert (request.tries, host.not_before, requester._frontier.next_due()) == (1, 101, 101)
    assert [each.url[-1] for each in host.waiting] == ["a", "b"]
    assert f"GET {request.url}" not in archive


def test_a_host_that_left_three_pages_without_an_answer_is_left(archive: Archive) -> None:
    requester = make(archive)
    assert not requester._is_settled(Host(2), _Request(URL))
    assert requester._is_settled(Host(3), _Request(URL))
    assert archive.failure(f"GET {URL}") == GONE
    # What was stored meanwhile is not requested again.
    assert requester._is_settled(Host(0), _Request(URL))


def test_a_share_waits_for_a_host_as_long_as_the_part_before_says_and_at_least_its_pause(archive: Archive) -> None:
    requester = make(archive, delay=4.0)
    hosts = {"late.example": HostState(2, 50.0), "free.example": HostState(1, 3.0)}
    requester._share = Share(lambda url: True, hosts, 9.0)

    async def queue() -> dict[str, tuple[int, int]]:
        now = asyncio.get_running_loop().time()
        for name in ("late", "free", "new"):
            requester._queue(_Request(f"http://{name}.example/"))
        return {name: (host.silent, round(host.not_before - now)) for name, host in requester._frontier.hosts.items()}

    assert asyncio.run(queue()) == {"late.example": (2, 50), "free.example": (1, 4), "new.example": (0, 4)}


def test_a_share_that_ends_requests_only_what_was_tried_before(archive: Archive) -> None:
    requester = make(archive)
    for tries, page in enumerate(("new", "tried")):
        requester._queue(_Request(f"http://host.example/{page}", tries=tries))
    requester._begin_end()
    for tries, page in enumerate(("newer", "again")):
        requester._queue(_Request(f"http://host.example/{page}", tries=tries))
    waiting = requester._frontier.hosts["host.example"].waiting
    assert [request.url.rpartition("/")[2] for request in waiting] == ["tried", "again"]


@pytest.mark.parametrize(
    ("status", "found"),
    [("204 No Content", "GET"), ("299 Odd", "GET"), ("300 Multiple Choices", "300"), ("304 Not Modified", "304")],
)
def test_only_success_is_a_page(archive: Archive, status: str, found: str) -> None:
    with web({"/": answer(status, b"", Content_Type="text/html")}) as served:
        assert outcome(archive, served.url("/")).partition(" ")[0] == found


def test_a_redirect_that_does_not_say_where_is_a_failure(archive: Archive) -> None:
    with web({"/": answer("301 Moved"), "/page": html("x")}) as served:
        assert outcome(archive, served.url("/")) == "a redirect to nowhere"
