"""A wiki that is busy, slow, broken, or says what no wiki says."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from service import Asked, Reply
from wiki_standin import JSON, RunningStandIn, StandIn, as_json, refused, running

from shadowprobe.build.archive import Archive
from shadowprobe.build.warc_record import Stored
from shadowprobe.build.wiki import session as module
from shadowprobe.build.wiki.wiki_api import Wiki
from shadowprobe.errors import BuildError
from shadowprobe.net.blocking import BlockingClient
from shadowprobe.net.failures import NoResponseError
from shadowprobe.net.limits import Limits


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made; time does not pass in them."""
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        if seconds > 0:
            pauses.append(round(seconds))

    monkeypatch.setattr("time.sleep", sleep)
    return pauses


def titles(server: RunningStandIn, wiki: Wiki, *asked: str) -> list[str]:
    return [page["title"] for page in wiki.pages(asked, prop="info")]


def test_a_wiki_that_asks_for_patience_is_asked_again_later(tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    standin.instead = [(429, {"Retry-After": "7"}, b"slow down"), (429, {"Retry-After": "tomorrow"}, b"slow down")]
    with running(standin, tmp_path) as server:
        assert titles(server, server.wiki(), "Harlow") == ["Harlow"]
    assert slept == [7, 4]


def test_the_pause_that_a_wiki_asks_for_may_be_a_date(tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
    standin.instead = [(429, {"Retry-After": later}, b"slow down")]
    with running(standin, tmp_path) as server:
        assert titles(server, server.wiki(), "Harlow") == ["Harlow"]
    # Less the moment that the answer took.
    assert [250 < pause <= 300 for pause in slept] == [True]


@pytest.mark.parametrize(
    "reply",
    [
        refused("maxlag"),
        refused("ratelimited"),
        refused("readonly"),
        refused("internal_api_error_DBQueryError"),
        # Neither the header nor the status tells it.
        as_json({"error": {"code": "maxlag", "info": "Waiting."}}),
        as_json({}, **{"X-Database-Lag": "7"}),
        (503, {"Content-Type": "text/html"}, b"broken"),
        (500, JSON, b"{}"),
    ],
)
@pytest.mark.parametrize(("retry_after", "pauses"), [({}, [2, 4]), ({"Retry-After": "9"}, [9, 9])])
def test_what_passes_is_asked_again_after_a_pause(
    reply: Reply, retry_after: dict[str, str], pauses: list[int], tmp_path: Path, slept: list[float]
) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    status, headers, body = reply
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        standin.instead = [(status, headers | retry_after, body)] * 2
        assert titles(server, wiki, "Harlow") == ["Harlow"]
    assert slept == pauses


def test_a_wiki_that_dies_is_given_half_a_minute(tmp_path: Path, slept: list[float]) -> None:
    def die(number: int, asked: Asked) -> Reply:
        raise ConnectionError

    with running(StandIn(), tmp_path) as server:
        wiki = server.wiki()
        server.service.behaviour = die
        with pytest.raises(BuildError, match=r"an answer that breaks off \(.*\); the same command goes on later$"):
            titles(server, wiki, "Harlow")
    assert slept == [2, 4, 8, 16]


# The seconds of the first attempt, and of each pause with the attempt after it.
@pytest.mark.parametrize(("first", "later", "pauses"), [(0, 31, [2]), (0, 15, [2, 4, 8]), (40, 0, [2])])
def test_a_wiki_that_dies_slowly_is_given_half_a_minute_in_all(
    first: int, later: int, pauses: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed, slept = [0], list[float]()

    def die(number: int, asked: Asked) -> Reply:
        passed[0] = max(first, passed[0])
        raise ConnectionError

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        passed[0] += later

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: passed[0], sleep=sleep))
    with running(StandIn(), tmp_path) as server:
        wiki = server.wiki()
        server.service.behaviour = die
        with pytest.raises(BuildError, match="the same command goes on later"):
            titles(server, wiki, "Harlow")
    assert slept == pauses


def test_what_a_wiki_says_is_cut_after_two_hundred_characters() -> None:
    assert str(module.StrangeError("url", "y" * 201)).count("y") == 200
    assert module.short(NoResponseError("y" * 201)) == "y" * 200
    assert module.short(ValueError(f"a \n b {'y' * 200}")) == f"ValueError: a b {'y' * 196}"
    assert module.short(ValueError()) == "ValueError"


def test_first_contact_fails_at_once_though_the_archive_knows_the_wiki(tmp_path: Path, slept: list[float]) -> None:
    with running(StandIn(), tmp_path) as server:
        server.wiki()
    wiki = server.wiki()
    with pytest.raises(BuildError, match="no connection"):
        titles(server, wiki, "Harlow")
    server.close()
    assert slept == []


def test_a_place_that_breaks_does_not_hold_up_the_search(tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    standin.place = "/api.php"

    def behaviour(number: int, asked: Asked) -> Reply:
        return standin(number, asked) if asked.path == standin.place else (503, {}, b"")

    with running(standin, tmp_path) as server:
        server.service.behaviour = behaviour
        assert server.wiki().name == "Stand-in"
    assert slept == []


def test_a_server_that_says_nothing_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST", 0.2)
    over = threading.Event()

    def behaviour(number: int, asked: Asked) -> Reply:
        over.wait()
        raise ConnectionError

    with running(StandIn(), tmp_path) as server:
        server.service.behaviour = behaviour
        try:
            with pytest.raises(BuildError, match=rf"^{server.url}: no answer within 0 seconds$"):
                server.wiki()
        finally:
            over.set()
        assert len(server.service.requests) == 1


def test_every_request_has_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds: list[float] = []
    send = BlockingClient.send

    def watched(client: BlockingClient, request: httpx.Request, limits: Limits, **options: Any) -> httpx.Response:
        seconds.append(limits.seconds)
        return send(client, request, limits, **options)

    monkeypatch.setattr(BlockingClient, "send", watched)
    with running(StandIn(), tmp_path) as server:
        titles(server, server.wiki(), "Harlow")
    # Where the wiki is, what it is, and what was asked.
    assert seconds == [20.0, 60.0, 60.0]


def test_proxies_of_the_environment_are_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody listens there.
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with running(StandIn(), tmp_path) as server:
        assert server.wiki().name == "Stand-in"


def test_a_wiki_that_never_lets_us_in_is_an_error_and_the_next_run_asks_again(
    tmp_path: Path, slept: list[float]
) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        standin.instead = [(429, {"Retry-After": "1"}, b"")] * (len(module.PAUSES) + 1)
        with pytest.raises(BuildError, match=r"429 Client Error.*; the same command goes on later"):
            titles(server, wiki, "Harlow")
        assert titles(server, server.wiki(), "Harlow") == ["Harlow"]


def test_no_one_waits_for_hours(tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        for seconds in ("86400", "9" * 400):
            standin.instead = [(429, {"Retry-After": seconds}, b"")]
            with pytest.raises(BuildError, match="429"):
                titles(server, wiki, "Harlow")
    assert slept == []


def test_ten_minutes_are_waited_and_no_second_more(tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        standin.instead = [(429, {"Retry-After": "600"}, b"")]
        assert titles(server, wiki, "Harlow") == ["Harlow"]
        assert slept == [600]
        standin.instead = [(429, {"Retry-After": "601"}, b"")]
        with pytest.raises(BuildError, match="429"):
            titles(server, wiki, "Avon")
    assert slept == [600]


def test_something_that_broke_is_asked_again_and_not_kept(tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    standin.instead = [(503, {}, b"broken")]
    with running(standin, tmp_path) as server:
        assert titles(server, server.wiki(), "Harlow") == ["Harlow"]
        assert len(server.forms) == 2


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (refused("readonly", "The wiki is being moved."), "the API says readonly: The wiki is being moved.; the same"),
        (refused("badvalue", ""), "the API says badvalue$"),
        (as_json({"error": {"code": "ratelimited", "info": "Slow."}}), "ratelimited"),
        (as_json({}, **{"X-Database-Lag": "7"}), "no `pages`"),
        (as_json({"error": {"code": "maxlag"}}, **{"X-Database-Lag": "7"}), "the API says maxlag; the same"),
        ((200, {"Content-Type": "text/html"}, b"<html>Log in to this network</html>"), "JSON is malformed"),
    ],
)
def test_an_answer_that_is_none_is_an_error_and_is_not_kept(
    reply: Reply, said: str, tmp_path: Path, slept: list[float]
) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        standin.instead = [reply] * (len(module.PAUSES) + 1)
        with pytest.raises(BuildError, match=said):
            titles(server, wiki, "Harlow")
        standin.instead = []
        assert titles(server, server.wiki(), "Harlow") == ["Harlow"]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ([], "Expected `object`, got `array`"),
        (None, "Expected `object`, got `null`"),
        ({"error": "x"}, "at `$.error`"),
        ({"query": None}, "at `$.query`"),
        ({"query": {}}, "no `pages`"),
        ({}, "no `pages`"),
        # As before the second version of the format.
        ({"query": {"pages": {"1": {"pageid": 1, "title": "Harlow"}}}}, "Expected `array`, got `object`"),
        ({"query": {"pages": [{"pageid": 1}]}}, "a page without a title or number"),
        ({"query": {"pages": [{"title": "Harlow", "links": [{}]}]}}, "missing required field `title`"),
        ({"query": {"pages": []}, "continue": "x"}, "at `$.continue`"),
    ],
)
def test_an_answer_of_another_shape_is_one_line_with_its_address_and_is_not_kept(
    answer: Any, fault: str, tmp_path: Path
) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        standin.instead = [as_json(answer)]
        with pytest.raises(BuildError) as error:
            titles(server, wiki, "Harlow")
        assert str(error.value).startswith(f"{server.url}/w/api.php: no answer that a MediaWiki gives (")
        assert fault in str(error.value)
        assert "\n" not in str(error.value)
        assert titles(server, server.wiki(), "Harlow") == ["Harlow"]


@pytest.mark.parametrize("answer", [{}, {"parse": None}, {"parse": {}}, {"parse": {"text": {"*": "<p>"}}}])
def test_a_text_of_another_shape_is_an_error_and_is_not_kept(answer: Any, tmp_path: Path) -> None:
    standin = StandIn()
    standin.texts["Harlow"] = "<p>A town.</p>"
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        standin.instead = [as_json(answer)]
        with pytest.raises(BuildError, match="no answer that a MediaWiki gives"):
            wiki.html("Harlow")
        assert wiki.html("Harlow") == "<p>A town.</p>"


@pytest.mark.parametrize(
    "answer",
    [
        [],
        None,
        {"error": "x"},
        {"query": None},
        {"query": {}},
        {"query": {"general": {"lang": "en"}}},
        {"batchcomplete": True},
    ],
)
@pytest.mark.parametrize("siprop", ["general", "general|extensions|statistics"])
def test_a_wiki_that_says_too_little_of_itself_is_one_line_and_is_asked_again(
    answer: Any, siprop: str, tmp_path: Path
) -> None:
    standin = StandIn()

    def behaviour(number: int, asked: Asked) -> Reply:
        return as_json(answer) if asked.form["siprop"] == siprop else standin(number, asked)

    with running(standin, tmp_path) as server:
        server.service.behaviour = behaviour
        with pytest.raises(BuildError, match=rf"^{server.url}.*api.php.*(no `general`|Expected|missing required)"):
            server.wiki()
        server.service.behaviour = standin
        assert server.wiki().name == "Stand-in"


def test_an_answer_of_another_shape_in_the_archive_is_asked_for_again(tmp_path: Path) -> None:
    standin = StandIn()
    standin.add("Harlow", 1)
    with running(standin, tmp_path) as server:
        titles(server, server.wiki(), "Harlow")
        server.close()
        archive = Archive(server.path, software="tests")
        [*_, question] = archive.keys()
        archive.put(question, Stored(f"{server.url}/w/api.php", 200, JSON, b'{"query": null}'))
        archive.close()
        assert titles(server, server.wiki(), "Harlow") == ["Harlow"]


@pytest.mark.parametrize("limit", ["MOST_EMPTY", "MOST_PARTS"])
def test_a_list_without_an_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(f"shadowprobe.build.wiki.wiki_api.{limit}", 4)
    items = [{"title": "Harlow"}] if limit == "MOST_PARTS" else []
    standin = StandIn()
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        before = len(server.forms)
        standin.instead = [
            as_json({"query": {"allpages": items}, "continue": {"from": str(number), "continue": "-||"}})
            for number in range(9)
        ]
        with pytest.raises(BuildError, match="continues the list allpages without an end"):
            list(wiki.read_list("allpages"))
        assert len(server.forms) - before == 4


def test_a_wiki_that_goes_round_in_a_circle_is_stopped(tmp_path: Path) -> None:
    standin = StandIn()
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        round_again = as_json({"query": {"allpages": []}, "continue": {"from": 1, "continue": "-||"}})
        standin.instead = [round_again] * 5
        with pytest.raises(BuildError, match="it goes on where it began"):
            list(wiki.read_list("allpages"))
        assert len(server.forms) == 2


@pytest.mark.parametrize(
    "reply", [refused("internal_api_error_Timeout"), refused("invalidtitle"), (504, {}, b"gateway"), (500, {}, b"")]
)
def test_a_page_that_the_wiki_fails_on_is_counted_and_kept_as_such(
    reply: Reply, tmp_path: Path, slept: list[float]
) -> None:
    standin = StandIn()
    standin.broken["Harlow"] = reply
    standin.texts["Kestrel"] = "<p>A bird.</p>"
    dropped: Counter[str] = Counter()
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        assert wiki.html("Harlow", dropped) is None
        assert wiki.html("Kestrel", dropped) == "<p>A bird.</p>"
        assert wiki.html("Gone", dropped) is None
        assert dropped == {"the wiki failed on the page": 1}
        asked = len(server.service.requests)
        assert server.wiki().html("Harlow", dropped) is None
        assert len(server.service.requests) == asked
    assert server.wiki(read_only=True).html("Harlow", dropped) is None
    assert dropped == {"the wiki failed on the page": 3}
    server.close()


@pytest.mark.parametrize("reply", [refused("internal_api_error_DBConnectionError"), (503, {}, b"")])
def test_a_wiki_that_fails_on_everything_is_not_the_fault_of_a_page(
    reply: Reply, tmp_path: Path, slept: list[float]
) -> None:
    standin = StandIn()
    standin.texts["Harlow"] = "<p>A town.</p>"
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        server.service.behaviour = lambda number, asked: reply
        with pytest.raises(BuildError, match=rf"^{server.url}: "):
            wiki.html("Harlow")
        server.service.behaviour = standin
        assert server.wiki().html("Harlow") == "<p>A town.</p>"


def test_a_wiki_that_is_busy_is_not_the_fault_of_a_page(tmp_path: Path, slept: list[float]) -> None:
    standin = StandIn()
    standin.broken["Harlow"] = refused("ratelimited")
    with running(standin, tmp_path) as server:
        wiki = server.wiki()
        with pytest.raises(BuildError, match=r"the API says ratelimited: No.; the same command goes on later"):
            wiki.html("Harlow")
