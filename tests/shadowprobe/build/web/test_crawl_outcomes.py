"""What an archive says of URLs, without any request."""

from __future__ import annotations

import crawling
import pytest
from crawling import manners

from shadowprobe.build.archive import Archive, Entry, key_of
from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.web.outcomes import End, Known, Outcomes, Visit, collect_copies, find_passing, list_visits
from shadowprobe.build.web.politeness import FORBIDDEN, TOO_PATIENT, Manners

archive = crawling.archive
ONE, TWO = "http://one.example", "http://two.example"


def page(archive: Archive, url: str, body: bytes = b"page", kind: str = "text/html", captured: str = "") -> None:
    archive.put(key_of("GET", url), Stored(url, 200, {"content-type": kind}, body, captured=captured))


def lead(archive: Archive, url: str, target: str) -> None:
    archive.put(key_of("GET", url), Stored(url, 301, {"location": target}, b""))


def fail(archive: Archive, url: str, why: str) -> None:
    archive.put_failure(key_of("GET", url), url, why)


def look_up(archive: Archive, url: str, copy: str | None = None) -> Crawled | str:
    return Outcomes(archive, manners()).look_up(Visit(0, url, copy))


def test_a_stored_page_is_an_outcome_and_an_unknown_one_is_to_be_requested(archive: Archive) -> None:
    page(archive, f"{ONE}/a", captured="2020-01-02T03:04:05Z")
    assert look_up(archive, f"{ONE}/a") == Crawled(f"{ONE}/a", f"GET {ONE}/a", captured="2020-01-02T03:04:05Z")
    assert look_up(archive, f"{ONE}/b") == f"{ONE}/b"
    outcomes = Outcomes(archive, manners())
    assert outcomes.read_outcome(Visit(0, f"{ONE}/b", None)) == Crawled(f"{ONE}/b", failed="not in the archive")


def test_five_redirects_are_followed_and_six_are_too_many(archive: Archive) -> None:
    for number in range(6):
        lead(archive, f"{ONE}/{number}", f"/{number + 1}")
    page(archive, f"{ONE}/6")
    outcomes = Outcomes(archive, Manners(user_agent="tests"))
    assert outcomes.follow(f"{ONE}/1") == End(f"{ONE}/6", is_page=True)
    assert outcomes.follow(f"{ONE}/0").failed == "too many redirects"


def test_redirects_that_come_back_are_a_loop_and_an_unknown_target_is_requested_next(archive: Archive) -> None:
    lead(archive, f"{ONE}/a", f"{TWO}/b")
    assert look_up(archive, f"{ONE}/a") == f"{TWO}/b"
    lead(archive, f"{TWO}/b", f"{ONE}/a")
    assert look_up(archive, f"{ONE}/a") == Crawled(f"{ONE}/a", failed="redirect loop")


def test_what_is_no_html_is_no_page_but_may_be_a_robots_txt(archive: Archive) -> None:
    page(archive, f"{ONE}/robots.txt", b"User-agent: *\nDisallow: /", "text/plain")
    assert look_up(archive, f"{ONE}/robots.txt") == Crawled(f"{ONE}/robots.txt", failed="not HTML: text/plain")
    outcomes = Outcomes(archive, manners())
    assert outcomes.follow_robots(ONE) == End(f"{ONE}/robots.txt", is_page=True)
    assert outcomes.read_rules(ONE).refusal(f"{ONE}/a", 30) == FORBIDDEN


def test_a_copy_takes_the_place_of_a_dead_page_and_of_no_page_that_is_refused(archive: Archive) -> None:
    page(archive, f"{TWO}/copy")
    for why in ("404", "no answer in 1 s"):
        fail(archive, f"{ONE}/a", why)
        assert look_up(archive, f"{ONE}/a", f"{TWO}/copy") == Crawled(f"{ONE}/a", f"GET {TWO}/copy")
        assert look_up(archive, f"{ONE}/a") == Crawled(f"{ONE}/a", failed=why)
        # Not yet requested.
        assert look_up(archive, f"{ONE}/a", f"{TWO}/new") == f"{TWO}/new"
    for why in ("too large", "not HTML: image/png", "robots.txt: 503", FORBIDDEN, TOO_PATIENT):
        fail(archive, f"{ONE}/a", why)
        assert look_up(archive, f"{ONE}/a", f"{TWO}/copy") == Crawled(f"{ONE}/a", failed=why)
    fail(archive, f"{ONE}/a", "404")
    fail(archive, f"{TWO}/copy", "500")
    assert look_up(archive, f"{ONE}/a", f"{TWO}/copy") == Crawled(f"{ONE}/a", failed="404, its copy too")


