"""The wrapper of DBpedia Spotlight, against a stand-in that reads the XML as the service does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from asking import answers_of
from contract import JSON_RUBBISH, ServiceContract
from service import Asked, Behaviour, Reply, Service, serving
from world import NAMES, snippet

from shadowprobe import Dataset, Failure, Linker, Prediction, Resolver, Snippet
from shadowprobe.plugins import make_linker

# By lower case, as the service looks up a name that it does not have as written.
KNOWN = {name.lower(): name for name in (*NAMES, "Ourika", "O'Dale", "R&B")}


def attribute(element: ElementTree.Element, name: str) -> str:
    """An attribute in its escaped form, since that is what the service's XML library gives."""
    return escape(element.get(name, ""), {'"': "&quot;"})


def resources(text: str, form: ElementTree.Element) -> list[dict[str, str]]:
    """What the service finds for a surface form at its offset in UTF-16 units."""
    name, offset = attribute(form, "name"), int(form.get("offset", ""))
    units = text.encode("utf-16-le")
    # The real service believes any offset and reads a wrong context; here a wrong one is noticed.
    if not units[2 * offset :].startswith(name.encode("utf-16-le")) or name.lower() not in KNOWN:
        return []
    known = KNOWN[name.lower()]
    ship = units[: 2 * offset].decode("utf-16-le").endswith("crew of ")
    title = known if known not in NAMES else f"{known}_(ship)" if ship else f"{known}_(river)"
    return [
        {
            "@URI": f"http://dbpedia.org/resource/{title}",
            "@support": "5120",
            "@types": "",
            "@surfaceForm": known,
            "@offset": str(offset),
            "@similarityScore": "0.4" if ship else "0.8302",
            "@percentageOfSecondRank": "0.19",
        }
    ]


def spotlight(_: int, asked: Asked) -> Reply:
    """Answers as `/disambiguate` does."""
    if asked.headers.get("accept") != "application/json":
        return 406, {}, b""
    # The service does this to every text that it gets.
    document = asked.form["text"].replace("’", "'")
    try:
        root = ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        return 400, {}, str(error).encode()
    text, confidence = attribute(root, "text"), float(asked.form.get("confidence", "0.5"))
    found = [item for form in root.iter("surfaceForm") for item in resources(text, form)]
    answer: dict[str, Any] = {
        "@text": document,
        "@confidence": str(confidence),
        "@support": "0",
        "@types": "",
        "@sparql": "",
        "@policy": "whitelist",
    }
    if kept := [item for item in found if float(item["@similarityScore"]) >= confidence]:
        answer["Resources"] = kept
    return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()


@pytest.fixture
def service() -> Iterator[Service]:
    with serving(spotlight) as running:
        yield running


class TestContract(ServiceContract):
    wrapper = "shadowprobe.linkers.spotlight:SpotlightLinker"
    public = "https://api.dbpedia-spotlight.org/en/disambiguate"
    rubbish = JSON_RUBBISH | {
        "a list": b"[]",
        "a resource without an offset": b'{"@text": "", "Resources": [{"@URI": "x"}]}',
    }

    def stand_in(self) -> Behaviour:
        return spotlight


def wrapper(url: str) -> Linker:
    return make_linker(TestContract.wrapper, {"url": url})


def ask(url: str, dataset: Dataset, asked: Snippet) -> Prediction | Failure:
    return answers_of(wrapper(url), dataset.knowledge, asked)[0]


def avon(text: str) -> Snippet:
    return snippet("s", "top", text, "Avon")


RIVER = Prediction("s", answer="http://dbpedia.org/resource/Avon_(river)", score=0.8302)
SHIP = Prediction("s", answer="http://dbpedia.org/resource/Avon_(ship)", score=0.4)


def test_an_answer_is_a_dbpedia_uri_with_a_score(service: Service, world: Dataset) -> None:
    answer = ask(service.url, world, avon("Anglers say that Avon runs clear."))
    assert answer == RIVER
    assert isinstance(answer, Prediction)
    resolved = Resolver(world.entities.values()).resolve(answer.answer)
    assert (resolved.entity, resolved.rule) == ("Avon (river)", "title")


def test_what_goes_out_is_a_form_with_an_xml_document_in_it(service: Service, world: Dataset) -> None:
    ask(service.url, world, avon("Why not Avon?"))
    (asked,) = service.requests
    assert (asked.method, asked.path, asked.query) == ("POST", "/api", {})
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert asked.headers["accept"] == "application/json"
    xml = '<annotation text="Why not Avon?"><surfaceForm name="Avon" offset="8"/></annotation>'
    assert asked.form == {"text": xml, "confidence": "0"}


