"""What a wrapper's author and a service can do wrong, and what the user is told then."""

from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking import Named, answers_of, marked
from service import Asked, Reply, Service, serving

from shadowprobe import Dataset, Failure, LinkerError, Prediction, Request, Snippet, WebLinker
from shadowprobe.running.api import make_linking_job
from shadowprobe.systems import service_client as web

TOKEN = "s3cret/t0ken+x"


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(lambda number, asked: (200, {}, b"Avon (river)")) as running:
        yield running


def ask(linker: WebLinker, world: Dataset, count: int = 1) -> list[Prediction | Failure]:
    return answers_of(linker, world.knowledge, *(marked(f"Why not [Avon]? {n}", str(n)) for n in range(count)))


def breaks_off(number: int, asked: Asked) -> Reply:
    raise ConnectionResetError


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (breaks_off, "an answer that breaks off"),
        (lambda number, asked: (500, {}, b"out of memory"), "500 Internal Server Error: 'out of memory'"),
    ],
)
def test_a_service_that_never_says_anything_useful_is_given_up_after_two_rounds(
    service: Service, world: Dataset, behaviour: Callable[[int, Asked], Reply], why: str
) -> None:
    service.behaviour = behaviour
    with pytest.raises(LinkerError, match=f"{why}.*: the service has not answered once; run the command again later$"):
        ask(Named(service.url, concurrency=1, retries=0), world, 40)
    assert len(service.requests) == 2 * web.GONE


def test_a_service_that_hangs_is_given_up(service: Service, world: Dataset) -> None:
    def hang(number: int, asked: Asked) -> Reply:
        time.sleep(1)
        return 200, {}, b"too late"

    service.behaviour = hang
    with pytest.raises(LinkerError, match=r"no answer in 0.05 s: the service has not answered once"):
        ask(Named(service.url, concurrency=8, retries=4, timeout=0.05), world, 40)


def test_a_service_that_is_busy_is_waited_for_however_often_it_says_so(service: Service, world: Dataset) -> None:
    def busy(number: int, asked: Asked) -> Reply:
        return (429, {}, b"") if number <= 3 * web.GONE else (200, {}, b"Avon (river)")

    service.behaviour = busy
    answers = ask(Named(service.url, concurrency=8, retries=9), world, 8)
    assert all(isinstance(answer, Prediction) for answer in answers)


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "0"}])
@pytest.mark.parametrize(("status", "words"), [(429, "Too Many Requests"), (503, "Service Unavailable")])
def test_a_service_that_stays_busy_for_snippet_after_snippet_is_given_up(
    service: Service, world: Dataset, status: int, words: str, headers: dict[str, str]
) -> None:
    service.behaviour = lambda number, _: (200, {}, b"Avon") if number == 1 else (status, headers, b"quota exceeded")
    linker = Named(service.url, concurrency=1, retries=1)
    linker.open(world.knowledge)
    snippets = [marked(f"Why not [Avon]? {n}", str(n)) for n in range(40)]
    answered = linker.link(snippets)
    assert [isinstance(answer, Prediction) for answer in answered[:2]] == [True, False]
    with pytest.raises(LinkerError, match=f"{status} {words}: 'quota exceeded': the service answered before, and"):
        linker.link(snippets)
    linker.close()
    # The answer, and two tries for each of so many snippets in a row.
    assert len(service.requests) == 1 + 2 * web.GONE


