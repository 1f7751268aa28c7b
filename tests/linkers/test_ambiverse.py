"""Ambiverse's wrapper against a stand-in that reads its JSON and answers as the service is known to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from asking import answers_of, prediction_for
from contract import JSON_RUBBISH, ServiceContract, sentence_at
from service import Asked, Behaviour, Reply, Service, serving
from wire import units
from world import NAMES, snippet

from shadowprobe import Dataset, Entity, Knowledge, Linker, Prediction, Resolver
from shadowprobe.plugins import make_linker
from shadowprobe.systems.options import option_values

WIKIDATA = "http://www.wikidata.org/entity/"


class Known(NamedTuple):
    """An entity of the stand-in; one without a Wikidata id is possible."""

    title: str
    qid: str | None

    @property
    def as_json(self) -> dict[str, Any]:
        # Java joins the prefix and a missing id to ".../null"; the readable name has no qualifier.
        return {
            "id": f"{WIKIDATA}{self.qid or 'null'}",
            "name": self.title.partition(" (")[0],
            "url": f"http://en.wikipedia.org/wiki/{quote(self.title)}",
            "salience": 0.5,
        }


KB: dict[str, list[Known]] = {
    "Ourika": [Known("Ourika", "Q300")],
    "Zürich": [Known("Zürich", "Q72")],
    "Unnumbered": [Known("Unnumbered (hamlet)", None)],
    "Obscure": [Known("Obscure (brook)", None)],
} | {
    name: [Known(f"{name} (river)", f"Q10{number}"), Known(f"{name} (ship)", f"Q20{number}")]
    for number, name in enumerate(NAMES)
}


def cut(text: str, offset: int, length: int) -> str:
    """The substring that Java takes; a bad offset gives halves of characters."""
    raw = text.encode("utf-16-le")[2 * offset : 2 * (offset + length)]
    return raw.decode("utf-16-le", "replace")


def ambiverse(_: int, asked: Asked) -> Reply:
    """Answers the annotated mentions and every capitalised word of its knowledge base or not, which it recognises."""
    assert asked.method == "POST"
    assert asked.headers["content-type"] == "application/json"
    text = asked.json["text"]
    given = [(mention["charOffset"], mention["charLength"]) for mention in asked.json["annotatedMentions"]]
    words = [(units(text[: word.start()]), units(word[0])) for word in re.finditer(r"\b[A-Z]\w+", text)]
    matches: list[dict[str, Any]] = []
    entities: dict[str, dict[str, Any]] = {}
    for offset, length in sorted({*given, *words}):
        name = cut(text, offset, length)
        match: dict[str, Any] = {"charOffset": offset, "charLength": length, "text": name, "type": "", "entity": {}}
        if known := KB.get(name):
            chosen = known[-1] if "masts" in sentence_at(text, len(cut(text, 0, offset))) else known[0]
            if chosen.qid:
                match["entity"] = {"id": f"{WIKIDATA}{chosen.qid}", "confidence": 0.62}
            # A set whose members are equal if their ids are: of those without an id, one is left.
            entities.setdefault(chosen.as_json["id"], chosen.as_json)
        matches.append(match)
    answer = {"docId": asked.json["docId"], "language": asked.json["language"], "matches": matches}
    return 200, {"Content-Type": "application/json"}, json.dumps(answer | {"entities": [*entities.values()]}).encode()


class TestContract(ServiceContract):
    wrapper = "shadowprobe.linkers.ambiverse:AmbiverseLinker"
    unknown = "nil"
    rubbish = JSON_RUBBISH | {
        "a list": b"[]",
        "a match without an offset": b'{"matches": [{"text": "Avon"}]}',
        "no entity": b'{"matches": [{"charOffset": 17, "charLength": 4, "entity": "Q1"}]}',
    }

    def stand_in(self) -> Behaviour:
        return ambiverse


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(ambiverse) as running:
        yield running


def linker(service: Service, **options: str) -> Linker:
    return make_linker(TestContract.wrapper, {"url": service.url, **options})


def prediction(service: Service, world: Dataset, text: str, name: str) -> Prediction:
    return prediction_for(linker(service), world.knowledge, snippet("x", "all", text, name))


def answering(service: Service, **answer: Any) -> None:
    """Lets the service say one thing, whatever it is asked."""
    service.behaviour = lambda *_: (200, {}, json.dumps(answer).encode())


def test_the_article_is_the_answer_with_its_confidence_and_the_qid_beside_it(service: Service, world: Dataset) -> None:
    answer = prediction(service, world, "The crew of Avon cut down both masts.", "Avon")
    assert (answer.status, answer.score, answer.qid) == ("linked", 0.62, "Q200")
    assert answer.answer == "http://en.wikipedia.org/wiki/Avon%20%28ship%29"
    assert Resolver(world.entities.values()).resolve(answer.answer, None, answer.qid).entity == "Avon (ship)"


def test_the_request_is_one_document_with_one_annotated_mention(service: Service, world: Dataset) -> None:
    prediction(service, world, "Why not Avon?", "Avon")
    (request,) = service.requests
    assert (request.method, request.path, request.query) == ("POST", "/api", {})
    assert request.json == {
        "docId": "x",
        "language": "en",
        "text": "Why not Avon?",
        "coherentDocument": True,
        "confidenceThreshold": 0.0,
        "annotatedMentions": [{"charOffset": 8, "charLength": 4}],
    }


def test_language_and_coherence_are_options(service: Service, world: Dataset) -> None:
    answers_of(linker(service, language="de", coherent="false"), world.knowledge, snippet("x", "all", "Avon", "Avon"))
    sent = service.requests[0].json
    assert (sent["language"], sent["coherentDocument"]) == ("de", False)
    assert list(option_values(linker(service)).items())[:2] == [("language", "en"), ("coherent", True)]


def test_an_empty_entity_is_an_explicit_nil(service: Service, world: Dataset) -> None:
    answer = prediction(service, world, "Why not Nobody?", "Nobody")
    assert (answer.status, answer.answer, answer.qid, answer.score) == ("nil", None, None, None)


def test_mentions_that_it_recognised_itself_are_not_taken(service: Service, world: Dataset) -> None:
    text = "Como and Dale saw that Avon and Berg had masts."
    answer = prediction(service, world, text, "Avon")
    assert answer.qid == "Q200"
    body = ambiverse(1, service.requests[0])[2]
    assert len(json.loads(body)["matches"]) == 4


@pytest.mark.parametrize(("offset", "length"), [(0, 4), (8, 5), (7, 4), (8, 3)])
def test_a_mention_without_a_match_on_its_very_span_is_skipped(
    service: Service, world: Dataset, offset: int, length: int
) -> None:
    entity = KB["Avon"][0].as_json
    match = {"charOffset": offset, "charLength": length, "text": "Avon", "entity": {"id": entity["id"]}}
    answering(service, matches=[match], entities=[entity])
    answer = prediction(service, world, "Why not Avon?", "Avon")
    assert (answer.status, answer.answer) == ("skipped", None)


def test_no_matches_at_all_skip_the_mention(service: Service, world: Dataset) -> None:
    answering(service, docId="x", language="en", matches=[])
    assert prediction(service, world, "Why not Avon?", "Avon").status == "skipped"


@pytest.mark.parametrize(
    ("before", "offset"),
    [("Fünf Äpfel: ", 12), ("Film \N{CLAPPER BOARD}\N{CLAPPER BOARD} ", 10), ("\N{CLAPPER BOARD}", 2)],
)
def test_offsets_are_sent_and_read_as_java_counts(service: Service, world: Dataset, before: str, offset: int) -> None:
    answer = prediction(service, world, f"{before}Avon came up.", "Avon")
    assert service.requests[0].json["annotatedMentions"] == [{"charOffset": offset, "charLength": 4}]
    assert answer.qid == "Q100"


def test_a_mention_with_characters_beyond_the_bmp_has_the_length_that_java_gives_it(
    service: Service, world: Dataset
) -> None:
    name = "\N{CLAPPER BOARD}"
    assert prediction(service, world, f"Why not {name}?", name).status == "nil"
    assert service.requests[0].json["annotatedMentions"] == [{"charOffset": 8, "charLength": 2}]


def test_an_umlaut_in_the_address_is_decoded(service: Service, world: Dataset) -> None:
    answer = prediction(service, world, "Why not Zürich?", "Zürich")
    assert Resolver([Entity("Zürich")]).resolve(answer.answer).entity == "Zürich"


def test_an_entity_without_a_wikidata_id_is_found_under_the_id_that_ends_in_null(
    service: Service, world: Dataset
) -> None:
    answer = prediction(service, world, "why not Unnumbered?", "Unnumbered")
    assert (answer.status, answer.qid, answer.score) == ("linked", None, None)
    assert answer.answer == "http://en.wikipedia.org/wiki/Unnumbered%20%28hamlet%29"


def test_an_entity_without_a_wikidata_id_that_may_be_of_another_mention_is_nil_and_noted(
    service: Service, world: Dataset
) -> None:
    ambiguous = linker(service)
    text = "Obscure lies near Unnumbered."
    answers = answers_of(ambiguous, world.knowledge, snippet("x", "all", text, "Unnumbered"))
    assert [answer.status for answer in answers if isinstance(answer, Prediction)] == ["nil"]
    assert len(ambiguous.notes) == 1
    assert "may be entities without a Wikidata id" in ambiguous.notes[0]


def test_a_match_whose_own_id_ends_in_null_names_no_qid(service: Service, world: Dataset) -> None:
    entity = KB["Unnumbered"][0].as_json
    match = {"charOffset": 8, "charLength": 4, "text": "Avon", "entity": {"id": f"{WIKIDATA}null", "confidence": 0.4}}
    answering(service, matches=[match], entities=[entity])
    answer = prediction(service, world, "Why not Avon?", "Avon")
    assert (answer.answer, answer.qid, answer.score) == (entity["url"], None, 0.4)
    answering(service, matches=[match], entities=[])
    assert prediction(service, world, "Why not Avon?", "Avon").status == "nil"


def test_without_an_address_the_name_is_the_answer(service: Service, world: Dataset) -> None:
    match = {"charOffset": 8, "charLength": 4, "text": "Avon", "entity": {"id": f"{WIKIDATA}Q7", "confidence": 0.4}}
    answering(service, matches=[match], entities=[{"id": f"{WIKIDATA}Q7", "name": "Avon Products"}])
    answer = prediction(service, world, "Why not Avon?", "Avon")
    assert (answer.answer, answer.qid) == ("Avon Products", "Q7")


@pytest.mark.parametrize(
    ("qid_of_ship", "kept"),
    [pytest.param("Q999", None, id="they differ"), pytest.param("Q200", "Q200", id="they agree"), (None, "Q200")],
)
def test_an_id_that_does_not_fit_the_article_is_not_believed(
    service: Service, qid_of_ship: str | None, kept: str | None
) -> None:
    # The service calls the ship Q200; in this dataset that is the river.
    river, ship = Entity("Avon (river)", qid="Q200" if kept is None else "Q100"), Entity("Avon (ship)", qid=qid_of_ship)
    knowledge = Knowledge({entity.title: entity for entity in (river, ship)})
    (answer,) = answers_of(linker(service), knowledge, snippet("x", "all", "The masts of Avon fell.", "Avon"))
    assert isinstance(answer, Prediction)
    assert answer.qid == kept
    assert Resolver([river, ship]).resolve(answer.answer, None, answer.qid).entity == "Avon (ship)"
