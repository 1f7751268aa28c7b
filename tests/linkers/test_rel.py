"""REL's wrapper against both generations of its server, which answer here as the real ones do, quirks included."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from asking import answers_of, marked
from service import Asked, Reply, Service, serving
from world import NAMES, shadow, top

from shadowprobe import Dataset, Failure, Linker, LinkerError, Prediction, Snippet, UsageError
from shadowprobe.check import check
from shadowprobe.plugins import make_linker, options_of
from shadowprobe.session import Job

STATUS = {"schemaVersion": 1, "label": "status", "message": "up", "color": "green"}
TAGGERS = ("ner-fast", "ner-fast-with-lowercase")
# A sentence as segtok finds it: no white space around it.
SENTENCE = re.compile(r"\S.*?(?:[.?!](?=\s|$)|(?=\s*$))", re.DOTALL)


class Rel:
    """What both generations do with a text: candidates by name, the best by its sentence, NIL left out."""

    def __init__(self) -> None:
        # Title and the words that speak for it, most common first; 0.75 with such a word, 0.5 without.
        self.titles: dict[str, list[tuple[str, str]]] = {
            name: [(top(name).replace(" ", "_"), "anglers mill"), (shadow(name).replace(" ", "_"), "crew masts")]
            for name in NAMES
        }
        self.titles |= {"Ourika": [("Ourika", "novel")], "AT&T": [("AT&T", "phone")], "Nobody": [("NIL", "")]}
        self.titles["Nineteen Eighty-Four"] = [("1984", "year")]
        self.has_lr_model = True
        self.breaks_on = "\0"

    def link(self, text: str, spans: list[list[int]]) -> list[list[Any]]:
        if self.breaks_on in text:
            raise RuntimeError("out of memory")
        if not spans:
            # End to end: mentions of its own choice.
            spans = [[found.start(), len(name)] for name in self.titles for found in re.finditer(name, text)]
        return [row for start, length in spans for row in self._rows(text, start, length)]

    def _rows(self, text: str, start: int, length: int) -> list[list[Any]]:
        surface = text[start : start + length]
        sentence = next((found[0] for found in SENTENCE.finditer(text) if found.start() <= start < found.end()), None)
        if sentence is None or surface not in self.titles:
            return []
        words = set(re.findall(r"\w+", sentence.lower()))
        scored = [(0.75 if words & set(spoken.split()) else 0.5, title) for title, spoken in self.titles[surface]]
        confidence, title = max(scored, key=lambda pair: pair[0])
        kept = confidence if self.has_lr_model else 0.0
        return [] if title == "NIL" else [[start, length, surface, title, kept, 0.0, "NULL"]]


def handler_of_2020(rel: Rel) -> type[BaseHTTPRequestHandler]:
    """The older server: HTTP/1.0 without a length, any path, its 200 sent before the work, `&amp;` replaced."""

    class Handler(BaseHTTPRequestHandler):
        server: Service

        def do_GET(self) -> None:
            self._head(200)
            self.wfile.write(json.dumps(STATUS).encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with self.server.lock:
                self.server.requests.append(Asked(time.monotonic(), "POST", self.path, {}, headers, body))
            self._head(200)
            try:
                asked = json.loads(body.decode("utf-8"))
                answer = rel.link(asked["text"].replace("&amp;", "&"), asked.get("spans", []))
            except Exception:
                self._head(400)
                answer = []
            self.wfile.write(json.dumps(answer).encode())

        def _head(self, status: int) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing."""

    return Handler


