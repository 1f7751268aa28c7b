"""AIDA's wrapper against a stand-in that reads its form and answers as the service is known to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from asking import answers_of, error_for, prediction_for
from contract import JSON_RUBBISH, ServiceContract, sentence_at
from service import Asked, Behaviour, Reply, Service, serving
from wire import units
from world import NAMES, snippet

from shadowprobe import Dataset, Entity, Failure, Linker, Prediction, Resolver, Snippet, UsageError
from shadowprobe.plugins import make_linker
from shadowprobe.systems.options import option_values

TECHNIQUES = {"PRIOR", "LOCAL", "LOCAL-IDF", "LM", "GRAPH", "GRAPH-IDF", "GRAPH-KORE", "GRAPH-JACCARD"}
# What the stand-in knows: the ids of a name's entities with their scores, as they go over the wire.
KB: dict[str, list[tuple[str, str]]] = {
    "Zürich": [("YAGO:Z\\u00fcrich", "0.9")],
    "Ourika": [("YAGO:Ourika", "12,345.67891"), ("YAGO:Ourika_Valley", "999.5")],
    "Clapper": [("YAGO:\\ud83c\\udfac", "0.5")],
    "Oddity": [("YAGO:Space_Oddity", "\ufffd"), ("YAGO:Oddity_(album)", "0.25")],
    "Newer": [("YAGO3:<Newer>", "0.5")],
    # Under the threshold: it has candidates and no best one.
    "Faint": [("YAGO:Faint", "-0.5")],
} | {name: [(f"YAGO:{name}_(river)", "0.75"), (f"YAGO:{name}_(ship)", "0.25")] for name in NAMES}


def taken_apart(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks, and the marked spans: the first `[[`, then the first `]]` after it, and so on."""
    clean = ""
    spans: list[tuple[int, int]] = []
    while "[[" in text:
        before, _, rest = text.partition("[[")
        name, closed, after = rest.partition("]]")
        clean += before
        if not closed:
            return clean + "[[" + rest, spans
        spans.append((len(clean), len(clean) + len(name)))
        clean, text = clean + name, after
    return clean + text, spans


def mention_of(clean: str, start: int, end: int) -> dict[str, Any]:
    name = clean[start:end]
    found = KB.get(name, [])
    if "masts" in sentence_at(clean, start):
        found = [(identifier, score) for (identifier, _), (_, score) in zip(found[::-1], found, strict=True)]
    entities = [{"kbIdentifier": identifier, "disambiguationScore": score} for identifier, score in found]
    mention: dict[str, Any] = {"name": name, "offset": units(clean[:start]), "length": units(name)}
    if found and not found[0][1].startswith("-"):
        mention["bestEntity"] = entities[0]
    # Only the score of the best entity is grouped, and nothing promises that it comes first.
    return mention | {"allEntities": [e | {"disambiguationScore": _plain(e)} for e in entities[::-1]]}


def _plain(entity: dict[str, str]) -> str:
    return entity["disambiguationScore"].replace(",", "")


def answer_of(**entity: str) -> bytes:
    """An answer with this as the best entity, whatever it is, on the place of the contract's first mention."""
    return json.dumps({"mentions": [{"offset": 17, "length": 4, "bestEntity": entity}]}).encode()


def aida(_: int, asked: Asked) -> Reply:
    """Finds the marked mentions, drops those that are not on the borders of a token, answers the others."""
    assert asked.method == "POST"
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    if asked.form.get("tech", "LOCAL") not in TECHNIQUES:
        return 200, {}, b'{"ERROR": "Please specify a valid technique."}'
    assert asked.form["tag_mode"] == "manual", "a recogniser would look for further mentions"
    clean, spans = taken_apart(asked.form["text"])
    borders = {place for token in re.finditer(r"\w+|\S", clean) for place in token.span()}
    mentions = [mention_of(clean, *span) for span in spans if borders.issuperset(span)]
    metadata = {
        entity["kbIdentifier"]: {
            "readableRepr": mention["name"],
            "url": f"http://en.wikipedia.org/wiki/{re.sub('.*:|[<>]', '', entity['kbIdentifier'])}",
            "importance": 0.01,
        }
        for mention in mentions
        for entity in mention["allEntities"]
    }
    answer = {"originalText": clean, "overallTime": "120", "mentions": mentions, "entityMetadata": metadata}
    return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()


class TestContract(ServiceContract):
    wrapper = "shadowprobe.linkers.aida:AidaLinker"
    public = "https://gate.d5.mpi-inf.mpg.de/aida/service/disambiguate"
    unknown = "nil"
    rubbish = JSON_RUBBISH | {
        "a list": b"[]",
        "its own error": b'{"ERROR": "Please specify a valid technique."}',
        "a mention without an offset": b'{"mentions": [{"name": "Avon"}]}',
        "an entity without a score": answer_of(kbIdentifier="YAGO:Avon"),
        "a score that is no number": answer_of(kbIdentifier="YAGO:Avon", disambiguationScore="high"),
    }

    def stand_in(self) -> Behaviour:
        return aida


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(aida) as running:
        yield running


def linker(service: Service, **options: str) -> Linker:
    return make_linker(TestContract.wrapper, {"url": service.url, **options})


def prediction(service: Service, world: Dataset, text: str, name: str) -> Prediction:
    return prediction_for(linker(service), world.knowledge, snippet("x", "all", text, name))


def resolved(title: str, answer: Prediction) -> str:
    return Resolver([Entity(title)]).resolve(answer.answer).entity


