"""What robots.txt says to us, and the order in which hosts are asked."""

from __future__ import annotations

import inspect

import pytest

from shadowprobe.build.web.politeness import FORBIDDEN, TOO_PATIENT, Frontier, Host, Manners, Rules, host_of, origin_of
from shadowprobe.cli.build import build

URL = "http://example.org/private/page"


def refusal(robots: str, url: str = URL) -> str:
    return Rules(robots.encode()).refusal(url, 30)


def test_a_page_that_robots_txt_forbids_to_everybody_is_refused() -> None:
    assert refusal("User-agent: *\nDisallow: /private/") == FORBIDDEN
    assert refusal("User-agent: *\nDisallow: /private/", "http://example.org/public") == ""


def test_our_own_lines_count_before_those_for_everybody() -> None:
    assert refusal("User-agent: *\nDisallow: /\n\nUser-agent: shadowprobe\nDisallow:") == ""
    assert refusal("User-agent: *\nDisallow:\n\nUser-agent: ShadowProbe\nDisallow: /") == FORBIDDEN


def test_the_longer_rule_wins() -> None:
    assert refusal("User-agent: *\nDisallow: /private/\nAllow: /private/page") == ""


def test_an_empty_robots_txt_and_rubbish_allow_everything() -> None:
    assert refusal("") == ""
    assert Rules(bytes(range(256))).refusal(URL, 30) == ""
    assert refusal("<html><body>no such page</body></html>") == ""


def test_a_byte_order_mark_hides_nothing() -> None:
    assert Rules(b"\xef\xbb\xbfUser-agent: *\nDisallow: /").refusal(URL, 30) == FORBIDDEN


def test_a_crawl_delay_is_known_and_too_long_a_one_refused() -> None:
    rules = Rules(b"User-agent: *\nCrawl-delay: 7")
    assert rules.delay == 7.0
    assert rules.refusal(URL, 30) == ""
    assert rules.refusal(URL, 6) == TOO_PATIENT


@pytest.mark.parametrize("failed", ["404", "403", "410", "redirect loop", "too many redirects"])
def test_a_robots_txt_that_is_not_there_allows_everything(failed: str) -> None:
    assert Rules(failed=failed).refusal(URL, 30) == ""


def test_a_server_that_is_broken_forbids_everything() -> None:
    assert Rules(failed="503").refusal(URL, 30) == "robots.txt: 503"


def test_a_host_that_cannot_be_reached_gives_its_own_reason() -> None:
    assert Rules(failed="no such host").refusal(URL, 30) == "no such host"


def test_origins_are_told_apart_by_scheme_and_port_and_hosts_are_not() -> None:
    assert origin_of("https://example.org:8080/a?b") == "https://example.org:8080"
    assert host_of("https://example.org:8080/a") == host_of("http://example.org/") == "example.org"


@pytest.mark.parametrize(
    ("spellings", "host"),
    [
        (("127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "localhost."), "127.0.0.1"),
        (("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost"), "127.0.0.1"),
        (("[2001:db8::1]", "[2001:0db8:0:0::1]"), "2001:db8::1"),
        (("example.org", "EXAMPLE.org", "example.org."), "example.org"),
        # Not addresses, though they begin like one.
        (("1.2.3.4.5",), "1.2.3.4.5"),
        (("127.0.0.1.example.org",), "127.0.0.1.example.org"),
    ],
)
def test_all_spellings_of_a_host_are_one_host(spellings: tuple[str, ...], host: str) -> None:
    assert {host_of(f"http://{spelling}:81/x") for spelling in spellings} == {host}


def test_a_busy_host_gives_nothing_out_until_it_is_released() -> None:
    frontier: Frontier[str] = Frontier()
    frontier.add("a", "first")
    frontier.add("a", "second")
    turn = frontier.take(0.0)
    assert turn is not None
    host, item = turn
    assert item == "first"
    assert frontier.take(100.0) is None
    assert frontier.next_due() is None
    frontier.release(host, 5.0)
    assert frontier.next_due() == 5.0
    assert frontier.take(4.9) is None
    again = frontier.take(5.0)
    assert again is not None
    assert again[1] == "second"


def test_hosts_take_turns_as_they_are_due() -> None:
    frontier: Frontier[str] = Frontier()
    for name in ("a1", "a2", "b1", "c1"):
        frontier.add(name[0], name)
    order = []
    for now in range(4):
        turn = frontier.take(float(now))
        assert turn is not None
        order.append(turn[1])
        frontier.release(turn[0], 3.0)
    assert order == ["a1", "b1", "c1", "a2"]


def test_what_is_put_first_goes_first() -> None:
    frontier: Frontier[str] = Frontier()
    frontier.add("a", "page")
    frontier.add("a", "robots", first=True)
    turn = frontier.take(0.0)
    assert turn is not None
    assert turn[1] == "robots"


def test_an_earlier_pause_of_a_host_is_not_shortened() -> None:
    frontier: Frontier[str] = Frontier()
    frontier.hosts["a"] = Host(not_before=5.0)
    frontier.add("a", "first")
    frontier.add("a", "second")
    assert frontier.next_due() == 5.0
    turn = frontier.take(5.0)
    assert turn is not None
    frontier.release(turn[0], 0.0)
    assert frontier.next_due() == 5.0


def test_only_some_of_what_waits_is_dropped_and_each_host_keeps_its_one_place() -> None:
    frontier: Frontier[str] = Frontier()
    for name in ("a1", "a2", "b1", "c1", "c2"):
        frontier.add(name[0], name)
    busy = frontier.take(0.0)
    assert busy is not None
    frontier.drop(lambda item: item.endswith("1"))
    # The first of `a` is under way, `b` has nothing left, and `c` its second.
    left = frontier.take(0.0)
    assert left is not None
    assert left[1] == "c2"
    assert frontier.take(0.0) is None
    frontier.release(busy[0], 0.0)
    last = frontier.take(0.0)
    assert last is not None
    assert last[1] == "a2"


def test_manners_are_those_of_the_command_unless_others_are_given() -> None:
    options = inspect.signature(build).parameters
    polite = Manners(user_agent="tests")
    assert polite.total == options["concurrency"].default
    for name in ("delay", "timeout", "max_bytes", "allow_private"):
        assert getattr(polite, name) == options[name].default


def test_a_pause_as_long_as_the_longest_is_waited_for() -> None:
    rules = Rules(b"User-agent: *\nCrawl-delay: 30")
    assert rules.refusal(URL, 30.0) == ""
    assert rules.refusal(URL, 29.9) == TOO_PATIENT


@pytest.mark.parametrize(
    ("failed", "said"), [("399", "robots.txt: 399"), ("400", ""), ("499", ""), ("500", "robots.txt: 500")]
)
def test_only_a_fault_of_the_request_means_that_there_is_no_robots_txt(failed: str, said: str) -> None:
    assert Rules(failed=failed).refusal(URL, 30) == said