class FastApi:
    """The newer server, mounted at /api as the public one is: checks what comes, and rewrites its own answer."""

    def __init__(self, rel: Rel) -> None:
        self.rel = rel
        self.loaded = set(TAGGERS)
        self.pydantic = 2

    def __call__(self, _: int, asked: Asked) -> Reply:
        path = asked.path.removeprefix("/api") or "/"
        if path == "/ne/":
            return 307, {"Location": asked.path.rstrip("/")}, b""
        if path not in {"/", "/ne"}:
            return _json(404, {"detail": "Not Found"})
        if asked.method == "GET":
            return _json(200, STATUS)
        if problem := self._problem(asked.json):
            return _json(422, {"detail": [{"loc": ["body", problem], "msg": "not valid"}]})
        if asked.json.get("tagger", "ner-fast") not in self.loaded:
            return 500, {"Content-Type": "text/plain; charset=utf-8"}, b"Internal Server Error"
        rows = self.rel.link(asked.json["text"], asked.json.get("spans") or [])
        return _json(
            200, rows if self.pydantic == 2 else [[_first_of_int_and_str(item) for item in row] for row in rows]
        )

    @staticmethod
    def _problem(body: dict[str, Any]) -> str | None:
        if not isinstance(body.get("text"), str):
            return "text"
        for span in body.get("spans") or []:
            if len(span) != 2 or not all(isinstance(number, int) for number in span):
                return "spans"
        return "tagger" if body.get("tagger", "ner-fast") not in TAGGERS else None


def _first_of_int_and_str(item: Any) -> int | str:
    """A value where int, str and float may stand in this order, as pydantic 1 reads it: the first that will do."""
    try:
        return int(item)
    except ValueError:
        return str(item)


def _json(status: int, body: Any) -> Reply:
    return status, {"Content-Type": "application/json"}, json.dumps(body).encode()


@pytest.fixture
def rel() -> Rel:
    return Rel()


@pytest.fixture
def old(rel: Rel) -> Iterator[Service]:
    with serving(lambda *_: (500, {}, b"")) as running:
        running.RequestHandlerClass = handler_of_2020(rel)
        yield running


@pytest.fixture
def api(rel: Rel) -> FastApi:
    return FastApi(rel)


@pytest.fixture
def new(api: FastApi) -> Iterator[Service]:
    with serving(api) as running:
        yield running


@pytest.fixture(params=["old", "new"])
def server(request: pytest.FixtureRequest) -> Service:
    """Each of the two generations."""
    running: Service = request.getfixturevalue(request.param)
    return running


def linker(url: str, **options: str) -> Linker:
    return make_linker("shadowprobe.linkers.rel:RelLinker", {"url": url, **options})


def ask(world: Dataset, url: str, *snippets: Snippet, **options: str) -> list[Prediction | Failure]:
    """The answers to a few snippets, in their order."""
    return answers_of(linker(url, **options), world.knowledge, *snippets)


def notes_of(world: Dataset, url: str, out: Path) -> list[str]:
    notes: list[str] = Job(linker(url), world, out=out).run().results["notes"]
    return notes


RIVER = Prediction("marked", answer="Avon_(river)", score=0.75)
SHIP = Prediction("marked", answer="Avon_(ship)", score=0.75)


def test_an_answer_is_a_title_with_underscores_and_a_confidence(server: Service, world: Dataset) -> None:
    assert ask(world, server.url, marked("Anglers say that [Avon] runs clear.")) == [RIVER]
    assert ask(world, server.url, marked("The crew of [Avon] cut down both masts.")) == [SHIP]


def test_a_whole_run(server: Service, world: Dataset, tmp_path: Path) -> None:
    session = Job(linker(server.url), world, out=tmp_path / "run").run()
    assert session.outcome is not None
    assert (session.outcome.answered, session.outcome.failed) == (world.count(), 0)
    assert [session.results["subsets"][subset]["recall"] for subset in ("top", "shadow", "tail")] == [1.0, 1.0, 1.0]
    assert session.results["notes"] == []
    assert {len(asked.json["spans"]) for asked in server.requests} == {1}
    # Its loop and its connections are gone with it.
    assert "rel-requests" not in {thread.name for thread in threading.enumerate()}


def test_the_battery_finds_nothing_broken(server: Service, world: Dataset) -> None:
    findings = list(check(linker(server.url), world))
    assert [finding for finding in findings if not finding.holds] == []
    assert "Avon_(river), score 0.75, resolved by title" in findings[1].detail


def test_text_and_one_span_go_out_as_json(server: Service, world: Dataset) -> None:
    ask(world, server.url, marked("The crew of [Avon] cut down both masts."))
    (asked,) = server.requests
    assert (asked.method, asked.path) == ("POST", "/api")
    assert asked.headers["content-type"] == "application/json"
    assert asked.json == {"text": "The crew of Avon cut down both masts.", "spans": [[12, 4]]}