def test_the_best_entity_is_the_answer_with_its_score_and_its_rivals(service: Service, world: Dataset) -> None:
    answer = prediction(service, world, "The crew of Avon cut down both masts.", "Avon")
    assert (answer.status, answer.answer, answer.score) == ("linked", "YAGO:Avon_(ship)", 0.75)
    assert [(rival.answer, rival.score) for rival in answer.candidates] == [
        ("YAGO:Avon_(ship)", 0.75),
        ("YAGO:Avon_(river)", 0.25),
    ]
    assert resolved("Avon (ship)", answer) == "Avon (ship)"


def test_the_request_is_a_form_with_the_mention_in_brackets(service: Service, world: Dataset) -> None:
    prediction(service, world, "Why not Avon & Berg?", "Avon")
    (request,) = service.requests
    assert (request.method, request.path, request.query) == ("POST", "/api", {})
    assert request.form == {"text": "Why not [[Avon]] & Berg?", "tag_mode": "manual", "tech": "GRAPH"}
    assert b"%5B%5BAvon%5D%5D" in request.body


def test_the_technique_is_an_option(service: Service, world: Dataset) -> None:
    answers_of(linker(service, tech="PRIOR"), world.knowledge, snippet("x", "all", "Why not Avon?", "Avon"))
    assert service.requests[0].form["tech"] == "PRIOR"
    assert option_values(linker(service))["tech"] == "GRAPH"


def test_an_unknown_technique_is_refused_before_any_request(service: Service) -> None:
    with pytest.raises(UsageError, match="'KORE' is not one of PRIOR, LOCAL"):
        linker(service, tech="KORE")


def test_a_mention_without_a_best_entity_is_an_explicit_nil(service: Service, world: Dataset) -> None:
    for name in ("Faint", "Nobody"):
        answer = prediction(service, world, f"Why not {name}?", name)
        assert (answer.status, answer.answer) == ("nil", None)


def test_a_mention_that_is_not_on_token_borders_is_missing_and_thus_skipped(service: Service, world: Dataset) -> None:
    answer = prediction(service, world, "Why not Avonmouth?", "Avon")
    assert (answer.status, answer.answer) == ("skipped", None)


def test_an_answer_on_another_span_is_not_taken(service: Service, world: Dataset) -> None:
    body = {"mentions": [mention_of("Avon is not Avon.", 0, 4)]}
    service.behaviour = lambda *_: (200, {}, json.dumps(body).encode())
    (answer,) = answers_of(linker(service), world.knowledge, Snippet("x", "all", "Avon is not Avon.", 12, 16))
    assert isinstance(answer, Prediction)
    assert answer.status == "skipped"


def test_a_mention_with_characters_beyond_the_bmp_has_the_length_that_java_gives_it(
    service: Service, world: Dataset
) -> None:
    name = "\N{CLAPPER BOARD}"
    assert prediction(service, world, f"Why not {name} now?", name).status == "nil"


@pytest.mark.parametrize(
    ("name", "title"), [("Zürich", "Zürich"), ("Clapper", "\N{CLAPPER BOARD}"), ("Ourika", "Ourika")]
)
def test_the_escapes_of_a_yago_id_are_undone(service: Service, world: Dataset, name: str, title: str) -> None:
    assert resolved(title, prediction(service, world, f"Why not {name}?", name)) == title


def test_an_id_of_another_knowledge_base_is_named_by_its_article(service: Service, world: Dataset) -> None:
    answer = prediction(service, world, "Why not Newer?", "Newer")
    assert answer.answer == "http://en.wikipedia.org/wiki/Newer"
    assert answer.candidates[0].answer == answer.answer


def test_a_score_is_a_string_that_may_have_grouping_commas(service: Service, world: Dataset) -> None:
    answer = prediction(service, world, "The novel Ourika sold out.", "Ourika")
    assert answer.score == 12345.67891
    assert [rival.score for rival in answer.candidates] == [12345.67891, 999.5]


def test_a_score_that_is_not_a_number_becomes_none_and_its_candidate_comes_last(
    service: Service, world: Dataset
) -> None:
    answer = prediction(service, world, "Why not Oddity?", "Oddity")
    assert (answer.answer, answer.score) == ("YAGO:Space_Oddity", None)
    assert [rival.score for rival in answer.candidates] == [0.25, None]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("See [[File:x.jpg]] of Avon.", "Avon", id="marks before"),
        pytest.param("Avon has a [[link]].", "Avon", id="marks after"),
        pytest.param("They met in [Avon].", "Avon", id="a bracket that touches ours"),
        pytest.param("Why not Avon[1]?", "Avon[1]", id="a mention that ends in a bracket"),
        pytest.param("Why not a]]b?", "a]]b", id="a mention with an end mark"),
    ],
)
def test_brackets_that_would_be_read_as_marks_are_refused(
    service: Service, world: Dataset, text: str, name: str
) -> None:
    error = error_for(linker(service), world.knowledge, snippet("x", "all", text, name))
    assert "would confuse them with the brackets of this text" in error
    assert service.requests == []


@pytest.mark.parametrize("text", ["x[1] = Avon", "Avon [sic]", "a[b[0]] and Avon", "Avon, then a[b[0]]", "Avon]"])
def test_other_brackets_go_through(service: Service, world: Dataset, text: str) -> None:
    assert prediction(service, world, text, "Avon").answer == "YAGO:Avon_(river)"


def test_a_refused_text_is_the_failure_of_its_snippet_alone(service: Service, world: Dataset) -> None:
    bad, good = snippet("bad", "all", "[[Avon]]", "Avon"), snippet("good", "all", "Why not Avon?", "Avon")
    answers = answers_of(linker(service), world.knowledge, bad, good)
    assert [type(answer) for answer in answers] == [Failure, Prediction]
