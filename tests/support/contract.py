"""What every wrapper of a web service must do, whatever service it is.

A test module gets all of it by one class, whose stand-in knows the small world of `world.py`: a name means a ship in
the Shadow texts and a river in the others. What is peculiar to the service the module tests besides.

    def rel(number: int, asked: Asked) -> Reply:
        ...

    class TestContract(ServiceContract):
        wrapper = "shadowprobe.linkers.rel:RelLinker"
        public = "https://rel.cs.ru.nl/api"
        rubbish = JSON_RUBBISH | {"too few items": b"[[]]"}

        def stand_in(self) -> Behaviour:
            return rel

A service that wants a token gets `TokenContract` instead, one that takes one where there is one
`OptionalTokenContract`; both say which token the stand-in takes.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from asking import answers_of, marked
from msgspec.structs import replace
from service import Asked, Behaviour, Reply, Service, serving
from world import shadow, top

from shadowprobe import Dataset, Failure, LinkerError, Prediction, Resolver, WebLinker
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check
from shadowprobe.systems.options import option_values

# Nothing listens there.
DEAD = "http://127.0.0.1:9/dead"
# Bodies that no service sends which answers in JSON, each under the name of its case.
JSON_RUBBISH = {
    "HTML": b"<html>\n<h1>Bad gateway</h1>\n</html>",
    "nothing": b"",
    "another charset": b"\xff\xfe\x00",
    "null": b"null",
    "a string": b'"busy"',
    "another object": b'{"error": "no"}',
    "longer than a message": b"<p>" + b"sorry " * 100,
}
# The same for services that answer in Turtle, where no bytes at all are an empty document.
TURTLE_RUBBISH = {case: body for case, body in JSON_RUBBISH.items() if case != "nothing"}
SHOWN = 120
# As the Top and the Shadow snippet of the small world.
RIVER = marked("Anglers say that [Avon] runs clear above the mill.", "river")
SHIP = marked("The crew of [Avon] cut down both masts in the gale.", "ship")


class AnswerContract:
    """What holds while the service does its work; alone for a second server that no test can make misbehave."""

    # As `--linker` takes it.
    wrapper: ClassVar[str]
    # The options, besides the address, that it cannot do without.
    options: ClassVar[Mapping[str, str]] = {}
    # What the stand-in says of Ourika, which the tail asks for, and of a name that nobody has ever heard.
    tail: ClassVar[Literal["correct", "nil", "skipped"]] = "correct"
    unknown: ClassVar[Literal["nil", "skipped"]] = "skipped"
    # True for a service that gives a name one entity in the whole of a text, which is then that of its first place.
    one_sense: ClassVar[bool] = False

    def stand_in(self) -> Behaviour:
        """How the service answers."""
        raise NotImplementedError(f"{type(self).__name__} must define stand_in()")

    def linker(self, url: str, **options: str) -> WebLinker:
        """The wrapper, which asks the service at this address."""
        made = make_linker(self.wrapper, {"url": url, **self.options, **options})
        assert isinstance(made, WebLinker)
        return made

    @pytest.fixture
    def service(self) -> Iterator[Service]:
        with serving(self.stand_in()) as running:
            yield running

    def test_every_snippet_gets_one_prediction_in_a_whole_run(
        self, service: Service, world: Dataset, tmp_path: Path
    ) -> None:
        linker = self.linker(service.url)
        finished = make_linking_job(linker, world, out=tmp_path / "run").run()
        assert finished.outcome is not None
        assert (finished.outcome.answered, finished.outcome.failed) == (world.count(), 0)
        assert len(service.requests) == world.count()
        subsets, described = finished.results["subsets"], finished.results["linker"]
        assert [subsets[subset]["recall"] for subset in ("top", "shadow")] == [1.0, 1.0]
        assert subsets["tail"][self.tail] == 1
        assert (described["name"], described["options"]["url"]) == (linker.name, service.url)
        # Its loop and its connections are gone with it.
        assert f"{linker.name}-requests" not in {thread.name for thread in threading.enumerate()}

    def test_the_battery_finds_nothing_broken(self, service: Service, world: Dataset) -> None:
        findings = {finding.what: finding for finding in check(self.linker(service.url), world)}
        assert [finding for finding in findings.values() if not finding.holds] == []
        moved = findings["characters beyond the BMP before the mention"].detail
        assert meant(world, Prediction("moved", answer=moved)) == top("Avon")
        assert findings["an unknown name: NIL or skipped, or an answer, but no crash"].detail == self.unknown

    @pytest.mark.parametrize(
        "before",
        [
            pytest.param("Fünf Äpfel für Zürich. ", id="umlauts"),
            pytest.param("e\N{COMBINING ACUTE ACCENT} ", id="a combining accent"),
            pytest.param("\N{CLAPPER BOARD}\N{MATHEMATICAL BOLD CAPITAL A} ", id="beyond the BMP"),
        ],
    )
    def test_no_character_before_the_mention_moves_it(self, service: Service, world: Dataset, before: str) -> None:
        asked = [
            replace(
                snippet, text=before + snippet.text, start=len(before) + snippet.start, end=len(before) + snippet.end
            )
            for snippet in (RIVER, SHIP)
        ]
        answers = answers_of(self.linker(service.url), world.knowledge, *asked)
        assert [meant(world, answer) for answer in answers] == [top("Avon"), shadow("Avon")]

    def test_of_a_name_that_stands_twice_the_one_asked_for_is_answered(self, service: Service, world: Dataset) -> None:
        text, moved = f"{RIVER.text} {SHIP.text}", len(RIVER.text) + 1
        first = replace(RIVER, text=text)
        second = replace(SHIP, text=text, start=moved + SHIP.start, end=moved + SHIP.end)
        answers = answers_of(self.linker(service.url), world.knowledge, first, second)
        later = top("Avon") if self.one_sense else shadow("Avon")
        assert [meant(world, answer) for answer in answers] == [top("Avon"), later]


class ServiceContract(AnswerContract):
    """All the tests; a subclass named Test... runs them against its wrapper."""

    # The address that is asked where none is given; empty where the user must give one.
    public: ClassVar[str] = ""
    # What comes back instead of an answer; a service that does not speak JSON has its own.
    rubbish: ClassVar[Mapping[str, bytes]] = JSON_RUBBISH
    # Statuses that refuse one snippet, and what is said of each where the body is `no`.
    refusals: ClassVar[Mapping[int, str]] = {400: "400 Bad Request: 'no'", 404: "404 Not Found: 'no'"}

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "body" in metafunc.fixturenames:
            metafunc.parametrize("body", list(self.rubbish.values()), ids=list(self.rubbish))
        if "refusal" in metafunc.fixturenames:
            metafunc.parametrize("refusal", list(self.refusals))

    def asked_at(self, url: str) -> str:
        """The address that messages name: another than the one given where the wrapper completes it."""
        return url

    def one_by_one(self, url: str, **options: str) -> WebLinker:
        """The wrapper with one request at a time, so that their order is known."""
        return self.linker(url, concurrency="1", **options)

    def first_then_right(self, service: Service, reply: Reply) -> None:
        """Lets the service give its first answer wrongly and all others as ever."""
        right = self.stand_in()
        service.behaviour = lambda number, asked: reply if number == 1 else right(number, asked)

    def test_without_an_address_the_public_service_is_asked_if_there_is_one(self, world: Dataset) -> None:
        linker = make_linker(self.wrapper, dict(self.options))
        assert option_values(linker)["url"] == self.public
        if not self.public:
            with pytest.raises(LinkerError, match=rf"^`{linker.name}` needs the URL of its service: add -o url="):
                answers_of(linker, world.knowledge)

    def test_a_dead_service_stops_the_run_at_once_and_is_named(self, world: Dataset, tmp_path: Path) -> None:
        linker = self.linker(DEAD)
        with pytest.raises(LinkerError) as raised:
            make_linking_job(linker, world, out=tmp_path / "run").run()
        # Nothing of what was asked stands between the address and the advice.
        assert re.fullmatch(
            rf"{re.escape(self.asked_at(DEAD))}: no connection \([^?&={{]*\):"
            rf" is the service of `{linker.name}` running\? -o url=\.\.\. names another address",
            str(raised.value),
        )
        assert not (tmp_path / "run" / "predictions.jsonl").exists()

    def test_rubbish_is_the_failure_of_its_snippet_alone_and_is_shown(
        self, service: Service, world: Dataset, body: bytes
    ) -> None:
        self.first_then_right(service, (200, {}, body))
        failure, other = answers_of(self.one_by_one(service.url), world.knowledge, RIVER, SHIP)
        assert isinstance(failure, Failure)
        assert re.match(r"the answer cannot be read \(\w+: .", failure.error)
        # On one line, and no more than its beginning.
        assert failure.error.endswith(f"): {' '.join(body.decode('utf-8', 'replace')[:SHOWN].split())!r}")
        assert meant(world, other) == shadow("Avon")

    def test_half_an_answer_is_a_failure(self, service: Service, world: Dataset) -> None:
        right = self.stand_in()

        def cut_short(number: int, asked: Asked) -> Reply:
            status, headers, body = right(number, asked)
            return status, headers, body[: len(body) // 2]

        service.behaviour = cut_short
        (failure,) = answers_of(self.linker(service.url), world.knowledge, RIVER)
        assert isinstance(failure, Failure)
        assert failure.error.startswith("the answer cannot be read (")

    def test_a_refusal_is_the_failure_of_its_snippet_and_not_tried_again(
        self, service: Service, world: Dataset, refusal: int
    ) -> None:
        self.first_then_right(service, (refusal, {}, b"no"))
        failure, other = answers_of(self.one_by_one(service.url), world.knowledge, RIVER, SHIP)
        assert failure == Failure(RIVER.id, f"{self.asked_at(service.url)}: {self.refusals[refusal]}")
        assert meant(world, other) == shadow("Avon")
        assert len(service.requests) == 2

    def test_an_error_of_the_service_is_tried_again_and_then_a_failure(self, service: Service, world: Dataset) -> None:
        service.behaviour = lambda *_: (500, {}, b"")
        (failure,) = answers_of(self.linker(service.url, retries="1"), world.knowledge, RIVER)
        assert failure == Failure(RIVER.id, f"{self.asked_at(service.url)}: 500 Internal Server Error, 2 times")
        assert len(service.requests) == 2

    def test_a_busy_service_is_asked_again_after_the_pause_that_it_wants(
        self, service: Service, world: Dataset
    ) -> None:
        self.first_then_right(service, (429, {"Retry-After": "1"}, b""))
        (answer,) = answers_of(self.linker(service.url), world.knowledge, RIVER)
        assert meant(world, answer) == top("Avon")
        first, second = (asked.moment for asked in service.requests)
        assert second - first >= 0.95

    def test_a_slow_answer_is_given_up(self, service: Service, world: Dataset) -> None:
        release = threading.Event()

        def never(*_: object) -> Reply:
            release.wait(10)
            return 503, {}, b""

        service.behaviour = never
        (failure,) = answers_of(self.linker(service.url, timeout="0.2", retries="0"), world.knowledge, RIVER)
        release.set()
        assert failure == Failure(RIVER.id, f"{self.asked_at(service.url)}: no answer in 0.2 s, once")

    @pytest.mark.parametrize(("status", "words"), [(401, "Unauthorized"), (403, "Forbidden")])
    def test_a_service_that_lets_nobody_in_stops_the_run_and_names_the_token(
        self, service: Service, world: Dataset, status: int, words: str
    ) -> None:
        service.behaviour = lambda *_: (status, {}, b"")
        linker = self.one_by_one(service.url)
        with pytest.raises(LinkerError) as raised:
            answers_of(linker, world.knowledge, RIVER, SHIP)
        problem = f"{self.asked_at(service.url)}: {status} {words}"
        assert str(raised.value) == f"{problem}: is the token in {linker.token_variable} right?"
        assert len(service.requests) == 1


class OptionalTokenContract(ServiceContract):
    """The same, and what a wrapper must do that sends a token where there is one."""

    token: ClassVar[str]

    @property
    def variable(self) -> str:
        """The environment variable of the token."""
        return self.linker(DEAD).token_variable

    @pytest.fixture(autouse=True)
    def with_the_token(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for variable in [name for name in os.environ if re.fullmatch("SHADOWPROBE_.*_TOKEN", name)]:
            monkeypatch.delenv(variable)
        monkeypatch.setenv(self.variable, self.token)

    def test_a_wrong_token_stops_the_run_and_is_not_shown(
        self, service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(self.variable, "wrong-one")
        with pytest.raises(LinkerError, match=rf"401 Unauthorized: is the token in {self.variable} right") as raised:
            answers_of(self.linker(service.url), world.knowledge, RIVER)
        assert "wrong-one" not in str(raised.value)

    @pytest.mark.parametrize("status", [200, 400, 403, 500])
    @pytest.mark.parametrize("before", [0, SHOWN - 20])
    def test_the_token_reaches_no_message_no_file_no_note_and_no_log(
        self,
        service: Service,
        world: Dataset,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        status: int,
        before: int,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        right = self.stand_in()

        def repeats_the_token(number: int, asked: Asked) -> Reply:
            return right(number, asked) if number <= 2 else (status, {}, b"x" * before + self.token.encode())

        service.behaviour = repeats_the_token
        linker = self.one_by_one(service.url, retries="1")
        told = ""
        try:
            make_linking_job(linker, world, out=tmp_path / "run", batch_size=4).run()
        except LinkerError as error:
            told = str(error)
        written = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir()).decode()
        assert "tAvon" in written
        assert "HTTP Request: " in caplog.text
        for text in (told, written, caplog.text, str(linker.notes), str(option_values(linker))):
            # Not even the beginning of it, as a message cut short would show.
            assert self.token[:4] not in text

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_a_redirect_takes_the_token_to_no_other_host(self, service: Service, world: Dataset, status: int) -> None:
        with serving(lambda *_: (200, {}, b"")) as other:
            elsewhere = other.url.replace("127.0.0.1", "localhost")
            service.behaviour = lambda *_: (status, {"Location": elsewhere}, b"")
            with suppress(LinkerError):
                answers_of(self.linker(service.url), world.knowledge, RIVER)
        assert len(service.requests) == 1
        assert self.token not in str(other.requests)


class TokenContract(OptionalTokenContract):
    """The same, and what a wrapper must do that asks nothing without a token."""

    def test_without_its_token_nothing_is_asked(
        self, service: Service, world: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(self.variable)
        # The token of another service is none.
        monkeypatch.setenv("SHADOWPROBE_OTHER_TOKEN", self.token)
        linker = self.linker(service.url)
        # Before the first snippet: a run fails at once, and not in its middle.
        with pytest.raises(LinkerError) as raised:
            linker.open(world.knowledge)
        source = f" ({linker.token_source})" if linker.token_source else ""
        assert str(raised.value) == (
            f"`{linker.name}` needs a token{source}: set the environment variable {self.variable}"
        )
        assert service.requests == []


def meant(world: Dataset, answer: Prediction | Failure) -> str:
    """The entity that an answer means."""
    assert isinstance(answer, Prediction), answer.error
    return Resolver(world.entities.values()).resolve(answer.answer, answer.page_id, answer.qid).entity


def sentence_at(text: str, start: int) -> str:
    """The sentence around a place, for stand-ins that read the context of a mention and not the whole text."""
    return text[:start].rpartition(".")[2] + text[start:].partition(".")[0]