def test_a_tagger_goes_out_where_one_is_chosen_and_the_older_server_does_not_mind(
    server: Service, world: Dataset
) -> None:
    found = ask(world, server.url, marked("Anglers say that [Avon] runs clear."), tagger="ner-fast-with-lowercase")
    assert found == [RIVER]
    assert server.requests[0].json == {
        "text": "Anglers say that Avon runs clear.",
        "spans": [[17, 4]],
        "tagger": "ner-fast-with-lowercase",
    }


def test_the_public_service_is_asked_where_no_other_is_named() -> None:
    public = make_linker("shadowprobe.linkers.rel:RelLinker")
    assert getattr(public, "url", None) == "https://rel.cs.ru.nl/api"
    assert list(options_of(type(public)))[:2] == ["tagger", "url"]


def test_a_server_of_ones_own_is_named_by_host_and_port(server: Service, world: Dataset) -> None:
    own = server.url.removesuffix("/api")
    assert ask(world, own, marked("Anglers say that [Avon] runs clear.")) == [RIVER]
    assert server.requests[0].path == "/"


@pytest.mark.parametrize("path", ["/ne", "/ne/"])
def test_the_newer_server_has_a_second_path(new: Service, world: Dataset, path: str) -> None:
    assert ask(world, new.url + path, marked("Anglers say that [Avon] runs clear.")) == [RIVER]
    assert new.requests[-1].path == "/api/ne"
    assert new.requests[-1].json == {"text": "Anglers say that Avon runs clear.", "spans": [[17, 4]]}


def test_a_newer_server_without_the_usual_tagger_is_told_the_one_that_it_has(
    new: Service, api: FastApi, world: Dataset
) -> None:
    api.loaded = {"ner-fast-with-lowercase"}
    (failure,) = ask(world, new.url, marked("Anglers say that [Avon] runs clear."), retries="1")
    assert failure == Failure("marked", f"{new.url}: 500 Internal Server Error, 2 times")
    found = ask(world, new.url, marked("Anglers say that [Avon] runs clear."), tagger="ner-fast-with-lowercase")
    assert found == [RIVER]


def test_a_tagger_that_rel_does_not_have_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(UsageError, match="option `tagger`: 'spacy' is not one of ner-fast, ner-fast-with-lowercase"):
        linker("http://127.0.0.1:9/api", tagger="spacy")


def test_what_rel_leaves_out_is_skipped_since_it_does_not_say_why(server: Service, world: Dataset) -> None:
    unknown = marked("Nobody has heard of [Qwyzzlethorp].", "unknown")
    decided = marked("They met [Nobody] there.", "decided to be NIL")
    # The mention begins with the space between two sentences, and so in neither.
    between = marked("It rained.[ Avon] rose.", "in no sentence")
    found = ask(world, server.url, unknown, decided, between)
    assert [(answer.id, getattr(answer, "status", None)) for answer in found] == [
        ("unknown", "skipped"),
        ("decided to be NIL", "skipped"),
        ("in no sentence", "skipped"),
    ]


def test_of_a_name_that_stands_twice_the_one_asked_for_is_answered(server: Service, world: Dataset) -> None:
    first = marked("Anglers like [Avon] a lot. The crew of Avon lost both masts.", "first")
    second = marked("Anglers like Avon a lot. The crew of [Avon] lost both masts.", "second")
    found = ask(world, server.url, first, second)
    assert [getattr(answer, "answer", None) for answer in found] == ["Avon_(river)", "Avon_(ship)"]


def test_answers_on_other_spans_are_not_the_mentions(new: Service, world: Dataset) -> None:
    row = ["Avon", "Avon_(river)", 0.75, 0.0, "NULL"]
    new.behaviour = lambda *_: _json(200, [[0, 4, *row], [13, 5, *row], [12, 4, *row], [13, 3, *row]])
    (found,) = ask(world, new.url, marked("Avon is not [Avon]."))
    assert found == RIVER
    (found,) = ask(world, new.url, marked("Avon was not [Avon]."))
    assert found == Prediction("marked", status="skipped")