def test_a_low_score_is_kept_because_the_requested_confidence_is_0(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, avon("The crew of Avon slept.")) == SHIP


def test_a_mention_that_the_service_leaves_out_is_skipped_and_not_nil(service: Service, world: Dataset) -> None:
    unheard = snippet("s", "top", "Nobody knows Zzyzx.", "Zzyzx")
    assert ask(service.url, world, unheard) == Prediction("s", status="skipped")


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("R&B & more: ", id="ampersands"),
        pytest.param('"Mind the <b>gap</b>", said ', id="quotes and angle brackets"),
        pytest.param("It's O’Hara's: ", id="apostrophes"),
        pytest.param("One\r\ntwo\n\n\tthree ", id="line ends and tabs"),
        pytest.param("A bell \x07 and \uffff: ", id="what XML cannot hold"),
        pytest.param("Not &amp; but 50 % + %26: ", id="what looks encoded"),
    ],
)
def test_no_character_that_xml_escapes_or_cannot_hold_moves_the_mention(
    service: Service, world: Dataset, before: str
) -> None:
    assert ask(service.url, world, avon(f"{before}Avon runs clear.")) == RIVER


def test_a_character_that_would_be_escaped_goes_out_as_one_of_the_same_length(service: Service, world: Dataset) -> None:
    ask(service.url, world, avon('<i>A & "B"</i>\r\nAvon'))
    xml = '<annotation text="(i)A + \'B\'(/i)  Avon"><surfaceForm name="Avon" offset="16"/></annotation>'
    assert service.requests[0].form["text"] == xml


def test_an_emoji_in_the_mention_counts_as_two_units(service: Service, world: Dataset) -> None:
    asked = snippet("s", "top", "Play \N{CLAPPER BOARD} now", "\N{CLAPPER BOARD}")
    service.behaviour = lambda *_: (
        200,
        {},
        b'{"@text": "", "Resources": [{"@URI": "http://dbpedia.org/resource/Film", "@surfaceForm": "\xf0\x9f\x8e\xac",'
        b' "@offset": "5", "@similarityScore": "1.0"}]}',
    )
    assert ask(service.url, world, asked) == Prediction("s", answer="http://dbpedia.org/resource/Film", score=1.0)


def test_a_name_that_comes_back_in_other_letters_is_still_the_mention(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, snippet("s", "top", "WHY NOT AVON?", "AVON")) == RIVER
    curly = ask(service.url, world, snippet("s", "top", "Ask O’Dale.", "O’Dale"))
    assert curly == Prediction("s", answer="http://dbpedia.org/resource/O'Dale", score=0.8302)


def test_a_note_reports_a_name_that_cannot_be_sent(service: Service, world: Dataset) -> None:
    linker = wrapper(service.url)
    linker.open(world.knowledge)
    try:
        answer, _ = linker.link([snippet("s", "top", "More R&B", "R&B"), snippet("t", "top", "R&B again", "R&B")])
    finally:
        linker.close()
    assert answer == Prediction("s", status="skipped")
    assert [asked.form["text"].count('name="R+B"') for asked in service.requests] == [1, 1]
    (note,) = linker.notes
    assert note.startswith("Spotlight cannot be asked for a name with & < >")


def test_of_several_entities_at_one_offset_the_best_on_the_span_is_taken(service: Service, world: Dataset) -> None:
    def with_duplicates(number: int, asked: Asked) -> Reply:
        status, headers, body = spotlight(number, asked)
        answer = json.loads(body)
        (right,) = answer["Resources"]
        worse = right | {"@URI": "http://dbpedia.org/resource/Avon_(ship)", "@similarityScore": "0.1"}
        longer = right | {
            "@URI": "http://dbpedia.org/resource/Avon_Rubber",
            "@surfaceForm": "Avon Rubber",
            "@similarityScore": "0.99",
        }
        elsewhere = longer | {"@surfaceForm": "Rubb", "@offset": "13"}
        answer["Resources"] = [longer, worse, right, elsewhere]
        return status, headers, json.dumps(answer).encode()

    service.behaviour = with_duplicates
    assert ask(service.url, world, avon("Why not Avon Rubber?")) == RIVER
