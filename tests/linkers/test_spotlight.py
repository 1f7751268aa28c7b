"""The wrapper of DBpedia Spotlight, against a stand-in that reads the XML as the service does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from asking import answers_of
from service import Asked, Reply, Service, serving
from world import NAMES, snippet

from shadowprobe import Dataset, Failure, Linker, LinkerError, Prediction, Resolver, Snippet
from shadowprobe.check import check
from shadowprobe.plugins import make_linker
from shadowprobe.session import Job

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


def wrapper(url: str) -> Linker:
    return make_linker("shadowprobe.linkers.spotlight:SpotlightLinker", {"url": url})


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


def test_a_low_score_is_kept_since_the_confidence_asked_for_is_0(service: Service, world: Dataset) -> None:
    assert ask(service.url, world, avon("The crew of Avon slept.")) == SHIP


def test_a_mention_that_the_service_leaves_out_is_skipped_and_not_nil(service: Service, world: Dataset) -> None:
    unheard = snippet("s", "top", "Nobody knows Zzyzx.", "Zzyzx")
    assert ask(service.url, world, unheard) == Prediction("s", status="skipped")


def test_of_a_name_that_stands_twice_each_can_be_asked_for(service: Service, world: Dataset) -> None:
    text = "The crew of Avon rowed up Avon at dawn."
    assert ask(service.url, world, avon(text)) == SHIP
    second = Snippet("s", "top", text, text.rindex("Avon"), text.rindex("Avon") + 4)
    assert ask(service.url, world, second) == RIVER


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("Über die Brücke: ", id="umlauts"),
        pytest.param("\N{CLAPPER BOARD}\N{MATHEMATICAL BOLD CAPITAL A} say ", id="beyond the BMP"),
        pytest.param("R&B & more: ", id="ampersands"),
        pytest.param('"Mind the <b>gap</b>", said ', id="quotes and angle brackets"),
        pytest.param("It's O’Hara's: ", id="apostrophes"),
        pytest.param("One\r\ntwo\n\n\tthree ", id="line ends and tabs"),
        pytest.param("A bell \x07 and \uffff: ", id="what XML cannot hold"),
        pytest.param("Not &amp; but 50 % + %26: ", id="what looks encoded"),
    ],
)
def test_no_character_before_the_mention_moves_it(service: Service, world: Dataset, before: str) -> None:
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


def test_a_name_that_cannot_be_asked_for_is_noted(service: Service, world: Dataset) -> None:
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


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>Bad gateway</html>", id="HTML"),
        pytest.param(b'{"@text": "Why', id="a truncated body"),
        pytest.param(b'{"message": "out of memory"}', id="another object"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b'{"@text": "", "Resources": [{"@URI": "x"}]}', id="a resource without an offset"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_rubbish_is_a_failure_and_not_a_skipped_mention(service: Service, world: Dataset, body: bytes) -> None:
    service.behaviour = lambda *_: (200, {}, body)
    answer = ask(service.url, world, avon("Why not Avon?"))
    assert isinstance(answer, Failure)
    assert answer.error.startswith("the answer cannot be read (")


def test_a_dead_service_stops_the_run(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"is the service of `spotlight` running\? -o url="):
        Job(wrapper("http://127.0.0.1:9/rest/disambiguate"), world, out=tmp_path / "run").run()


def test_the_battery_finds_nothing_broken(service: Service, world: Dataset) -> None:
    assert [finding for finding in check(wrapper(service.url), world) if not finding.holds] == []


def test_a_whole_run(service: Service, world: Dataset, tmp_path: Path) -> None:
    finished = Job(wrapper(service.url), world, out=tmp_path / "run").run()
    assert finished.outcome is not None
    assert (finished.outcome.answered, finished.outcome.failed) == (world.count(), 0)
    # The stand-in reads "the crew of" before the name: four Top, four Shadow and the tail are right.
    assert [finished.results["subsets"][subset]["correct"] for subset in ("top", "shadow", "tail")] == [4, 4, 1]