@pytest.mark.parametrize(
    "before", ["Grüße: anglers say that ", "🎬𝐀 anglers say that ", "👩‍👩‍👧 🇩🇪 Zürich's anglers: "]
)
def test_offsets_are_code_points(server: Service, world: Dataset, before: str) -> None:
    assert ask(world, server.url, marked(f"{before}[Avon] runs clear.")) == [RIVER]
    assert server.requests[0].json["spans"] == [[len(before), 4]]


@pytest.mark.parametrize(
    ("text", "sent", "span"),
    [
        pytest.param("Smith &amp; anglers: [Avon].", "Smith & anglers: Avon.", [17, 4], id="before the mention"),
        pytest.param("Anglers: [Avon] &amp; more.", "Anglers: Avon & more.", [9, 4], id="after it"),
        pytest.param("A &amp;amp; B anglers: [Avon].", "A & B anglers: Avon.", [15, 4], id="escaped twice"),
        pytest.param("A &lt;b&gt; & anglers: [Avon].", "A &lt;b&gt; & anglers: Avon.", [23, 4], id="others stay"),
    ],
)
def test_an_escaped_ampersand_does_not_shift_the_mention(
    server: Service, world: Dataset, text: str, sent: str, span: list[int]
) -> None:
    assert ask(world, server.url, marked(text)) == [RIVER]
    assert server.requests[0].json == {"text": sent, "spans": [span]}


def test_an_escaped_ampersand_in_the_mention_is_sent_as_rel_reads_it(server: Service, world: Dataset) -> None:
    found = ask(world, server.url, marked("The phone company [AT&amp;T] grew."))
    assert found == [Prediction("marked", answer="AT&T", score=0.75)]
    assert server.requests[0].json == {"text": "The phone company AT&T grew.", "spans": [[18, 4]]}


@pytest.mark.parametrize("text", ["AT&[amp];T", "A &am[p; Avon]", "[AT&amp];T", "A &amp;[amp; Avon]"])
def test_a_mention_that_ends_inside_an_escaped_ampersand_is_refused(server: Service, world: Dataset, text: str) -> None:
    (found,) = ask(world, server.url, marked(text))
    assert isinstance(found, Failure)
    assert found.error.startswith("the mention begins or ends inside an `&amp;`")
    assert server.requests == []


def test_a_second_status_line_in_the_body_is_a_failure_although_the_first_said_200(
    old: Service, rel: Rel, world: Dataset, tmp_path: Path
) -> None:
    rel.breaks_on = "Berg runs"
    outcome = Job(linker(old.url), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert (outcome.answered, outcome.failed) == (world.count() - 1, 1)
    (line,) = (tmp_path / "run" / "failures.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "id": "tBerg",
        "error": "REL failed on this text: HTTP/1.0 400 Bad Request after a status of 200",
    }


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        pytest.param(b"", "truncated", id="nothing"),
        pytest.param(b"<html>Bad gateway</html>", "malformed", id="HTML"),
        pytest.param(b"[[17, 4, ", "truncated", id="half an answer"),
        pytest.param(b"\xff\xfe\x00", "malformed", id="another charset"),
        pytest.param(json.dumps(STATUS).encode(), "Expected `array`, got `object`", id="the status of a GET"),
        pytest.param(b"[[]]", "length 7", id="too few items"),
        pytest.param(b'[[17, 4, "Avon", null, 0.5, 0.0, "NULL"]]', "`null`", id="no title"),
        pytest.param(b'[[17, 4, "Avon", "Avon", "high", 0.0, "NULL"]]', "Expected `float`", id="no number"),
        pytest.param(b'[[17, 4, "Avon", "Avon", NaN, 0.0, "NULL"]]', "malformed", id="NaN"),
    ],
)
def test_rubbish_is_the_failure_of_its_snippet(new: Service, world: Dataset, body: bytes, problem: str) -> None:
    new.behaviour = lambda *_: (200, {}, body)
    (found,) = ask(world, new.url, marked("Anglers say that [Avon] runs clear."))
    assert isinstance(found, Failure)
    assert found.error.startswith("the answer cannot be read (")
    assert problem in found.error


