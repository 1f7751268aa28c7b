"""When a page is requested again, and what is stored of an answer."""

from __future__ import annotations

from typing import Any

import crawling
import pytest
from crawling import manners, outcome
from web_pages import answer, html, web

from shadowprobe.build.archive import Archive
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.outcomes import Outcomes
from shadowprobe.build.web.politeness import Host
from shadowprobe.build.web.requesting import HostState, Requester, _Request
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
