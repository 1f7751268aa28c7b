"""What a linker behind a URL takes, starts, ends and refuses."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import ClassVar

import httpx
import pytest
from asking import Named, answers_of, marked
from service import Asked, Reply, Service, serving

from shadowprobe import Dataset, LinkerError, Prediction, Snippet
from shadowprobe.running.api import make_linking_job
from shadowprobe.systems.web_linker import AHEAD

MANY = [marked(f"Number {n} on the [Avon].", str(n)) for n in range(40)]
PATIENCE = 30.0


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(lambda number, asked: (200, {}, b"Avon (river)")) as running:
        yield running


class Held:
    """A service that answers the first request and holds the second until it is released."""

    def __init__(self, service: Service) -> None:
        self.released = threading.Event()
        service.behaviour = self.reply

    def reply(self, number: int, asked: Asked) -> Reply:
        if number == 2:
            assert self.released.wait(PATIENCE)
        return 200, {}, b"Avon (river)"


def test_only_a_window_of_snippets_is_taken_ahead_of_the_answers(service: Service, world: Dataset) -> None:
    held, taken = Held(service), list[str]()

    def give() -> Iterator[Snippet]:
        for snippet in MANY:
            taken.append(snippet.id)
            yield snippet

    linker = Named(service.url, concurrency=1)
    linker.open(world.knowledge)
    parts = linker.link_each(give())
    assert [answer.id for answer in next(parts)] == ["0"]
    assert len(taken) == AHEAD
    held.released.set()
    assert sum(len(part) for part in parts) == len(MANY) - 1
    linker.close()


def test_who_stops_asking_leaves_no_request_under_way(service: Service, world: Dataset) -> None:
    held = Held(service)
    linker = Named(service.url, concurrency=1)
    linker.open(world.knowledge)
    parts = linker.link_each(MANY)
    next(parts)
    assert isinstance(parts, Generator)
    parts.close()
    held.released.set()
    assert [answer.id for answer in linker.link(MANY[9:10])] == ["9"]
    linker.close()
    # The second may not have been sent yet; none of the others was.
    assert {asked.json["text"][:8] for asked in service.requests} <= {"Number 0", "Number 1", "Number 9"}


def test_a_closed_linker_has_no_thread_and_may_be_closed_again(service: Service, world: Dataset) -> None:
    linker = Named(service.url)
    linker.close()
    linker.open(world.knowledge)
    assert "named-requests" in {thread.name for thread in threading.enumerate()}
    linker.close()
    assert "named-requests" not in {thread.name for thread in threading.enumerate()}
    linker.close()


class Patient(Named):
    """Remembers in which threads an answer was read."""

    threads: ClassVar[set[str]] = set()

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        self.threads.add(threading.current_thread().name)
        return super().parse(response, snippet)


def test_an_answer_is_read_in_another_thread_only_if_that_may_take_time(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    for may_wait in (False, True):
        monkeypatch.setattr(Patient, "parse_may_wait", may_wait)
        monkeypatch.setattr(Patient, "threads", set[str]())
        answers_of(Patient(service.url), world.knowledge, *MANY[:2])
        assert ("named-requests" not in Patient.threads) == may_wait


@pytest.mark.parametrize(
    ("status", "stops"), [(400, False), (401, True), (402, False), (403, True), (404, False), (405, False)]
)
def test_only_a_refused_token_stops_the_run(service: Service, world: Dataset, status: int, *, stops: bool) -> None:
    service.behaviour = lambda number, asked: (status, {}, b"")
    if stops:
        with pytest.raises(LinkerError, match="is the token in SHADOWPROBE_NAMED_TOKEN right"):
            answers_of(Named(service.url), world.knowledge, *MANY[:1])
    else:
        (answer,) = answers_of(Named(service.url), world.knowledge, *MANY[:1])
        assert f": {status} " in getattr(answer, "error", "")
    assert len(service.requests) == 1


def test_a_missing_token_is_missed_with_the_place_where_one_gets_it(world: Dataset) -> None:
    class Closed(Named):
        name = "closed"
        needs_token = True

    class Documented(Closed):
        token_source = "from example.org/tokens"

    for kind, words in (
        (Closed, "needs a token: set"),
        (Documented, r"needs a token \(from example.org/tokens\): set"),
    ):
        with pytest.raises(LinkerError, match=f"^`closed` {words} the environment variable SHADOWPROBE_CLOSED_TOKEN$"):
            kind("http://127.0.0.1:9/").open(world.knowledge)


def test_answers_from_stored_replies_are_noted(service: Service, world: Dataset, tmp_path: Path) -> None:
    make_linking_job(Named(service.url), world, out=tmp_path / "run", keep_replies=True).run()
    asked = len(service.requests)
    source = tmp_path / "run" / "replies.jsonl"
    again = make_linking_job(Named("http://127.0.0.1:9/"), world, out=tmp_path / "again", from_replies=source).run()
    assert again.results["notes"] == [f"answers were read from replies that {service.url} gave to an earlier run"]
    assert len(service.requests) == asked
