"""A linker behind a URL, against a real server on loopback that behaves as services do."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from asking import answers_of, marked
from msgspec.structs import replace
from service import Asked, Behaviour, Reply, Service, serving

from shadowprobe import Dataset, Failure, LinkerError, Prediction, Request, Snippet, UsageError, WebLinker
from shadowprobe.running.api import make_linking_job
from shadowprobe.systems import service_client as web
from shadowprobe.systems.options import list_options


def right(_: int, request: Asked) -> Reply:
    """Answers with the river of the name, as REL's server answers: a list of lists."""
    asked = request.json
    mention = asked["text"][asked["start"] : asked["start"] + asked["length"]]
    return 200, {}, json.dumps([[asked["start"], asked["length"], f"{mention}_(river)", 0.75]]).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(right) as running:
        yield running


class Rivers(WebLinker):
    """A wrapper as an afternoon's work: what goes out, what comes back."""

    name = "rivers"
    endpoint = "http://127.0.0.1:9/nobody"
    batch_size: ClassVar[int] = 8

    def request(self, snippet: Snippet) -> Request:
        asked = {"text": snippet.text, "start": snippet.start, "length": snippet.end - snippet.start}
        return Request("POST", self.url, json=asked)

    def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
        for start, _, title, score in response.json():
            if start == snippet.start:
                return self.answer(snippet, title, score)
        return self.skip(snippet)


def linked(linker: WebLinker, dataset: Dataset, count: int | None = None) -> list[Prediction | Failure]:
    linker.open(dataset.knowledge)
    try:
        return linker.link(list(dataset.snippets())[:count])
    finally:
        linker.close()


def test_request_and_parse_are_all_that_a_wrapper_writes(service: Service, world: Dataset) -> None:
    first, *_ = linked(Rivers(service.url), world)
    assert isinstance(first, Prediction)
    assert (first.id, first.answer, first.score) == ("tAvon", "Avon_(river)", 0.75)


def test_a_whole_run_against_a_service(service: Service, world: Dataset, tmp_path: Path) -> None:
    results = make_linking_job(Rivers(service.url), world, out=tmp_path / "run").run().results
    assert results["subsets"]["top"]["recall"] == 1.0
    assert results["subsets"]["shadow"]["recall"] == 0.0
    assert results["linker"]["options"]["url"] == service.url


def test_requests_go_out_side_by_side_but_no_more_than_allowed(service: Service, world: Dataset) -> None:
    together = threading.Barrier(3)

    def wait_for_two_more(number: int, asked: Asked) -> Reply:
        # Passed only if three requests are here at once; a sequential client would break the barrier.
        if number <= 3:
            together.wait(timeout=10)
        return right(number, asked)

    service.behaviour = wait_for_two_more
    answers = linked(Rivers(service.url, concurrency=3), world)
    assert all(isinstance(answer, Prediction) for answer in answers)
    assert service.most_at_once == 3


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(service: Service, world: Dataset, status: int) -> None:
    service.behaviour = lambda number, asked: (status, {}, b"") if number <= 2 else right(number, asked)
    (answer,) = linked(Rivers(service.url), world, 1)
    assert isinstance(answer, Prediction)
    assert len(service.requests) == 3


def test_retry_after_is_honoured(service: Service, world: Dataset) -> None:
    service.behaviour = lambda number, asked: (429, {"Retry-After": "1"}, b"") if number == 1 else right(number, asked)
    answers = linked(Rivers(service.url, concurrency=1), world, 3)
    assert all(isinstance(answer, Prediction) for answer in answers)
    first, second = (asked.moment for asked in service.requests[:2])
    assert second - first >= 0.95


def test_while_the_service_wants_a_pause_nobody_asks_it(service: Service, world: Dataset) -> None:
    def busy_once(number: int, asked: Asked) -> Reply:
        time.sleep(0.05)
        return (429, {"Retry-After": "1"}, b"") if number == 1 else right(number, asked)

    service.behaviour = busy_once
    snippets = [replace(next(world.snippets()), id=str(number)) for number in range(60)]
    answers = answers_of(Rivers(service.url, concurrency=4), world.knowledge, *snippets)
    assert all(isinstance(answer, Prediction) for answer in answers)
    moments = sorted(asked.moment for asked in service.requests)
    # The three that were under way when it said so may have gone on by one more; then there is silence.
    after = [moment - moments[0] for moment in moments]
    assert [moment for moment in after if 0.6 < moment < 0.95] == []
    assert len([moment for moment in after if moment <= 0.6]) < 30


def breaks_off(number: int, asked: Asked) -> Reply:
    raise ConnectionResetError