def test_each_url_is_visited_once_with_the_first_copy_that_is_named() -> None:
    copies = [(f"{ONE}/a", None), (f"{ONE}/b", "b1"), (f"{ONE}/a", "a1"), (f"{ONE}/a", "a2"), (f"{ONE}/b", None)]
    collected = collect_copies(WebReference("Entity", url, copy) for url, copy in copies)
    assert list(list_visits(collected)) == [Visit(0, f"{ONE}/a", "a1"), Visit(1, f"{ONE}/b", "b1")]


def test_failures_that_may_pass_are_requested_again_and_private_addresses_with_leave(archive: Archive) -> None:
    reasons = ("503", "404", "no connection", "the host answers no more", "a private address", "too large")
    for number, why in enumerate(reasons):
        fail(archive, f"{ONE}/{number}", why)
    page(archive, f"{ONE}/page")

    def list_passing(allowed: tuple[str, ...]) -> list[str]:
        return sorted(place.key.rpartition("/")[2] for place in find_passing(archive, manners(allow_private=allowed)))

    assert list_passing(()) == ["0", "2", "3"]
    assert list_passing(("10.0.0.0/8",)) == ["0", "2", "3", "4"]
    again = find_passing(archive, manners(allow_private=()))
    outcomes = Outcomes(archive, manners(), again=again)
    assert outcomes.find(f"{ONE}/0") is None
    assert outcomes.find(f"{ONE}/1") is not None
    # What another worker has stored since counts.
    known = Known(Entry(f"GET {ONE}/0", 0, 0, "502"))
    outcomes = Outcomes(archive, manners(), again=again, others={f"GET {ONE}/0": known})
    assert outcomes.follow(f"{ONE}/0").failed == "502"


def test_a_doubtful_failure_counts_as_long_as_it_is_doubtful(archive: Archive) -> None:
    outcomes = Outcomes(archive, manners())
    key = f"GET {ONE}/robots.txt"
    outcomes.doubtful[key] = f"{ONE}/robots.txt", "no answer"
    assert outcomes.follow(f"{ONE}/robots.txt") == End(f"{ONE}/robots.txt", failed="no answer")
    assert (outcomes.has_doubtful_rules(ONE), outcomes.has_doubtful_rules(TWO)) == (True, False)


def test_rules_are_known_once_a_robots_txt_or_its_failure_is_stored(archive: Archive) -> None:
    outcomes = Outcomes(archive, manners())
    before = outcomes.has_rules(ONE)
    fail(archive, f"{ONE}/robots.txt", "404")
    assert (before, outcomes.has_rules(ONE), outcomes.has_rules(TWO)) == (False, True, False)
    assert outcomes.read_rules(ONE).refusal(f"{ONE}/a", 30) == ""
    assert outcomes.read_robots(f"{TWO}/robots.txt") == b""


def test_records_of_other_workers_are_known_with_their_rules(archive: Archive) -> None:
    key = f"GET {TWO}/robots.txt"
    others = {key: Known(Entry(key, 0, 9, status=200), b"User-agent: *\nDisallow: /")}
    outcomes = Outcomes(archive, manners(), others=others)
    assert outcomes.read_rules(TWO).refusal(f"{TWO}/a", 30) == FORBIDDEN


def test_the_records_that_lead_to_an_end_are_noted_for_the_one_who_asks_for_them(archive: Archive) -> None:
    lead(archive, f"{ONE}/a", f"{TWO}/b")
    outcomes = Outcomes(archive, manners())
    outcomes.passed = []
    outcomes.follow(f"{ONE}/a")
    assert outcomes.passed == [f"GET {ONE}/a"]


@pytest.mark.parametrize(("seconds", "said"), [(30, ""), (31, TOO_PATIENT)])
def test_a_crawl_delay_of_half_a_minute_is_the_longest_that_is_kept(archive: Archive, seconds: int, said: str) -> None:
    page(archive, f"{ONE}/robots.txt", f"User-agent: *\nCrawl-delay: {seconds}".encode(), "text/plain")
    polite = Manners(user_agent="tests")
    assert Outcomes(archive, polite).read_rules(ONE).refusal(f"{ONE}/a", polite.longest_delay) == said
