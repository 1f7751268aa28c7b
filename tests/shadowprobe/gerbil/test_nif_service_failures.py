"""What the NIF service of a linker refuses, and what becomes of a linker that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from nif_app import AVON, Says, answer_of, app_of, document, fixture, parse_one
from service import Asked, Reply, serving
from world import top

from shadowprobe import Dataset, Failure, ItemError, Linker, LinkerError, Prediction, Snippet, UsageError
from shadowprobe.formats.nif_documents import Phrase, to_turtle
from shadowprobe.gerbil import nif_service as serve
from shadowprobe.gerbil.nif_service import Annotator
from shadowprobe.plugins import make_linker


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "bad NIF: there is no nif:Context with a nif:isString"),
        (b"\xff", "bad NIF: not UTF-8: invalid start byte at byte 0"),
        (b"{}", "bad NIF: not Turtle: "),
        (fixture("gerbil_request.ttl")[:-2], "bad NIF: not Turtle: "),
        (fixture("gerbil_request.ttl").replace(b'"16"', b'"99"'), "12 to 99 is outside its text of 36 characters"),
        (fixture("gerbil_test_call.ttl").replace(b"isString ", b"string "), "bad NIF: there is no nif:Context"),
        (fixture("gerbil_test_call.ttl").replace(b"request_7", b"a b"), "is not a URI: it contains ' '"),
        (fixture("gerbil_test_call.ttl").replace(b"beat", b"\\uD83C"), "contains half a character"),
    ],
)
def test_a_request_that_is_no_nif_gets_400_and_one_line(world: Dataset, body: bytes, problem: str) -> None:
    with app_of(make_linker("prior"), world) as ask:
        answer = ask("POST", "/nif", body)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert problem in answer.text
    assert len(answer.text.splitlines()) == 1


def test_a_request_above_the_limit_gets_413_whether_it_says_its_length_or_not(world: Dataset) -> None:
    asked = to_turtle([document("Avon", "Avon")]).encode()

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(asked), 100):
            yield asked[start : start + 100]

    for limit, status in ((len(asked), 200), (len(asked) - 1, 413)):
        with app_of(make_linker("prior"), world, max_body=limit) as ask:
            assert ask("POST", "/nif", asked).status_code == status
            answer = ask("POST", "/nif", chunks())
        assert answer.status_code == status
    assert answer.text == f"the document is larger than {len(asked) - 1} bytes\n"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nif", 405),
        ("PUT", "/nif", 405),
        ("POST", "/health", 405),
        ("DELETE", "/", 405),
        ("GET", "/elsewhere", 404),
    ],
)
def test_other_ways_to_ask_are_refused(world: Dataset, method: str, path: str, status: int) -> None:
    with app_of(make_linker("prior"), world) as ask:
        assert ask(method, path).status_code == status


def test_a_mention_on_which_the_linker_fails_is_skipped_and_logged(
    world: Dataset, caplog: pytest.LogCaptureFixture
) -> None:
    def said(linker: Linker, one: Snippet) -> Prediction | Failure:
        return linker.fail(one, "out of ink") if one.mention == "Berg" else linker.answer(one, top(one.mention))

    found = answer_of(Says(said), world, document("Avon, Berg", "Avon", "Berg"))
    assert found.phrases == (Phrase(0, 4, (AVON,)), Phrase(6, 10))
    assert [record.getMessage() for record in caplog.records if record.name == "shadowprobe.gerbil.nif_service"] == [
        "http://x.example/d#char=6,10: skipped: out of ink"
    ]


@pytest.mark.parametrize(
    "error",
    [ItemError("out of ink"), ValueError("out of ink"), SystemExit("out of ink")],
    ids=lambda error: type(error).__name__,
)
def test_a_linker_that_raises_loses_only_the_mention_that_made_it(world: Dataset, error: BaseException) -> None:
    def said(linker: Linker, one: Snippet) -> Prediction:
        if one.mention == "Berg":
            raise error
        return linker.answer(one, top(one.mention))

    found = answer_of(Says(said), world, document("Avon, Berg", "Avon", "Berg"))
    assert found.phrases == (Phrase(0, 4, (AVON,)), Phrase(6, 10))


def raising(error: BaseException) -> Callable[[Linker, Snippet], Any]:
    def said(*_: object) -> Any:
        raise error

    return said


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (lambda it, one: it.fail(one, "out of ink"), "out of ink"),
        (raising(KeyError("ink")), "KeyError: 'ink'"),
        (raising(LinkerError("the service\nhas gone")), "the service has gone"),
        (lambda it, one: None, "link() must return one prediction for each snippet"),
        (lambda it, one: Prediction("other", answer="Avon"), "no prediction for snippet '0-4'"),
    ],
)
def test_a_document_on_which_the_linker_fails_wholly_gets_500_and_the_reason(
    world: Dataset, said: Callable[[Linker, Snippet], Any], message: str
) -> None:
    with app_of(Says(said), world) as ask:
        answer = ask("POST", "/nif", to_turtle([document("Avon", "Avon")]))
        assert ask("GET", "/health").json()["answered"] == 0
    assert answer.status_code == 500
    assert answer.text.startswith("linker `says` failed on http://x.example/d: ")
    assert message in answer.text
    assert len(answer.text.splitlines()) == 1


def test_a_broken_linker_is_not_called_for_each_mention_again(world: Dataset) -> None:
    linker = Says(raising(LinkerError("the service has gone")))
    with app_of(linker, world) as ask:
        assert ask("POST", "/nif", to_turtle([document("Avon, Berg", "Avon", "Berg")])).status_code == 500
    assert len(linker.asked) == 1


AVON_ALONE = to_turtle([document("Avon", "Avon")])


def rivers(_: int, asked: Asked) -> Reply:
    """A NIF service for which every mention is the river Avon."""
    text = parse_one(asked.body)
    found = text._replace(phrases=tuple(phrase._replace(uris=(AVON,)) for phrase in text.phrases))
    return 200, {}, to_turtle([found]).encode()


def test_a_linker_whose_service_is_back_is_reopened_and_health_shows_both_states(world: Dataset) -> None:
    with (
        serving(lambda *_: (401, {}, b"")) as behind,
        app_of(make_linker("nif", {"url": behind.url}), world) as ask,
    ):
        assert ask("GET", "/health").json()["status"] == "ok"
        assert ask("POST", "/nif", AVON_ALONE).status_code == 500
        health = ask("GET", "/health")
        assert (health.status_code, health.json()["status"]) == (503, "failing")
        assert health.json()["problem"].startswith(f"{behind.url}: 401 Unauthorized")
        assert ask("POST", "/nif", to_turtle([document("Avon")])).status_code == 200
        assert ask("GET", "/health").status_code == 503
        behind.behaviour = rivers
        assert parse_one(ask("POST", "/nif", AVON_ALONE).content).phrases == (Phrase(0, 4, (AVON,)),)
        health = ask("GET", "/health")
    assert (health.status_code, health.json()["status"]) == (200, "ok")
    assert "problem" not in health.json()


class Starts(Says):
    """Counts its starts, and fails in those that it is told to."""

    def __init__(self, said: Callable[[Linker, Snippet], Any], *bad: int) -> None:
        super().__init__(said)
        self.bad, self.starts, self.ends = bad, 0, 0

    def setup(self) -> None:
        self.starts += 1
        self.note(f"start {self.starts}")
        if self.starts in self.bad:
            raise KeyError("model")

    def close(self) -> None:
        self.ends += 1


@pytest.mark.parametrize(("pause", "starts"), [(3600.0, 2), (0.0, 4)])
def test_a_linker_that_stays_broken_is_opened_anew_only_after_a_pause(
    world: Dataset, monkeypatch: pytest.MonkeyPatch, pause: float, starts: int
) -> None:
    monkeypatch.setattr(serve, "REOPEN_PAUSE", pause)
    linker = Starts(raising(LinkerError("the service has gone")))
    with app_of(linker, world) as ask:
        answers = [ask("POST", "/nif", AVON_ALONE) for _ in range(4)]
        # A document without mentions asks nothing of the linker, and needs no start of it.
        assert ask("POST", "/nif", to_turtle([document("Avon")])).status_code == 200
    assert all(answer.status_code == 500 and "the service has gone" in answer.text for answer in answers)
    assert linker.starts == linker.ends == starts


def test_a_failed_reopening_is_reported_and_repeated_and_no_note_is_lost(
    world: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "REOPEN_PAUSE", 0.0)
    gone = iter([LinkerError("the service has gone")])

    def said(linker: Linker, one: Snippet) -> Prediction:
        for error in gone:
            raise error
        return linker.answer(one, top(one.mention))

    linker = Starts(said, 2)
    with app_of(linker, world) as ask:
        assert ask("POST", "/nif", AVON_ALONE).status_code == 500
        answer = ask("POST", "/nif", AVON_ALONE)
        assert (answer.status_code, answer.text) == (500, "linker `says` failed to start: KeyError: 'model'\n")
        assert ask("GET", "/health").json()["problem"] == answer.text.strip()
        assert ask("POST", "/nif", AVON_ALONE).status_code == 200
        assert ask("GET", "/health").json()["status"] == "ok"
    assert linker.notes == ["start 1", "start 2", "start 3"]


@pytest.mark.parametrize("error", [ItemError("out of ink"), ValueError("out of ink")])
def test_a_failure_on_one_mention_is_no_reason_for_a_new_start(world: Dataset, error: Exception) -> None:
    linker = Starts(raising(error))
    with app_of(linker, world) as ask:
        assert [ask("POST", "/nif", AVON_ALONE).status_code for _ in range(2)] == [500, 500]
        assert ask("GET", "/health").json()["status"] == "ok"
    assert linker.starts == 1


def test_a_request_that_does_not_arrive_gets_408(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "BODY_TIMEOUT", 0.05)

    async def stalled() -> AsyncIterator[bytes]:
        yield b"@pr"
        await asyncio.sleep(15)

    with app_of(make_linker("prior"), world) as ask:
        answer = ask("POST", "/nif", stalled())
        assert ask("POST", "/nif", AVON_ALONE).status_code == 200
    assert answer.headers["Connection"] == "close"
    assert (answer.status_code, answer.text) == (408, "the request did not arrive completely in 0.05 s\n")


def test_linkers_that_live_on_the_gold_are_refused(world: Dataset) -> None:
    with pytest.raises(UsageError, match="`oracle` needs the gold entities of a dataset, and cannot be served"):
        Annotator(make_linker("oracle"), world)
