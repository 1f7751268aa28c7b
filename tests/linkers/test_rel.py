"""REL's wrapper against both generations of its server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asking import answers_of, marked
from contract import JSON_RUBBISH, AnswerContract, ServiceContract
from rel_servers import STATUS, FastApi, Rel, handler_of_2020
from service import Asked, Behaviour, Reply, Service, serving
from wire import as_json

from shadowprobe import Dataset, Failure, Linker, Prediction, Snippet, UsageError
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job


class TestContract(ServiceContract):
    """For the newer server, which can be made to misbehave."""

    wrapper = "shadowprobe.linkers.rel:RelLinker"
    public = "https://rel.cs.ru.nl/api"
    rubbish = JSON_RUBBISH | {
        "the status of a GET": json.dumps(STATUS).encode(),
        "too few items": b"[[]]",
        "no title": b'[[17, 4, "Avon", null, 0.5, 0.0, "NULL"]]',
        "no number": b'[[17, 4, "Avon", "Avon", "high", 0.0, "NULL"]]',
        "NaN": b'[[17, 4, "Avon", "Avon", NaN, 0.0, "NULL"]]',
    }

    def stand_in(self) -> Behaviour:
        return FastApi(Rel())


class TestServerOf2020(AnswerContract):
    wrapper = TestContract.wrapper

    @pytest.fixture
    def service(self, old: Service) -> Service:
        return old


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
    return make_linker(TestContract.wrapper, {"url": url, **options})


def ask(world: Dataset, url: str, *snippets: Snippet, **options: str) -> list[Prediction | Failure]:
    """The answers to a few snippets, in their order."""
    return answers_of(linker(url, **options), world.knowledge, *snippets)


def notes_of(world: Dataset, url: str, out: Path) -> list[str]:
    notes: list[str] = make_linking_job(linker(url), world, out=out).run().results["notes"]
    return notes


RIVER = Prediction("marked", answer="Avon_(river)", score=0.75)
SHIP = Prediction("marked", answer="Avon_(ship)", score=0.75)


def test_an_answer_is_a_title_with_underscores_and_a_confidence(server: Service, world: Dataset) -> None:
    assert ask(world, server.url, marked("Anglers say that [Avon] runs clear.")) == [RIVER]
    assert ask(world, server.url, marked("The crew of [Avon] cut down both masts.")) == [SHIP]


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


def test_a_server_of_ones_own_is_named_by_host_and_port(server: Service, world: Dataset) -> None:
    own = server.url.removesuffix("/api")
    assert ask(world, own, marked("Anglers say that [Avon] runs clear.")) == [RIVER]
    assert server.requests[0].path == "/"


@pytest.mark.parametrize("path", ["/ne", "/ne/"])
def test_the_newer_server_has_a_second_path(new: Service, world: Dataset, path: str) -> None:
    assert ask(world, new.url + path, marked("Anglers say that [Avon] runs clear.")) == [RIVER]
    assert new.requests[-1].path == "/api/ne"
    assert new.requests[-1].json == {"text": "Anglers say that Avon runs clear.", "spans": [[17, 4]]}


def test_a_newer_server_without_the_usual_tagger_gets_the_name_of_its_own(
    new: Service, api: FastApi, world: Dataset
) -> None:
    api.loaded = {"ner-fast-with-lowercase"}
    (failure,) = ask(world, new.url, marked("Anglers say that [Avon] runs clear."), retries="1")
    assert isinstance(failure, Failure)
    assert failure.error.startswith(f"{new.url}: 500 Internal Server Error, 2 times")
    found = ask(world, new.url, marked("Anglers say that [Avon] runs clear."), tagger="ner-fast-with-lowercase")
    assert found == [RIVER]


def test_an_unknown_tagger_is_refused_before_any_request() -> None:
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


def test_answers_on_other_spans_are_not_the_mentions(new: Service, world: Dataset) -> None:
    row = ["Avon", "Avon_(river)", 0.75, 0.0, "NULL"]
    new.behaviour = lambda *_: as_json(200, [[0, 4, *row], [13, 5, *row], [12, 4, *row], [13, 3, *row]])
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


def test_a_second_status_line_in_the_body_is_a_failure_although_the_first_is_200(
    old: Service, rel: Rel, world: Dataset, tmp_path: Path
) -> None:
    rel.breaks_on = "Berg runs"
    outcome = make_linking_job(linker(old.url), world, out=tmp_path / "run").run().outcome
    assert outcome is not None
    assert (outcome.answered, outcome.failed) == (world.count() - 1, 1)
    (line,) = (tmp_path / "run" / "failures.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "id": "tBerg",
        "error": "REL failed on this text: HTTP/1.0 400 Bad Request after a status of 200",
    }


def test_a_redirect_that_makes_a_get_of_the_post_is_a_failure_and_no_answer(
    new: Service, api: FastApi, world: Dataset
) -> None:
    def moved(number: int, asked: Asked) -> Reply:
        return (301, {"Location": "/api/"}, b"") if asked.path == "/api" else api(number, asked)

    new.behaviour = moved
    (found,) = ask(world, new.url, marked("Anglers say that [Avon] runs clear."))
    assert isinstance(found, Failure)
    assert '"schemaVersion": 1' in found.error


def test_a_wrong_path_is_reported(new: Service, world: Dataset) -> None:
    (found,) = ask(world, f"{new.url}/nope", marked("Anglers say that [Avon] runs clear."))
    assert found == Failure("marked", f'{new.url}/nope: 404 Not Found: \'{{"detail": "Not Found"}}\'')


NO_CONFIDENCE = "REL gave no confidence: every score of this run is exactly 0 or 1 and says nothing"


def test_a_server_without_a_model_of_confidence_is_noted_once_and_its_zeros_are_passed_on(
    server: Service, rel: Rel, world: Dataset, tmp_path: Path
) -> None:
    rel.has_lr_model = False
    assert ask(world, server.url, marked("The crew of [Avon].")) == [
        Prediction("marked", answer="Avon_(ship)", score=0.0)
    ]
    assert notes_of(world, server.url, tmp_path / "run") == [NO_CONFIDENCE]


def test_confidences_need_no_note(server: Service, world: Dataset, tmp_path: Path) -> None:
    assert notes_of(world, server.url, tmp_path / "run") == []


def test_confidences_without_their_fractions_are_noted(
    new: Service, api: FastApi, world: Dataset, tmp_path: Path
) -> None:
    api.pydantic = 1
    assert ask(world, new.url, marked("The crew of [Avon].")) == [Prediction("marked", answer="Avon_(ship)", score=0.0)]
    assert notes_of(world, new.url, tmp_path / "run") == [NO_CONFIDENCE]


def with_score(score: Callable[[int], float]) -> Behaviour:
    """A server that gives its n-th answer a score of n's choice."""

    def behaviour(number: int, asked: Asked) -> Reply:
        return as_json(200, [[*asked.json["spans"][0], "Avon", "Avon_(river)", score(number), 0.0, "NULL"]])

    return behaviour


def test_a_one_among_zeros_is_no_confidence_either(new: Service, world: Dataset, tmp_path: Path) -> None:
    new.behaviour = with_score(lambda number: float(number == 3))
    assert notes_of(world, new.url, tmp_path / "run") == [NO_CONFIDENCE]


def test_one_fraction_among_zeros_is_a_confidence(new: Service, world: Dataset, tmp_path: Path) -> None:
    new.behaviour = with_score(lambda number: 0.25 if number == 3 else 0.0)
    assert notes_of(world, new.url, tmp_path / "run") == []


def test_without_answers_there_is_no_note_on_scores(new: Service, world: Dataset, tmp_path: Path) -> None:
    new.behaviour = lambda *_: as_json(200, [])
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