@pytest.mark.parametrize(
    "said", ["soon", "-1", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Fri, 31 Dec 1999 23:59:59 GMT", "\u00b2"]
)
def test_a_retry_after_that_says_nothing_is_no_pause_and_no_fault(service: Service, world: Dataset, said: str) -> None:
    def busy_once(number: int, asked: Asked) -> Reply:
        return (503, {"Retry-After": said}, b"") if number == 1 else (200, {}, b"Avon (river)")

    service.behaviour = busy_once
    (answer,) = ask(Named(service.url), world)
    assert isinstance(answer, Prediction), answer


def test_what_the_service_said_at_last_is_part_of_the_failure(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (503, {}, b"out of\nmemory")
    (answer,) = ask(Named(service.url, retries=1), world)
    assert isinstance(answer, Failure)
    assert answer.error.endswith("503 Service Unavailable, 2 times; at last: 'out of memory'")


def test_where_nothing_was_said_nothing_is_quoted(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (400, {}, b"")
    (answer,) = ask(Named(service.url), world)
    assert answer == Failure("0", f"{service.url}: 400 Bad Request")
    service.behaviour = lambda *_: (500, {}, b"")
    with pytest.raises(LinkerError) as raised:
        ask(Named(service.url, concurrency=1, retries=0), world, 40)
    assert str(raised.value) == (
        f"{service.url}: 500 Internal Server Error: the service has not answered once; run the command again later"
    )


@pytest.mark.parametrize("stop", [SystemExit, KeyboardInterrupt, RuntimeError])
def test_a_wrapper_that_stops_the_world_fails_on_its_one_snippet(
    service: Service, world: Dataset, stop: type[BaseException]
) -> None:
    class Stops(Named):
        def parse(self, response: httpx.Response, snippet: Snippet) -> Prediction:
            if snippet.id == "1":
                raise stop("enough")
            return super().parse(response, snippet)

    first, second, third = ask(Stops(service.url), world, 3)
    assert isinstance(first, Prediction)
    assert isinstance(third, Prediction)
    assert isinstance(second, Failure)
    assert f"{stop.__name__}: enough" in second.error


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ("no request at all", "AttributeError"),
        (Request("POST", "", json={1, 2}), "TypeError"),
        (Request("POST", "", headers={"X": "a\nb"}), "the request cannot be made"),
    ],
)
def test_a_request_that_is_none_fails_with_a_reason_and_takes_no_other_along(
    service: Service, world: Dataset, request_: Any, why: str
) -> None:
    class Odd(Named):
        def request(self, snippet: Snippet) -> Request:
            if snippet.id != "0":
                return super().request(snippet)
            return request_._replace(url=self.url) if isinstance(request_, Request) else request_

    odd, fine = ask(Odd(service.url), world, 2)
    assert isinstance(fine, Prediction)
    assert isinstance(odd, Failure)
    assert why in odd.error


@pytest.mark.parametrize(
    "url",
    [
        *("http://", "httpx://foo", "somewhere/else", "http://[::1", "http://host:99999/"),
        *("http://host/\nx", "http://256.256.256.256/"),
    ],
)
def test_an_address_that_cannot_be_is_refused_before_anything_is_asked(world: Dataset, url: str) -> None:
    with pytest.raises(LinkerError, match=r"`named` needs the URL of its service, and .* is none: add -o url="):
        ask(Named(url), world)


def test_a_redirect_loop_is_the_fault_of_the_address(service: Service, world: Dataset) -> None:
    service.behaviour = lambda *_: (302, {"Location": service.url}, b"")
    with pytest.raises(LinkerError, match=r"redirects.*: -o url=\.\.\. names another address"):
        ask(Named(service.url), world)


def test_an_answer_without_end_is_given_up(service: Service, world: Dataset) -> None:
    too_large = b"x" * (32 * 2**20 + 1)
    service.behaviour = lambda *_: (200, {}, too_large)
    (answer,) = ask(Named(service.url), world)
    assert answer == Failure("0", f"{service.url}: too large (more than 32 MB)")
    # A few kilobytes that are many when they are decompressed.
    compressed = gzip.compress(too_large, 1)
    service.behaviour = lambda *_: (200, {"Content-Encoding": "gzip"}, compressed)
    (bomb,) = ask(Named(service.url), world)
    assert bomb == answer


class WithToken(Named):
    def request(self, snippet: Snippet) -> Request:
        return Request("GET", self.url, params={"key": self.token}, headers={"Authorization": f"Bearer {self.token}"})


@pytest.mark.parametrize(
    "said", ["s3cret/t0ken+x", "s3cret%2Ft0ken%2Bx", "s3cret%2ft0ken%2bx", "s3cret/t0ken%2Bx", r"s3cret\/t0ken+x"]
)
def test_a_token_that_comes_back_in_another_dress_is_not_shown_either(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", TOKEN)
    service.behaviour = lambda *_: (400, {}, f"bad key {said}".encode())
    (answer,) = ask(WithToken(service.url), world)
    assert isinstance(answer, Failure)
    assert "bad key ***" in answer.error
    assert "t0ken" not in answer.error


def test_a_redirect_that_would_carry_the_token_elsewhere_says_how_to_trust_it(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", "s3cret")
    service.behaviour = lambda *_: (307, {"Location": "http://127.0.0.2/there?key=s3cret"}, b"")
    with pytest.raises(LinkerError) as refused:
        ask(Named(service.url), world)
    assert str(refused.value) == (
        f"{service.url}: redirects to http://127.0.0.2/there, which is not sent the token: -o url=... to trust it"
    )


@pytest.mark.parametrize("status", [302, 307, 308])
def test_another_port_is_another_server_and_gets_no_token(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", "s3cret")
    with serving(lambda *_: (200, {}, b"Avon")) as other:
        service.behaviour = lambda *_: (status, {"Location": other.url}, b"")
        with pytest.raises(LinkerError, match=r"which is not sent the token: -o url=\.\.\. to trust it"):
            answers_of(Named(service.url), world.knowledge, marked("Why not [Avon]?"))
    assert other.requests == []


def test_without_a_token_a_redirect_leads_to_no_private_address(service: Service, world: Dataset) -> None:
    with serving(lambda *_: (200, {}, b"Avon")) as other:
        service.behaviour = lambda *_: (307, {"Location": other.url}, b"")
        with pytest.raises(LinkerError) as refused:
            answers_of(Named(service.url), world.knowledge, marked("Why not [Avon]?"))
    assert str(refused.value) == (
        f"{service.url}: a redirect to a private address ({other.url}): -o url=... names another address"
    )
    assert other.requests == []


def test_a_redirect_within_the_host_may_have_the_token(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", "s3cret")
    service.behaviour = lambda number, _: (307, {"Location": "/there"}, b"") if number == 1 else (200, {}, b"Avon")
    (answer,) = ask(WithToken(service.url), world)
    assert isinstance(answer, Prediction)
    assert [asked.headers["authorization"] for asked in service.requests] == ["Bearer s3cret"] * 2


def test_a_redirect_to_no_address_is_the_services_fault(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", "s3cret")
    service.behaviour = lambda *_: (302, {"Location": "http://[::1"}, b"")
    (answer,) = ask(WithToken(service.url, retries=1), world)
    assert answer == Failure("0", f"{service.url}: a redirect to no URL (http://[::1)")
    assert len(service.requests) == 1


def test_a_line_break_at_the_end_of_a_token_is_not_part_of_it(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", "s3cret\n")
    ask(WithToken(service.url), world)
    assert service.requests[0].headers["authorization"] == "Bearer s3cret"


@pytest.mark.parametrize("token", ["s3c\nret", "gehe\u00efm"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_shown(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", token)
    with pytest.raises(LinkerError, match=r"^SHADOWPROBE_NAMED_TOKEN holds what no token can") as refused:
        ask(WithToken(service.url), world)
    assert token not in str(refused.value)


def test_the_request_can_be_shown_and_holds_no_token(
    service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHADOWPROBE_NAMED_TOKEN", "s3cret")
    linker = Named(f"{service.url}?key=s3cret")
    linker.open(world.knowledge)
    shown = linker.outgoing(next(world.snippets()))
    linker.close()
    assert shown.startswith(f"POST {service.url}\n{{")
    assert "s3cret" not in shown
    assert linker.ready() == f"{service.url}, token from SHADOWPROBE_NAMED_TOKEN"


def test_a_run_goes_on_with_another_concurrency(service: Service, world: Dataset, tmp_path: Path) -> None:
    make_linking_job(Named(service.url, concurrency=4), world, out=tmp_path / "run", limit=1).run()
    outcome = make_linking_job(Named(service.url, concurrency=2, timeout=9), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert outcome.resumed > 0


def test_an_interrupt_is_one_line(service: Service, tmp_path: Path) -> None:
    def slow(number: int, asked: Asked) -> Reply:
        time.sleep(3)
        return 200, {}, b"[]"

    service.behaviour = slow
    command = [sys.executable, "-m", "shadowprobe", "run", "-l", "rel", "-o", f"url={service.url}", "--out", "run"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not service.requests:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "shadowprobe: interrupted; the same command goes on where it stopped\n"
