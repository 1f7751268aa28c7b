"""The wrapper of AGDISTIS, against a stand-in that reads the tags as the service does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from asking import answers_of
from contract import JSON_RUBBISH, ServiceContract
from service import Asked, Behaviour, Reply, Service, serving
from wire import units
from world import NAMES, snippet

from shadowprobe import Dataset, Failure, Prediction, Resolver, Snippet
from shadowprobe.plugins import make_linker

TAGGED = re.compile("<entity>(.*?)</entity>", re.DOTALL)
OTHERS = {"Ourika": "Ourika", "Köln": "Köln", "DC": "AC/DC", "\N{CLAPPER BOARD}": "Film"}


def disambiguated(label: str, before: str) -> str:
    """The URI for a label: percent-encoded, and in a namespace of its own where there is no entity."""
    if label in NAMES:
        return f"http://dbpedia.org/resource/{label}_({'ship' if before.endswith('crew of ') else 'river'})"
    if label in OTHERS:
        return f"http://dbpedia.org/resource/{quote(OTHERS[label], safe='')}"
    return f"http://aksw.org/notInWiki/{re.sub('[ _()]', '', label)}"


def agdistis(_: int, asked: Asked) -> Reply:
    """Answers as the service does: for every pair of tags, wherever they come from."""
    if asked.form.get("type", "agdistis") != "agdistis":
        return 200, {}, b"ERROR"
    answer = []
    tagged = asked.form["text"]
    for match in TAGGED.finditer(tagged):
        before = TAGGED.sub(r"\1", tagged[: match.start()])
        # The service takes the mention for a URI and drops all up to its last slash.
        label = match[1].rpartition("/")[2]
        url = disambiguated(label, before)
        answer.append(
            {"namedEntity": label, "start": units(before), "offset": units(match[1]), "disambiguatedURL": url}
        )
    return 200, {}, json.dumps(answer).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(agdistis) as running:
        yield running


class TestContract(ServiceContract):
    wrapper = "shadowprobe.linkers.agdistis:AgdistisLinker"
    public = "http://porque.cs.upb.de:80/mag/en"
    unknown = "nil"
    rubbish = JSON_RUBBISH | {
        "a mention without its URI": b'[{"start": 17, "offset": 4}]',
        "a number as a string": b'[{"start": "17", "offset": 4, "disambiguatedURL": "x"}]',
    }

    def stand_in(self) -> Behaviour:
        return agdistis


def ask(url: str, dataset: Dataset, asked: Snippet) -> Prediction | Failure:
    return answers_of(make_linker(TestContract.wrapper, {"url": url}), dataset.knowledge, asked)[0]


def avon(text: str) -> Snippet:
    return snippet("s", "top", text, "Avon")


RIVER = Prediction("s", answer="http://dbpedia.org/resource/Avon_(river)")


def test_an_answer_is_a_dbpedia_uri_without_a_score(service: Service, world: Dataset) -> None:
    answer = ask(service.url, world, avon("Anglers say that Avon runs clear."))
    assert answer == RIVER
    assert isinstance(answer, Prediction)
    assert answer.score is None
    resolved = Resolver(world.entities.values()).resolve(answer.answer)
    assert (resolved.entity, resolved.rule) == ("Avon (river)", "title")


def test_what_goes_out_is_a_form_with_tags_around_the_mention(service: Service, world: Dataset) -> None:
    ask(service.url, world, avon("R&B on Avon + 50 % <b>more</b>"))
    (asked,) = service.requests
    assert (asked.method, asked.path, asked.query) == ("POST", "/api", {})
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert asked.form == {"text": "R&B on <entity>Avon</entity> + 50 % <b>more</b>", "type": "agdistis"}


def test_a_uri_outside_the_knowledge_base_is_an_explicit_nil(service: Service, world: Dataset) -> None:
    unheard = snippet("s", "top", "Nobody knows Zzyzx (Road).", "Zzyzx (Road)")
    assert ask(service.url, world, unheard) == Prediction("s", status="nil")


def test_a_null_uri_is_an_explicit_nil(service: Service, world: Dataset) -> None:
    body = [{"namedEntity": "Avon", "start": 8, "offset": 4, "disambiguatedURL": None}]
    service.behaviour = lambda *_: (200, {}, json.dumps(body).encode())
    assert ask(service.url, world, avon("Why not Avon?")) == Prediction("s", status="nil")


@pytest.mark.parametrize(
    "mentions",
    [
        pytest.param([], id="no mention"),
        pytest.param([(0, 3)], id="another mention"),
        pytest.param([(8, 11), (12, 4)], id="longer, and offset read as the end"),
    ],
)
def test_without_an_answer_on_its_span_a_mention_is_skipped(
    service: Service, world: Dataset, mentions: list[tuple[int, int]]
) -> None:
    uri = "http://dbpedia.org/resource/Avon_Rubber"
    body = [
        {"namedEntity": "?", "start": start, "offset": length, "disambiguatedURL": uri} for start, length in mentions
    ]
    service.behaviour = lambda *_: (200, {}, json.dumps(body).encode())
    assert ask(service.url, world, avon("Why not Avon Rubber?")) == Prediction("s", status="skipped")


@pytest.mark.parametrize(
    ("mention", "title"), [("Köln", "K%C3%B6ln"), ("AC/DC", "AC%2FDC"), ("\N{CLAPPER BOARD}", "Film")]
)
def test_a_mention_is_known_by_its_span_and_not_by_the_name_that_comes_back(
    service: Service, world: Dataset, mention: str, title: str
) -> None:
    asked = snippet("s", "top", f"They saw {mention} twice: {mention}", mention)
    assert ask(service.url, world, asked) == Prediction("s", answer=f"http://dbpedia.org/resource/{title}")


@pytest.mark.parametrize("tag", ["<entity>", "</entity>"])
def test_a_text_with_the_services_own_tags_is_refused_unsent(service: Service, world: Dataset, tag: str) -> None:
    answer = ask(service.url, world, avon(f"Write {tag} before Avon."))
    assert isinstance(answer, Failure)
    assert answer.error == ("the text contains <entity> or </entity>, which the service would read as a mention")
    assert service.requests == []


# Of a long answer 40 characters are shown.
@pytest.mark.parametrize("body", [b"ERROR", b"ERROR: wrong type", b"ERROR" + b"!" * 36])
def test_error_in_the_body_is_a_failure_although_the_status_is_200(
    service: Service, world: Dataset, body: bytes
) -> None:
    service.behaviour = lambda *_: (200, {}, body)
    answer = ask(service.url, world, avon("Why not Avon?"))
    assert isinstance(answer, Failure)
    assert (
        answer.error == f"{service.url} is not an AGDISTIS that accepts marked text: it answers {body.decode()[:40]!r}"
    )