@pytest.mark.parametrize("behaviour", [breaks_off, lambda *_: (500, {}, b"")], ids=["no answer", "an error"])
@pytest.mark.parametrize("luck", [0.5, 1.5])
def test_the_pause_between_tries_grows_and_has_a_part_by_lot(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour, luck: float
) -> None:
    def uniform(low: float, high: float) -> float:
        assert (low, high) == (0.5, 1.5)
        return luck

    monkeypatch.setattr(web, "FIRST_PAUSE", 0.1)
    monkeypatch.setattr(random, "uniform", uniform)
    service.behaviour = behaviour
    (answer,) = linked(Rivers(service.url, retries=3), world, 1)
    assert isinstance(answer, Failure)
    moments = [asked.moment for asked in service.requests]
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    for pause, expected in zip(pauses, (0.1 * luck, 0.2 * luck, 0.4 * luck), strict=True):
        assert pause >= 0.95 * expected


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_service_that_fails_now_and_then_is_not_given_up(service: Service, world: Dataset, concurrency: int) -> None:
    # The first try of each snippet fails: far more failures in all than are borne in a row.
    seen: set[bytes] = set()

    def fail_at_first(number: int, asked: Asked) -> Reply:
        is_first = asked.body not in seen
        seen.add(asked.body)
        return (500, {}, b"") if is_first else right(number, asked)

    service.behaviour = fail_at_first
    snippets = [marked(f"On the [Avon] {number}.", str(number)) for number in range(8 * web.GONE)]
    answers = answers_of(Rivers(service.url, concurrency=concurrency, retries=1), world.knowledge, *snippets)
    assert all(isinstance(answer, Prediction) for answer in answers)


def test_an_endless_retry_after_is_not_waited_for(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (503, {"Retry-After": "86400"}, b"")
    with pytest.raises(LinkerError, match="asks for a pause of 86400 s; try again later"):
        linked(Rivers(service.url), world, 3)


def test_after_enough_tries_the_snippet_fails_and_no_other(service: Service, world: Dataset) -> None:
    def broken_for_berg(number: int, asked: Asked) -> Reply:
        return (503, {}, b"") if "Berg runs" in asked.json["text"] else right(number, asked)

    service.behaviour = broken_for_berg
    linker = Rivers(service.url, retries=2)
    answers = {answer.id: answer for answer in linked(linker, world)}
    failed = [answer for answer in answers.values() if isinstance(answer, Failure)]
    assert [failure.id for failure in failed] == ["tBerg"]
    assert failed[0].error == f"{service.url}: 503 Service Unavailable, 3 times"
    # The first try is none of the retries, and nobody waits after the last.
    assert linker.status == "2 retries, last after 503 Service Unavailable"


def test_a_failed_snippet_is_asked_again_by_the_next_run_and_only_it(
    service: Service, world: Dataset, tmp_path: Path
) -> None:
    service.behaviour = lambda n, asked: (500, {}, b"") if "Berg runs" in asked.json["text"] else right(n, asked)
    first = make_linking_job(Rivers(service.url, retries=0), world, out=tmp_path / "run").run().outcome
    assert first is not None
    assert (first.failed, first.answered) == (1, world.count() - 1)
    service.behaviour, service.requests = right, []
    second = make_linking_job(Rivers(service.url, retries=0), world, out=tmp_path / "run").run().outcome
    assert second is not None
    assert (second.failed, second.answered, len(service.requests)) == (0, 1, 1)


def test_a_refusal_is_not_tried_again(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (400, {}, b"text too long")
    (answer,) = linked(Rivers(service.url), world, 1)
    assert isinstance(answer, Failure)
    assert answer.error == f"{service.url}: 400 Bad Request: 'text too long'"
    assert len(service.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>Bad gateway</html>", id="HTML instead of JSON"),
        pytest.param(b"[[17, 4, ", id="a truncated body"),
        pytest.param(b'{"error": "no"}', id="another shape"),
        pytest.param(b"[[]]", id="too few items"),
        pytest.param(b"\xff\xfe\x00", id="another charset"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_rubbish_is_the_failure_of_its_snippet(service: Service, world: Dataset, body: bytes) -> None:
    service.behaviour = lambda *_: (200, {}, body)
    (answer,) = linked(Rivers(service.url), world, 1)
    assert isinstance(answer, Failure)
    assert answer.error.startswith("the answer cannot be read (")
    assert "\n" not in answer.error


def test_a_slow_answer_is_given_up(service: Service, world: Dataset) -> None:
    release = threading.Event()

    def never(number: int, asked: Asked) -> Reply:
        release.wait(10)
        return right(number, asked)

    service.behaviour = never
    (answer,) = linked(Rivers(service.url, timeout=0.2, retries=1), world, 1)
    release.set()
    assert isinstance(answer, Failure)
    assert answer.error == f"{service.url}: no answer in 0.2 s, 2 times"


def test_a_dead_service_stops_the_run_at_once_and_says_what_to_do(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"no connection .*is the service of `rivers` running\? -o url="):
        make_linking_job(Rivers("http://127.0.0.1:9/nobody"), world, out=tmp_path / "run").run()


def test_answers_from_before_a_service_went_away_are_kept(service: Service, world: Dataset, tmp_path: Path) -> None:
    class Dying(Rivers):
        """Loses its service after five requests."""

        sent, lasts = 0, 5

        def request(self, snippet: Snippet) -> Request:
            self.sent += 1
            asked = super().request(snippet)
            return asked if self.sent <= self.lasts else asked._replace(url="http://127.0.0.1:9/gone")

    job = make_linking_job(Dying(service.url, concurrency=1, retries=0), world, out=tmp_path / "run")
    with pytest.raises(LinkerError, match="answered before, and does so no more; run the command again later"):
        job.run()
    assert len((tmp_path / "run" / "predictions.jsonl").read_bytes().splitlines()) == 5
    Dying.lasts = world.count()
    outcome = make_linking_job(Dying(service.url), world, out=tmp_path / "run").run().outcome
    assert (outcome.resumed, outcome.answered) == (5, world.count() - 5)


def test_a_rate_spreads_the_requests(service: Service, world: Dataset) -> None:
    linked(Rivers(service.url, rate=20.0), world, 5)
    moments = sorted(asked.moment for asked in service.requests)
    # Five requests at twenty a second leave over at least four twentieths of one.
    assert moments[-1] - moments[0] >= 0.18


class WithToken(Rivers):
    """Sends its token in the query, as some services want it."""

    name = "with-token"

    def request(self, snippet: Snippet) -> Request:
        return super().request(snippet)._replace(params={"token": self.token})


def test_a_missing_token_is_asked_for_by_name(service: Service, world: Dataset) -> None:
    with pytest.raises(LinkerError, match="set the environment variable SHADOWPROBE_WITH_TOKEN_TOKEN"):
        linked(WithToken(service.url), world, 2)
    assert service.requests == []


@pytest.mark.parametrize(("status", "body"), [(403, b"bad token s3cret"), (400, b"s3cret?"), (200, b"s3cret")])
def test_a_token_reaches_no_message_and_no_file(
    service: Service, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, body: bytes
) -> None:
    monkeypatch.setenv("SHADOWPROBE_WITH_TOKEN_TOKEN", "s3cret")
    service.behaviour = lambda n, asked: right(n, asked) if n <= 2 else (status, {}, body)
    message = ""
    try:
        make_linking_job(WithToken(service.url, concurrency=1, retries=0), world, out=tmp_path / "run").run()
    except LinkerError as error:
        message = str(error)
    assert "s3cret" not in message
    written = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())
    assert b"tAvon" in written
    assert b"s3cret" not in written


def test_a_wrapper_without_an_address_asks_for_one(world: Dataset) -> None:
    class Homeless(Rivers):
        endpoint = ""

    with pytest.raises(LinkerError, match="add -o url=http://HOST:PORT/PATH"):
        linked(Homeless(), world, 1)


def test_options_of_the_base_are_options_of_the_wrapper() -> None:
    class Tagged(Rivers):
        """Has an option of its own and passes the others on."""

        def __init__(self, tagger: str = "ner-fast", **web: Any) -> None:
            super().__init__(**web)
            self.tagger = tagger

    assert list(list_options(Tagged)) == ["tagger", "url", "concurrency", "rate", "timeout", "retries"]


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": 0},
        {"concurrency": 1025},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"timeout": float("inf")},
        {"rate": -1},
        {"rate": 0.0009},
        {"rate": float("inf")},
        {"rate": float("nan")},
        {"retries": -1},
    ],
)
def test_settings_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))}( must be|.* not below)"):
        Rivers(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"concurrency": 1},
        {"concurrency": 1024},
        {"timeout": 0.1},
        {"rate": 0.0},
        {"rate": 0.001},
        {"retries": 0},
    ],
)
def test_settings_at_their_limits_are_kept(options: dict[str, Any]) -> None:
    linker = Rivers(**options)
    assert {name: getattr(linker, name) for name in options} == options


