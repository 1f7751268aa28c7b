"""The crawl in partitions, without a cluster: the outcomes of one process, and never two workers at one host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from socket import create_server
from typing import Any, TypeVar

import crawling
import pytest
from crawl_world import HOSTS, PAGES, WORKERS, count_requests, find_hosts, keep_silent, make_references
from crawling import ROBOTS, crawl, manners, references
from msgspec.structs import replace
from web_pages import Page, answer, html, redirect, web

from shadowprobe.build.archive import Archive
from shadowprobe.build.records import Crawled, WebReference
from shadowprobe.build.shards import ShardPlace, Shards
from shadowprobe.build.web import cluster_crawl
from shadowprobe.build.web.cluster_crawl import ClusterCrawl
from shadowprobe.build.web.partition import CrawlPart, crawl_part, is_online
from shadowprobe.compute.executor import SerialExecutor
from shadowprobe.errors import BuildError

short_pauses = crawling.short_pauses

A = TypeVar("A")
B = TypeVar("B")


class Threads(SerialExecutor):
    """Three workers at the same time, in this process."""

    workers = WORKERS

    def __init__(self) -> None:
        self.rounds: list[list[Any]] = []

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        self.rounds.append(list(parts))
        with ThreadPoolExecutor(WORKERS) as pool:
            yield from pool.map(function, self.rounds[-1])


class Forgetful(Threads):
    """Does every part twice, as if the first worker died before its result came."""

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        both = list(parts)
        list(super().map(function, both))
        yield from super().map(function, both)


class Idle(Threads):
    """Does nothing."""

    def map(self, function: Callable[[A], B], parts: Iterable[A]) -> Iterator[B]:
        return iter([{}] * len(list(parts)))  # type: ignore[list-item]


@pytest.fixture
def place(tmp_path: Path) -> ShardPlace:
    return ShardPlace(str(tmp_path / "web.warc.gz"), 4, "tests")


def crawl_parts(
    place: ShardPlace, asked: list[WebReference], executor: Threads | None = None, **options: Any
) -> list[Crawled]:
    retry, online = options.pop("retry", False), options.pop("online", "")
    with closing(Shards(place)) as archive:
        work = ClusterCrawl(archive, manners(**options), executor or Threads(), retry=retry, online=online)
        return list(work.run(asked, lambda done, of: None))


def test_outcomes_are_those_of_one_process_and_no_page_is_requested_twice(place: ShardPlace, tmp_path: Path) -> None:
    with web(dict(PAGES), HOSTS) as served:
        asked = make_references(served, place)
        found = crawl_parts(place, asked)
        counts = count_requests(served)
        with closing(Archive(tmp_path / "one.warc.gz", software="tests")) as archive:
            alone = list(crawl(asked, archive, manners()))
    assert found == alone
    assert set(counts.values()) == {1}
    assert max(served.most_at_once.values()) == 1
    by_url = {each.url.partition("/")[2]: each for each in found}
    first, second = (f"/127.0.0.{host}:{served.port}" for host in find_hosts(place))
    assert by_url[f"{first}/away"].page == by_url[f"{second}/back"].page == f"GET http:/{first}/alone"
    assert by_url[f"{first}/loop"].failed == "redirect loop"
    assert by_url[f"{second}/3"].failed == "robots.txt forbids it"
    assert by_url[f"{first}/dead"].page == f"GET http:/{second}/4"
    assert by_url[f"{second}/dead"].failed == "404, its copy too"


def test_a_crawl_that_is_done_needs_no_worker_and_any_process_continues_it(place: ShardPlace) -> None:
    with web(dict(PAGES), HOSTS) as served:
        asked, executor = make_references(served, place), Threads()
        found = crawl_parts(place, asked)
        before = len(served.asked)
        assert crawl_parts(place, asked, executor) == found
        with closing(Shards(place)) as archive:
            assert list(crawl(asked, archive, manners())) == found
        assert len(served.asked) == before
    assert executor.rounds == []


@pytest.mark.parametrize("executor", [Forgetful(), Threads()])
def test_parts_that_end_early_or_are_done_again_request_no_page_twice(
    place: ShardPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: Threads
) -> None:
    # A part that must end at once has one request for each host that is free.
    monkeypatch.setattr(cluster_crawl, "SECONDS", 0.0)
    with web(dict(PAGES), HOSTS) as served:
        asked = make_references(served, place)
        found = crawl_parts(place, asked, executor)
        assert set(count_requests(served).values()) == {1}
        with closing(Archive(tmp_path / "one.warc.gz", software="tests")) as archive:
            assert list(crawl(asked, archive, manners())) == found
    assert len(executor.rounds) > 6


def test_the_delay_of_a_host_holds_from_round_to_round(place: ShardPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_crawl, "SECONDS", 0.0)
    rules = answer("200 OK", f"{ROBOTS}Crawl-delay: 0.4".encode(), Content_Type="text/plain")
    pages: dict[str, Page | list[Page]] = {
        "127.0.0.1/robots.txt": rules,
        **{f"/{page}": html("x") for page in range(3)},
    }
    with web(pages, 2) as served:
        urls = [served.url(f"/{page}", host) for page in range(3) for host in (1, 2)]
        executor = Threads()
        assert all(each.page for each in crawl_parts(place, references(*urls), executor, delay=0.2))
    assert len(executor.rounds) > 3
    for host, delay in (("127.0.0.1", 0.4), ("127.0.0.2", 0.2)):
        times = [asked for asked in served.asked if asked.host == host]
        # The rules of the first host are known only after the first request; both clocks are those of this machine.
        assert all(after.began - before.began >= delay for before, after in pairwise(times[1:]))
        assert times[1].began - times[0].began >= 0.2


def test_a_part_waits_first_because_another_worker_may_have_asked_a_moment_ago(place: ShardPlace) -> None:
    with web({"/1": html("x"), "/2": html("x")}) as served:
        crawl_parts(place, references(served.url("/1")), delay=0.3)
        crawl_parts(place, references(served.url("/2")), delay=0.3)
    # robots.txt, the first page, and the second page, which another worker could have requested.
    assert all(after.began - before.began >= 0.3 for before, after in pairwise(served.asked))
    assert len(served.asked) == 3


def test_a_pause_that_a_host_asks_for_is_kept_at_the_end_of_a_part(
    place: ShardPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_crawl, "SECONDS", 0.0)
    busy = answer("503 Busy", Retry_After="1")
    with web({"/1": [busy, html("x")], "/2": html("x")}) as served:
        found = crawl_parts(place, references(served.url("/1"), served.url("/2")))
    assert all(each.page for each in found)
    assert served.paths() == ["/1", "/1", "/2"]
    first, again, _ = (asked for asked in served.asked if asked.path != "/robots.txt")
    assert again.began - first.ended >= 1.0


def test_the_requests_at_a_time_are_divided_among_the_workers_under_way(place: ShardPlace) -> None:
    executor = Threads()
    with web({"/1": html("x")}, HOSTS) as served:
        urls = [served.url("/1", host) for host in range(1, HOSTS + 1)]
        crawl_parts(place, references(*urls), executor, total=8)
        # The files of four shards are for three workers; 8 // 3 requests each.
        assert [part.manners.total for part in executor.rounds[0]] == [2, 2, 2]
        assert [part.shards for part in executor.rounds[0]] == [(0, 3), (1,), (2,)]
        one, other = find_hosts(place)
        crawl_parts(place, references(served.url("/2", one), served.url("/2", other)), executor, total=8)
        assert [part.manners.total for part in executor.rounds[-1]] == [4, 4]
        # Two requests at a time are for two workers at most.
        crawl_parts(place, references(*(f"{url}?more" for url in urls)), executor, total=2)
        assert [part.manners.total for part in executor.rounds[-1]] == [1, 1]


def test_a_round_has_only_so_many_pages_of_a_host_and_of_a_worker(
    place: ShardPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_crawl, "MOST_OF_HOST", 2)
    executor = Threads()
    with web({f"/{page}": html("x") for page in range(5)}) as served:
        urls = [served.url(f"/{page}") for page in range(5)]
        found = crawl_parts(place, references(*urls), executor)
        assert [len(part.visits) for parts in executor.rounds for part in parts] == [2, 2, 1]
        monkeypatch.setattr(cluster_crawl, "MOST_VISITS", 1)
        more = [served.url(f"/{page}?more") for page in range(5)]
        found += crawl_parts(place, references(*more), executor)
        assert [len(part.visits) for parts in executor.rounds[3:] for part in parts] == [1] * 5
    assert all(each.failed in {"", "404"} for each in found)


def test_a_host_that_fell_silent_stays_so_in_the_next_rounds(
    place: ShardPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_crawl, "SECONDS", 0.0)
    pages: dict[str, Page | list[Page]] = {f"127.0.0.1/{page}": keep_silent for page in range(6)}
    with web({**pages, "/wiki": html("x")}, 2) as served:
        urls = [served.url(f"/{page}") for page in range(6)]
        online, paths = served.url("/wiki", 2), list[str]()
        served.watch = paths.append
        found = crawl_parts(place, references(*urls), online=online, timeout=1.0, retries=0)
        assert [each.failed for each in found] == ["no answer in 1 s"] * 3 + ["the host answers no more"] * 3
    assert [path for path in paths if path != "/wiki"] == ["/robots.txt", "/0", "/1", "/2"]


def find_free_port() -> int:
    with create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_silent_hosts_are_not_believed_while_a_worker_is_offline(place: ShardPlace) -> None:
    gone = f"http://127.0.0.1:{find_free_port()}"
    hurried: dict[str, Any] = {"timeout": 1.0, "retries": 0}
    with web({"/robots.txt": keep_silent, "127.0.0.2/": html("x"), "127.0.0.2/robots.txt": html("")}, 2) as served:
        urls = references(served.url("/"))
        with pytest.raises(BuildError, match=r"127\.0\.0\.1 was silent, and nobody else can be reached"):
            crawl_parts(place, urls, online=gone, **hurried)
        with closing(Shards(place)) as archive:
            assert len(archive) == 0
        (found,) = crawl_parts(place, urls, online=served.url("/", 2), **hurried)
        assert found.failed == "no answer in 1 s"


def test_any_answer_shows_that_a_worker_is_online() -> None:
    with web({}) as served:
        assert is_online(served.url("/missing"), "tests")
    assert not is_online(f"http://127.0.0.1:{find_free_port()}", "tests")


def test_a_failure_that_may_pass_is_requested_again_once(place: ShardPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_crawl, "SECONDS", 0.0)
    with web({"/1": answer("500 Oops"), "/2": html("x"), "/3": answer("404 No")}, HOSTS) as served:
        asked = references(*(served.url(f"/{page}", host) for host in range(1, HOSTS + 1) for page in (1, 2, 3)))
        found = crawl_parts(place, asked, retries=0)
        assert Counter(each.failed for each in found) == {"500": HOSTS, "": HOSTS, "404": HOSTS}
        before = len(served.asked)
        # Every part is done twice: what the first attempt has stored is not requested again by the second.
        assert crawl_parts(place, asked, Forgetful(), retry=True, retries=0) == found
        assert served.paths()[-HOSTS:] == ["/1"] * HOSTS
        assert len(served.asked) == before + HOSTS
        served.pages["/1"] = html("x")
        assert Counter(each.failed for each in crawl_parts(place, asked, retry=True)) == {"": 2 * HOSTS, "404": HOSTS}


def test_rounds_without_any_new_record_are_an_error(place: ShardPlace) -> None:
    with pytest.raises(BuildError, match=r"^no page of 1 was stored in 3 rounds: the same command continues$"):
        crawl_parts(place, references("http://127.0.0.1:1/"), Idle())


def test_a_worker_hands_back_what_belongs_to_others(place: ShardPlace) -> None:
    one, two = find_hosts(place)
    with web({}, HOSTS) as served:
        served.pages |= {f"127.0.0.{one}/away": redirect(served.url("/there", two)), "/there": html("x")}
        executor = Threads()
        (found,) = crawl_parts(place, references(served.url("/away", one)), executor)
        first, second = (parts[0] for parts in executor.rounds)
    assert isinstance(first, CrawlPart)
    # The second worker knows the redirect of the first, and nothing else of it.
    assert (list(first.others), list(second.others)) == ([], [f"GET {served.url('/away', one)}"])
    assert found.page == f"GET {served.url('/there', two)}"
    with closing(Shards(place, only=second.shards)) as archive:
        assert sorted(archive.keys()) == [f"GET {served.url(path, two)}" for path in ("/robots.txt", "/there")]


def test_a_part_whose_visits_are_all_for_others_requests_nothing(place: ShardPlace) -> None:
    one, two = find_hosts(place)
    with web({"/": html("x")}, HOSTS) as served:
        executor = Threads()
        crawl_parts(place, references(served.url("/", one)), executor)
        part, before = executor.rounds[0][0], len(served.asked)
        visit = part.visits[0]._replace(url=served.url("/", two))
        assert crawl_part(replace(part, visits=[visit])) == {}
        assert len(served.asked) == before