def test_a_redirect_that_makes_a_get_of_the_post_is_a_failure_and_no_answer(
    new: Service, api: FastApi, world: Dataset
) -> None:
    def moved(number: int, asked: Asked) -> Reply:
        return (301, {"Location": "/api/"}, b"") if asked.path == "/api" else api(number, asked)

    new.behaviour = moved
    (found,) = ask(world, new.url, marked("Anglers say that [Avon] runs clear."))
    assert isinstance(found, Failure)
    assert '"schemaVersion": 1' in found.error


def test_a_wrong_path_is_said_to_be_one(new: Service, world: Dataset) -> None:
    (found,) = ask(world, f"{new.url}/nope", marked("Anglers say that [Avon] runs clear."))
    assert found == Failure("marked", f'{new.url}/nope: 404 Not Found: \'{{"detail": "Not Found"}}\'')


def test_a_dead_server_stops_the_run_and_says_what_to_do(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"no connection .*is the service of `rel` running\? -o url="):
        Job(linker("http://127.0.0.1:9/api"), world, out=tmp_path / "run").run()


NO_CONFIDENCE = "REL gave no confidence: every score of this run is exactly 0 or 1 and says nothing"


def test_a_server_without_a_model_of_confidence_is_noted_once_and_its_zeros_are_passed_on(
    server: Service, rel: Rel, world: Dataset, tmp_path: Path
) -> None:
    rel.has_lr_model = False
    assert ask(world, server.url, marked("The crew of [Avon].")) == [
        Prediction("marked", answer="Avon_(ship)", score=0.0)
    ]
    assert notes_of(world, server.url, tmp_path / "run") == [NO_CONFIDENCE]


def test_confidences_without_their_fractions_are_noted(
    new: Service, api: FastApi, world: Dataset, tmp_path: Path
) -> None:
    api.pydantic = 1
    assert ask(world, new.url, marked("The crew of [Avon].")) == [Prediction("marked", answer="Avon_(ship)", score=0.0)]
    assert notes_of(world, new.url, tmp_path / "run") == [NO_CONFIDENCE]


def with_score(score: Callable[[int], float]) -> Callable[[int, Asked], Reply]:
    """A server that gives its n-th answer a score of n's choice."""

    def behaviour(number: int, asked: Asked) -> Reply:
        return _json(200, [[*asked.json["spans"][0], "Avon", "Avon_(river)", score(number), 0.0, "NULL"]])

    return behaviour


def test_a_one_among_zeros_is_no_confidence_either(new: Service, world: Dataset, tmp_path: Path) -> None:
    new.behaviour = with_score(lambda number: float(number == 3))
    assert notes_of(world, new.url, tmp_path / "run") == [NO_CONFIDENCE]


def test_one_fraction_among_zeros_is_a_confidence(new: Service, world: Dataset, tmp_path: Path) -> None:
    new.behaviour = with_score(lambda number: 0.25 if number == 3 else 0.0)
    assert notes_of(world, new.url, tmp_path / "run") == []


def test_where_nothing_was_answered_nothing_is_said_of_scores(new: Service, world: Dataset, tmp_path: Path) -> None:
    new.behaviour = lambda *_: _json(200, [])
    assert notes_of(world, new.url, tmp_path / "run") == []


@pytest.mark.parametrize("pydantic", [1, 2])
def test_a_title_of_digits_stays_a_title(new: Service, api: FastApi, world: Dataset, pydantic: int) -> None:
    api.pydantic = pydantic
    (found,) = ask(world, new.url, marked("That year saw [Nineteen Eighty-Four] in print."))
    assert isinstance(found, Prediction)
    assert found.answer == "1984"


def test_the_stand_in_goes_end_to_end_without_spans_as_rel_does(rel: Rel) -> None:
    text = "Anglers say that Avon runs clear above Berg."
    assert [row[:3] for row in rel.link(text, [])] == [[17, 4, "Avon"], [39, 4, "Berg"]]
    assert [row[:3] for row in rel.link(text, [[39, 4]])] == [[39, 4, "Berg"]]