def test_it_works_inside_a_loop_that_runs_already(service: Service, world: Dataset) -> None:
    import asyncio

    async def notebook() -> list[Prediction | Failure]:
        return linked(Rivers(service.url), world, 2)

    assert len(asyncio.run(notebook())) == 2


def test_usage_errors_of_a_wrapper_reach_the_user_in_one_line(tmp_path: Path) -> None:
    from shadowprobe.plugins import make_linker

    (tmp_path / "mine.py").write_text("from shadowprobe import WebLinker\nclass Mine(WebLinker):\n    name = 'mine'\n")
    with pytest.raises(UsageError, match="concurrency must be from 1 to 1024"):
        make_linker(f"{tmp_path}/mine.py:Mine", {"concurrency": "0"})


def test_a_request_that_cannot_be_made_is_the_failure_of_its_snippet(service: Service, world: Dataset) -> None:
    class Picky(Rivers):
        def request(self, snippet: Snippet) -> Request:
            if snippet.id == "tBerg":
                raise KeyError("nothing to send")
            return super().request(snippet)

    failed = [answer for answer in linked(Picky(service.url), world) if isinstance(answer, Failure)]
    assert [(failure.id, failure.error) for failure in failed] == [
        ("tBerg", "the request cannot be made (KeyError: 'nothing to send')")
    ]
