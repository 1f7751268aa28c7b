"""How often, when and beside which others a request is sent, and when a service is given up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from asking import Named, answers_of, marked
from service import Asked, Reply, Service, serving

from shadowprobe import Dataset, Failure, LinkerError, Prediction, Snippet
from shadowprobe.systems import service_client

GOOD: Reply = (200, {}, b"Avon (river)")
DOWN: Reply = (503, {}, b"")
MANY = [marked(f"Number {n} on the [Avon].", str(n)) for n in range(40)]


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(lambda number, asked: GOOD) as running:
        yield running


def reply_in_turn(service: Service, *replies: Reply) -> None:
    """Lets a service send these replies, one for each request."""
    service.behaviour = lambda number, asked: replies[number - 1]


def link(linker: Named, world: Dataset, snippets: list[Snippet]) -> list[str]:
    """`answered` or the error of each snippet."""
    given = answers_of(linker, world.knowledge, *snippets)
    return ["answered" if isinstance(one, Prediction) else one.error for one in given]


@pytest.mark.parametrize(("retries", "times"), [(0, "once"), (1, "2 times"), (2, "3 times")])
def test_a_request_is_sent_once_and_as_often_again_as_allowed(
    service: Service, world: Dataset, retries: int, times: str
) -> None:
    service.behaviour = lambda number, asked: GOOD if number == 1 else DOWN
    linker = Named(service.url, concurrency=1, retries=retries)
    first, second = link(linker, world, MANY[:2])
    assert first == "answered"
    assert second.endswith(f"503 Service Unavailable, {times}")
    assert len(service.requests) == 1 + 1 + retries
    again = "1 retry" if retries == 1 else f"{retries} retries"
    assert linker.status == (f"{again}, last after 503 Service Unavailable" if retries else "")


def test_a_service_that_answered_is_given_up_after_eight_failures_in_a_row_and_not_before(
    service: Service, world: Dataset
) -> None:
    almost = [GOOD, *[DOWN] * (service_client.GONE - 1)]
    reply_in_turn(service, *almost, *almost, GOOD)
    outcomes = link(Named(service.url, concurrency=1, retries=0), world, MANY[:17])
    assert [one == "answered" for one in outcomes] == [reply == GOOD for reply in (*almost, *almost, GOOD)]
    service.requests.clear()
    reply_in_turn(service, *almost, DOWN)
    linker = Named(service.url, concurrency=1, retries=0)
    linker.open(world.knowledge)
    parts = linker.link_each(MANY)
    with pytest.raises(LinkerError, match=r"503.*: the service answered before, and does so no more; run the command"):
        list(parts)
    # What is gone is not asked again.
    with pytest.raises(LinkerError, match="does so no more"):
        linker.link(MANY[:1])
    with pytest.raises(LinkerError, match="does so no more"):
        next(linker.link_each(MANY[:1]))
    linker.close()
    assert len(service.requests) == 1 + service_client.GONE


def test_a_service_that_was_never_reached_stops_the_run_and_one_that_was_costs_a_snippet(world: Dataset) -> None:
    with serving(lambda number, asked: (200, {"Connection": "close"}, b"Avon (river)")) as running:
        linker = Named(running.url, concurrency=1, retries=0)
        linker.open(world.knowledge)
        assert isinstance(linker.link(MANY[:1])[0], Prediction)
        assert linker.is_reached
    (failed,) = linker.link(MANY[1:2])
    linker.close()
    assert isinstance(failed, Failure)
    assert failed.error.endswith(", once")
    fresh = Named(running.url, concurrency=1, retries=0)
    with pytest.raises(LinkerError, match="is the service of `named` running"):
        link(fresh, world, MANY[:1])
    assert not fresh.is_reached


def test_a_request_that_pauses_alone_leaves_its_place_to_the_next(service: Service, world: Dataset) -> None:
    reply_in_turn(service, DOWN, GOOD, GOOD)
    link(Named(service.url, concurrency=1), world, MANY[:2])
    assert [asked.json["text"][:8] for asked in service.requests] == ["Number 0", "Number 1", "Number 0"]


@pytest.mark.parametrize("fails_first", [False, True])
def test_a_service_gets_no_more_requests_at_once_than_allowed(
    service: Service, world: Dataset, *, fails_first: bool
) -> None:
    together = threading.Condition()
    under_way, most, seen = 0, 0, set[bytes]()

    def hold(number: int, asked: Asked) -> Reply:
        nonlocal under_way, most
        with together:
            if fails_first and asked.body not in seen:
                seen.add(asked.body)
                return DOWN
            under_way += 1
            most = max(most, under_way)
            together.notify_all()
            # A third one would arrive meanwhile.
            together.wait_for(lambda: under_way > 2, timeout=0.03)
            under_way -= 1
        return GOOD

    service.behaviour = hold
    # Two failures in a row are no reason for all requests to pause.
    assert set(link(Named(service.url, concurrency=2), world, MANY[:6])) == {"answered"}
    assert most == 2


class Clock:
    """A clock that only sleep moves on."""

    def __init__(self) -> None:
        self.now, self.pauses = 0.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(service_client, "time", made)
    monkeypatch.setattr(service_client, "asyncio", SimpleNamespace(sleep=made.sleep, Semaphore=asyncio.Semaphore))
    return made


def test_a_pause_of_five_minutes_is_waited_for_and_a_longer_one_is_not(
    service: Service, world: Dataset, clock: Clock
) -> None:
    reply_in_turn(service, (503, {"Retry-After": "300"}, b""), GOOD)
    assert link(Named(service.url), world, MANY[:1]) == ["answered"]
    assert clock.pauses == [300]
    service.requests.clear()
    reply_in_turn(service, (503, {"Retry-After": "301"}, b""))
    with pytest.raises(LinkerError, match="it asks for a pause of 301 s; try again later"):
        link(Named(service.url), world, MANY[:1])


@pytest.mark.parametrize("status", [429, 503])
def test_the_next_request_waits_for_the_pause_that_the_last_one_was_asked_for(
    service: Service, world: Dataset, clock: Clock, status: int
) -> None:
    reply_in_turn(service, (status, {"Retry-After": "1"}, b""), GOOD, GOOD)
    outcomes = link(Named(service.url, concurrency=1, retries=0), world, MANY[:3])
    assert [one == "answered" for one in outcomes] == [False, True, True]
    assert clock.pauses == [1]


def test_a_busy_service_that_names_no_pause_lets_all_requests_pause(
    service: Service, world: Dataset, clock: Clock
) -> None:
    reply_in_turn(service, (429, {}, b""), GOOD)
    link(Named(service.url, concurrency=1, retries=0), world, MANY[:2])
    (pause,) = clock.pauses
    # The first pause of these tests is 0.01 s, half of it random.
    assert 0.005 <= pause <= 0.015


def test_after_four_failures_in_a_row_all_requests_pause(service: Service, world: Dataset, clock: Clock) -> None:
    reply_in_turn(service, GOOD, *[DOWN] * service_client.IN_TROUBLE, GOOD)
    link(Named(service.url, concurrency=1, retries=0), world, MANY[:6])
    assert len(clock.pauses) == 1
    service.requests.clear()
    clock.pauses.clear()
    reply_in_turn(service, GOOD, *[DOWN] * (service_client.IN_TROUBLE - 1), GOOD)
    link(Named(service.url, concurrency=1, retries=0), world, MANY[:5])
    assert clock.pauses == []


def test_a_rate_gives_each_request_its_moment(service: Service, world: Dataset, clock: Clock) -> None:
    link(Named(service.url, concurrency=1, rate=4), world, MANY[:4])
    assert clock.pauses == [0, 0.25, 0.25, 0.25]
